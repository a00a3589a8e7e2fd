/**
 * Where the names of called functions stand below those of the module: functions that never run together share places.
 */

import type { MemoryModel } from "./memory_step.ts";

interface Interval {
  from: number;
  to: number;
}

export class NamePlacesInTime {
  /** by the key of a function, when it ran */
  runs = new Map<string, Interval[]>();

  constructor({ homes, opened }: MemoryModel) {
    for (const [uid, key] of homes.sectionKeyByFrame) {
      const life = opened.index.lifetimes.get(uid);
      const own = this.runs.get(key) ?? [];
      own.push({ from: life?.birth ?? 0, to: life?.death ?? opened.index.lastStep });
      this.runs.set(key, own);
    }
  }

  /**
   * `heights` has the number of lines of each function, by its key. `tops` has the first line of each, and `height` is
   * the number of lines that all of them need.
   */
  place(heights: Map<string, number>): { tops: Map<string, number>; height: number } {
    const tops = new Map<string, number>();
    let height = 0;
    for (const [key, lines] of heights) {
      const others = [...tops].filter(([other]) => this.runTogether(key, other));
      const taken = others.map(([other, top]) => [top, top + (heights.get(other) ?? 0)]);
      const fits = (top: number) => taken.every(([from, to]) => top >= to || top + lines <= from);
      const top = [0, ...taken.map(([, to]) => to)].sort((a, b) => a - b).find(fits) ?? 0;
      tops.set(key, top);
      height = Math.max(height, top + lines);
    }
    return { tops, height };
  }

  runTogether(a: string, b: string) {
    const [runsA, runsB] = [this.runs.get(a) ?? [], this.runs.get(b) ?? []];
    let [i, j] = [0, 0];
    while (i < runsA.length && j < runsB.length) {
      const [x, y] = [runsA[i], runsB[j]];
      if (x.from <= y.to && y.from <= x.to) return true;
      if (x.to < y.to) i += 1;
      else j += 1;
    }
    return false;
  }
}
