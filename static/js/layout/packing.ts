/** Places along one axis, held for a lifetime and let again afterwards; lifetimes are steps, both ends included. */

/** Places of one height, numbered from the lowest. */
export class IntervalSlots {
  /** by place, the last step for which it is held */
  endOfPlace: number[] = [];
  lowestFree = 0;
  soonestEnd: number;

  constructor() {
    this.soonestEnd = Infinity;
  }

  /** The lowest place that is free from `birth` on. Calls come in order of birth. */
  allocate(birth: number, death: number) {
    if (this.soonestEnd < birth) {
      this.lowestFree = 0;
      this.soonestEnd = Infinity;
      for (const step of this.endOfPlace) if (step >= birth && step < this.soonestEnd) this.soonestEnd = step;
    }
    while (this.endOfPlace[this.lowestFree] >= birth) this.lowestFree += 1;
    this.endOfPlace[this.lowestFree] = death;
    this.soonestEnd = Math.min(this.soonestEnd, death);
    this.lowestFree += 1;
    return this.lowestFree - 1;
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
