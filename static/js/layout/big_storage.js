/** What is known of a storage too big to list. */

import { itemsize } from "./reads.js";

/** @typedef {import("../trace/entities.js").Cell} Cell */

/** The elements of a storage too big to list that a trace knows, sorted. @param {[number, Cell[]][]} windows
 * @returns {{i: number, value: Cell}[]} */
export function knownCells(windows) {
  return windows
    .flatMap(([from, values]) => values.map((value, k) => ({ i: from + k, value })))
    .sort((a, b) => a.i - b.i);
}

/** How many elements of a dtype a storage has. @param {import("../trace/entities.js").Storage} storage @param {string} dtype */
export function elementCount(storage, dtype) {
  return Math.floor((storage.nbytes ?? 0) / itemsize(dtype));
}
