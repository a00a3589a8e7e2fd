/** The numbers that a handle or a saved slot reads, and how a sentence writes them. */

import { find } from "../trace/entities.js";
import { shortNumber } from "../layout/format.js";
import { plainDtype, cellReads } from "../layout/reads.js";

/** @typedef {import("../trace/entities.js").Cell} Cell */

const MAX_NUMBERS = 1024;
const MAX_LISTED = 6;

/** The elements in logical order; null where the trace does not list them.
 * @param {import("../trace/entities.js").Lookup} entities @param {import("../layout/reads.js").MemoryReading} handleOrSlot
 * @returns {Cell[] | null} */
export function cellsRead(entities, handleOrSlot) {
  const row = find(entities, handleOrSlot.storage, "storage")?.cells?.[plainDtype(handleOrSlot.dtype)];
  if (!row) return null;
  const cells = cellReads(handleOrSlot, MAX_NUMBERS).map(({ cell }) => row[cell]);
  return cells.length && cells.every((cell) => cell !== undefined) ? cells : null;
}

/** A cell as a number; also of values that JSON has no number for. @param {Cell | null | undefined} cell */
export function numberOf(cell) {
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return Number(cell);
  if (cell && typeof cell === "object" && "$f" in cell)
    return { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }[cell.$f] ?? Number.NaN;
  return Number.NaN;
}

/** Whether a cell is NaN or an infinity. @param {Cell | null | undefined} cell */
export function isNonfinite(cell) {
  return cell !== null && typeof cell === "object" && "$f" in cell;
}

/** @param {Cell | null | undefined} cell */
export function isNan(cell) {
  return isNonfinite(cell) && /** @type {{$f: string}} */ (cell).$f === "nan";
}

/** Numbers as a list, the first of them where they are many; one alone without brackets. @param {Cell[]} cells @param {boolean} [isScalar] */
export function numbersText(cells, isScalar = false) {
  const texts = cells.slice(0, MAX_LISTED).map((cell) => shortNumber(cell, 8));
  if (isScalar && texts.length === 1) return texts[0];
  return `[${texts.join(", ")}${cells.length > MAX_LISTED ? ", …" : ""}]`;
}
