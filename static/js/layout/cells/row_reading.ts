/** How a handle of a row reads the strip: an underline, beads in lines or in stacks, or a small map of the cells. */

import { addToList } from "../../trace/multimap.ts";
import { cellExtentOfHandle, numel, splitReadsIntoLines, cellReads, type CellRead } from "../../trace/reads.ts";
import type { Handle } from "../../trace/entities.ts";
import type { CellBand } from "./row_strip.ts";

export interface Bead {
  cell: number;
  /** what one bead stands for */
  reads: CellRead[];
  text: string;
}

/** under: cells that are read in order; map: those read, null for all between low and high */
export type RowReading =
  | { kind: "none" }
  | { kind: "under"; low: number; high: number }
  | { kind: "map"; cells: number[] | null; low: number; high: number }
  | { kind: "beads"; lines: Bead[][]; low: number; high: number };

/** Lines of beads that a handle gets before those of one cell are stacked. */
export const MAX_BEAD_LINES = 4;

/** Cells under which beads with an index have room. */
const MIN_BEAD_CELL_WIDTH = 19;

/** `alone`: no other handle reads the storage. `most` is a number of lines of beads. */
export function handleReading(
  handle: Handle,
  band: CellBand | undefined,
  { alone, most: maxLines }: { alone: boolean; most: number },
): RowReading {
  const span = cellExtentOfHandle(handle);
  if (!band || !span || !numel(handle.shape)) return { kind: "none" };
  const [low, high] = span;
  const list = cellReads(handle);
  if (band.mode === "bare" || low < 0 || (band.mode !== "summary" && high >= band.n)) return { kind: "none" };
  const readsAll = low === 0 && high === band.n - 1;
  if (band.mode === "summary" || !list.length)
    return alone && readsAll ? { kind: "none" } : { kind: "map", cells: null, low, high };
  const inOrder = list.every((read, k) => k === 0 || read.cell === list[k - 1].cell + 1);
  const isOneLine = band.lines === 1 && (band.every === undefined || band.unread !== undefined);
  if (inOrder && (isOneLine || list.length === band.n)) return { kind: "under", low, high };
  if (band.every !== undefined) return { kind: "map", cells: list.map(({ cell }) => cell), low, high };
  if (band.lines > 1 || band.cw < MIN_BEAD_CELL_WIDTH)
    return { kind: "map", cells: [...new Set(list.map((read) => read.cell))], low, high };
  const lines = splitReadsIntoLines(list);
  if (lines.length <= maxLines) return { kind: "beads", low, high, lines: lines.map(beadsByCell) };
  return { kind: "beads", low, high, lines: [beadsByCell(list)] };
}

/** A bead for each cell that is read. */
function beadsByCell(list: CellRead[]): Bead[] {
  const stacks = new Map<number, CellRead[]>();
  for (const read of list) addToList(stacks, read.cell, read);
  return [...stacks.values()].map(beadOfReads);
}

/** A bead for reads of one cell: `1,0`, or `1,:` where a whole row reads it. */
function beadOfReads(list: CellRead[]): Bead {
  const { index, cell } = list[0];
  const text = index.map((x, d) => (list.every((read) => read.index[d] === x) ? x : ":")).join(",");
  return { cell, reads: list, text: text || "·" };
}
