/** Lanes side by side, each held from one height to another. */

export class Lanes {
  constructor() {
    /** @type {number[]} until where each lane is held */
    this.until = [];
  }

  get count() {
    return this.until.length;
  }

  /** The lane wished for where it ends here, else the first free one. Calls come from top to bottom.
   * @param {number} from @param {number} to @param {number} [preferred] */
  allocate(from, to, preferred) {
    let lane =
      preferred !== undefined && this.until[preferred] <= from ? preferred : this.until.findIndex((y) => y < from);
    if (lane < 0) lane = this.until.length;
    this.until[lane] = to;
    return lane;
  }
}
