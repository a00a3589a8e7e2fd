/** Lanes side by side, each held from one height to another. */

export class LaneAllocator {
  /** until where each lane is held */
  endOfLane: number[] = [];

  get laneCount() {
    return this.endOfLane.length;
  }

  /** The lane wished for where it ends here, else the first free one. Calls come from top to bottom. */
  allocateLane(from: number, to: number, preferred?: number) {
    let lane =
      preferred !== undefined && this.endOfLane[preferred] <= from
        ? preferred
        : this.endOfLane.findIndex((y) => y < from);
    if (lane < 0) lane = this.endOfLane.length;
    this.endOfLane[lane] = to;
    return lane;
  }
}
