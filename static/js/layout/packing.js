/** Places along one axis, held for a lifetime and let again afterwards; lifetimes are steps, both ends included. */

/** Places of one height, numbered from the lowest. */
export class Slots {
  constructor() {
    /** @type {number[]} by place, the last step for which it is held */
    this.until = [];
    this.lowest = 0;
    this.soonest = Infinity;
  }

  /** The lowest place that is free from `birth` on. Calls come in order of birth. @param {number} birth @param {number} death */
  allocate(birth, death) {
    if (this.soonest < birth) {
      this.lowest = 0;
      this.soonest = Infinity;
      for (const step of this.until) if (step >= birth && step < this.soonest) this.soonest = step;
    }
    while (this.until[this.lowest] >= birth) this.lowest += 1;
    this.until[this.lowest] = death;
    this.soonest = Math.min(this.soonest, death);
    this.lowest += 1;
    return this.lowest - 1;
  }
}

export class Packer {
  constructor() {
    /** @type {{y: number, height: number, death: number}[]} */
    this.held = [];
    this.height = 0;
  }

  /**
   * The lowest place of this height that is free from `birth` on. Calls come in order of birth.
   * @param {number} birth @param {number} death @param {number} height @returns {number}
   */
  allocate(birth, death, height) {
    this.held = this.held.filter((s) => s.death >= birth);
    let y = 0;
    let at = 0;
    for (; at < this.held.length; at++) {
      if (this.held[at].y - y >= height) break;
      y = Math.max(y, this.held[at].y + this.held[at].height);
    }
    this.held.splice(at, 0, { y, height, death });
    this.height = Math.max(this.height, y + height);
    return y;
  }

  /**
   * The free place nearest to the one wished for, never above `top`.
   * @param {number} birth @param {number} death @param {number} height @param {number} preferred @param {number} [top]
   */
  allocateNear(birth, death, height, preferred, top = 0) {
    this.held = this.held.filter((s) => s.death >= birth);
    const free = (/** @type {number} */ y) => this.held.every((s) => y + height <= s.y || y >= s.y + s.height);
    const tries = [preferred, ...this.held.flatMap((s) => [s.y + s.height, s.y - height])].filter((y) => y >= top);
    const ok = tries.filter(free).sort((a, b) => Math.abs(a - preferred) - Math.abs(b - preferred) || b - a);
    const y = ok.length ? ok[0] : Math.max(top, ...this.held.map((s) => s.y + s.height));
    this.held.push({ y, height, death });
    this.held.sort((a, b) => a.y - b.y);
    this.height = Math.max(this.height, y + height);
    return y;
  }
}
