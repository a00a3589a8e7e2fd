/** What is known of a storage too big to list. */

import { itemsize } from "../../trace/reads.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Storage } from "../../trace/wire.ts";

/** The elements of a storage too big to list that a trace knows, sorted. */
export function cellsOfWindows(windows: [number, Cell[]][]): { i: number; value: Cell }[] {
  return windows
    .flatMap(([from, values]) => values.map((value, k) => ({ i: from + k, value })))
    .sort((a, b) => a.i - b.i);
}

/** How many elements of a dtype a storage has. */
export function storageElementCount(storage: Storage, dtype: string) {
  return Math.floor((storage.nbytes ?? 0) / itemsize(dtype));
}
