/** How a handle of a row reads the strip: an underline, beads in lines or in stacks, or a small map of the cells. */

import { addToList } from "../trace/multimap.js";
import { extent, numel, linesOfReads, cellReads } from "./reads.js";

/** @typedef {import("./row_strip.js").CellBand} CellBand */
/** @typedef {import("../trace/entities.js").Handle} Handle */
/** @typedef {{cell: number, reads: import("./reads.js").Read[], text: string}} Bead   reads: what one bead stands for */
/**
 * @typedef {{kind: "none"} | {kind: "under", low: number, high: number}
 *   | {kind: "map", cells: number[] | null, low: number, high: number}
 *   | {kind: "beads", lines: Bead[][], low: number, high: number}} RowReading
 *   under: cells that are read in order; map: those read, null for all between low and high
 */

/** Lines of beads that a handle gets before those of one cell are stacked. */
export const MAX_LINES = 4;

/** Cells under which beads with an index have room. */
const BEAD_ROOM = 19;

/** @param {Handle} handle @param {CellBand | undefined} band @param {{alone: boolean, most: number}} options alone: no
 *   other handle reads the storage; most: lines of beads @returns {RowReading} */
export function rowReading(handle, band, { alone, most: maxLines }) {
  const span = extent(handle);
  if (!band || !span || !numel(handle.shape)) return { kind: "none" };
  const [low, high] = span;
  const list = cellReads(handle);
  if (band.mode === "bare" || low < 0 || (band.mode !== "summary" && high >= band.n)) return { kind: "none" };
  const readsAll = low === 0 && high === band.n - 1;
  if (band.mode === "summary" || !list.length)
    return alone && readsAll ? { kind: "none" } : { kind: "map", cells: null, low, high };
  const inOrder = list.every((read, k) => k === 0 || read.cell === list[k - 1].cell + 1);
  if (inOrder && alone && (band.lines === 1 || list.length === band.n)) return { kind: "under", low, high };
  if (band.lines > 1 || band.cw < BEAD_ROOM)
    return { kind: "map", cells: [...new Set(list.map((read) => read.cell))], low, high };
  const lines = linesOfReads(list);
  if (lines.length <= maxLines) return { kind: "beads", low, high, lines: lines.map(beadsOf) };
  return { kind: "beads", low, high, lines: [beadsOf(list)] };
}

/** A bead for each cell that is read. @param {import("./reads.js").Read[]} list @returns {Bead[]} */
function beadsOf(list) {
  const stacks = /** @type {Map<number, import("./reads.js").Read[]>} */ (new Map());
  for (const read of list) addToList(stacks, read.cell, read);
  return [...stacks.values()].map(beadOf);
}

/** A bead for reads of one cell: `1,0`, or `1,:` where a whole row reads it. @param {import("./reads.js").Read[]} list
 * @returns {Bead} */
function beadOf(list) {
  const { index, cell } = list[0];
  const text = index.map((x, d) => (list.every((read) => read.index[d] === x) ? x : ":")).join(",");
  return { cell, reads: list, text: text || "·" };
}
