/** Places along one axis, held for a lifetime and let again afterwards; lifetimes are steps, both ends included. */

/** Places of one size side by side, each held from one step, or height, to another. */
export class LaneAllocator {
  /** until where each lane is held */
  endOfLane: number[] = [];

  get laneCount() {
    return this.endOfLane.length;
  }

  /** The lane wished for where it ends here, else the first free one. Calls come in order of `from`. */
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

export class IntervalPacker {
  heldPlaces: { y: number; height: number; death: number }[] = [];
  height = 0;

  /** The lowest place of this height that is free from `birth` on. Calls come in order of birth. */
  allocate(birth: number, death: number, height: number): number {
    this.heldPlaces = this.heldPlaces.filter((s) => s.death >= birth);
    let y = 0;
    let index = 0;
    for (; index < this.heldPlaces.length; index++) {
      if (this.heldPlaces[index].y - y >= height) break;
      y = Math.max(y, this.heldPlaces[index].y + this.heldPlaces[index].height);
    }
    this.heldPlaces.splice(index, 0, { y, height, death });
    this.height = Math.max(this.height, y + height);
    return y;
  }
}
