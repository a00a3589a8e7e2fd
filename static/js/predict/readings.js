/** What a tensor holds, as a question and its choices write it. */

import { find, sameValue } from "../trace/entities.js";
import { cellsRead, numberOf, numbersText } from "../findings/numbers.js";
import { shortNumber } from "../layout/format.js";
import { numel, cellReads } from "../layout/reads.js";

/** @typedef {import("../trace/entities.js").Cell} Cell */
/** @typedef {import("../trace/entities.js").Handle} Handle */
/** @typedef {import("../trace/state.js").Entities} Entities */

/** More elements than this are asked about by their first one. */
const MAX_LISTED = 6;
const DIGITS = 8;
/** Of larger tensors nobody knows an element. */
const MAX_ELEMENTS = 256;

/** @param {Cell | undefined} cell */
export const cellText = (cell) => shortNumber(cell, DIGITS);

/** An element as Python writes it: `a[1, 0]`, and of a scalar its name. @param {string} name @param {number[]} index */
export const elementName = (name, index) => (index.length ? `${name}[${index.join(", ")}]` : name);

/** The elements of a handle in logical order, each with its cell and index; null where the trace does not list them.
 * @param {Entities} entities @param {Handle} handle @returns {{index: number[], cell: number, value: Cell}[] | null} */
export function elementsOf(entities, handle) {
  const cells = numel(handle.shape) <= MAX_ELEMENTS ? cellsRead(entities, handle) : null;
  if (!cells) return null;
  return cellReads(handle, cells.length).map(({ index, cell }, k) => ({ index, cell, value: cells[k] }));
}

/** A gradient or a tensor in a word: all its elements where they are few, else its first.
 * @param {Cell[]} cells @param {number[]} shape @returns {{index: number[] | null, text: string}} */
export function shortReading(cells, shape) {
  if (cells.length <= MAX_LISTED) return { index: null, text: numbersText(cells, shape.length === 0) };
  return { index: shape.map(() => 0), text: cellText(cells[0]) };
}

/** Numbers that a reader can work out and type: at most two places after the point. @param {Cell | undefined} cell */
export function isShort(cell) {
  const value = typeof cell === "number" ? cell : Number.NaN;
  return Number.isFinite(value) && Math.abs(value) < 10_000 && Math.abs(value * 100 - Math.round(value * 100)) < 1e-3;
}

/** Element by element. @param {Cell[]} a @param {Cell[]} b @param {(a: number, b: number) => number} f @returns {Cell[]} */
export const combinedCells = (a, b, f) => a.map((cell, k) => f(numberOf(cell), numberOf(b[k])));

/** @param {Cell[]} a @param {Cell[]} b */
export const sameCells = (a, b) => a.length === b.length && a.every((cell, k) => sameValue(cell, b[k]));

/** The memory that a handle reads: a storage that lies within another is that one. @param {Entities} entities @param {Handle} handle */
export function memoryOf(entities, handle) {
  const storage = find(entities, handle.storage, "storage");
  return storage?.within ? storage.within.storage : (handle.storage ?? null);
}
