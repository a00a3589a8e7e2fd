/**
 * The strip of a row: the cells of a storage in the room that there is, wrapped or as colours where numbers don't fit.
 */

import { itemsize, unqualifiedDtype } from "../../trace/reads.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Storage } from "../../trace/wire.ts";

/** the cells of a storage under one dtype; y from the strip's top */
export interface CellBand {
  dtype: string;
  n: number;
  y: number;
  columns: number;
  lines: number;
  cw: number;
  ch: number;
  mode: "numbers" | "heat" | "summary" | "bare";
  /** where only the first cells are drawn: how many of memory's cells each line stands for */
  every?: number;
  /** it is a column, in several lines */
  wrappedColumn?: boolean;
  /** and whether they are rows of the tensor */
  inRows?: boolean;
  /** so many cells after those drawn are read by nothing */
  unread?: number;
}

/** The cells of rows beside their names, decided once for a run. */
export interface RowCells {
  /** of a cell in a strip of one line, at most */
  w: number;
  h: number;
  /** whether (n, 1) is drawn as a column */
  columns: boolean;
}

export const USUAL_ROW_CELLS: RowCells = { w: 46, h: 30, columns: false };

export interface CellStrip {
  bands: CellBand[];
  w: number;
  h: number;
}

/** The room below cells that are not all drawn, for the words that say so. */
const CUT_NOTE_HEIGHT = 36;
/** The room below a column that is drawn in lines, for the words that say so. */
const COLUMN_NOTE_HEIGHT = 20;
/** A column of so many single numbers at most is drawn as rows. */
const MAX_COLUMN_ROWS = 16;
/** Of a column of more than a few rows. */
const COLUMN_ROW_HEIGHT = 15;

/** The widest cell, the narrowest with a number in it, and the narrowest where beads need all cells in one line. */
const STRIP_CELL_WIDTHS = { most: 46, least: 38, tight: 30 };
const COMPLEX_CELL_WIDTHS = { most: 90, least: 74, tight: 60 };

/** A cell beside its names is so many times as high as it is wide at most. */
const MAX_CELL_SLENDERNESS = 1.4;

/** How tall cells as colours may get together. */
const MAX_HEAT_MAP_HEIGHT = 64;

/** Cells of a closed row beyond which it shows the means of equal stretches. */
export const MAX_COLLAPSED_CELLS = 96;

/** Height of a summary: with its numbers and a window onto its cells, and as colours alone. */
export const SUMMARY_SIZES = { full: 58, slim: 15, heat: 16, cells: 22, cellH: 18, numbers: 52 };

interface StripRoom {
  width: number;
  full: boolean;
  /** whether several handles read it, or memory as long, each with a line of its own */
  beads: boolean;
  /** numbers alone matter */
  low: boolean;
  /** the length of the last dimension of the handle */
  last: number;
  /** cells from the first to the last that anything reads, where many others follow */
  read?: number | null;
  /** it is (n, 1): a column */
  column?: boolean;
  /** how the cells of a row beside its names are drawn */
  row?: RowCells;
}

export function layoutCellStrip(storage: Storage | undefined, stripRoom: StripRoom): CellStrip {
  const rows = Object.entries(storage?.cells ?? {});
  if (!storage?.cells && (storage?.summary || storage?.windows)) return layoutSummaryStrip(storage, stripRoom);
  if (!rows.length)
    return { bands: [bandWithoutCells(stripRoom)], w: Math.min(56, stripRoom.width), h: stripRoom.full ? 22 : 14 };
  if (rows.length === 1) {
    const band = bandOfReadCells(rows[0][0], rows[0][1].length, stripRoom);
    const cut = band.every !== undefined;
    if (stripRoom.column && stripRoom.full && !stripRoom.low && !cut && band.columns > 1) band.wrappedColumn = true;
    const h = band.lines * band.ch + (cut ? CUT_NOTE_HEIGHT : band.wrappedColumn ? COLUMN_NOTE_HEIGHT : 0);
    return { bands: [band], w: Math.max(14, Math.min(band.n || 1, band.columns) * band.cw), h };
  }
  return stackedStripsByDtype(rows, stripRoom);
}

/** The cells that anything reads, where they stand in one line, without the many behind them. */
function bandOfReadCells(dtype: string, n: number, stripRoom: StripRoom): CellBand {
  const { read, full } = stripRoom;
  if (read && full) {
    const band = layoutCellBand(dtype, read, stripRoom);
    if (band.mode === "numbers" && band.lines === 1 && band.every === undefined)
      return { ...band, n, every: n, unread: n - read };
  }
  return layoutCellBand(dtype, n, stripRoom);
}

/** The same bytes under several dtypes: strips of one width below each other, so that cells of the same bytes line
 * up. */
function stackedStripsByDtype(
  rows: [string, unknown[]][],
  stripRoom: Parameters<typeof layoutCellStrip>[1],
): CellStrip {
  const naturalWidth = Math.max(...rows.map(([dtype, cells]) => cells.length * cellWidths(dtype).most));
  const width = Math.min(stripRoom.width - 34, naturalWidth);
  const bands: CellBand[] = [];
  let y = 0;
  for (const [dtype, cells] of rows) {
    const n = cells.length;
    const hasNumbers = n > 0 && width / n >= cellWidths(dtype).tight;
    const ch = stripRoom.full ? (stripRoom.low ? 16 : 21) : 13;
    const band: CellBand = hasNumbers
      ? { dtype, n, y, columns: n, lines: 1, cw: width / n, ch, mode: "numbers" }
      : { ...layoutCellBand(dtype, n, { ...stripRoom, width }), y };
    if (!stripRoom.full && !hasNumbers)
      [band.columns, band.lines, band.cw] = [Math.max(1, n), 1, width / Math.max(1, n)];
    bands.push(band);
    y += band.lines * band.ch + 3;
  }
  return { bands, w: Math.max(14, width), h: y - 3 };
}

function cellWidths(dtype: string) {
  return unqualifiedDtype(dtype).startsWith("complex") ? COMPLEX_CELL_WIDTHS : STRIP_CELL_WIDTHS;
}

function bandWithoutCells({ full, width }: { full: boolean; width: number }): CellBand {
  return { dtype: "", n: 0, y: 0, columns: 1, lines: 1, cw: Math.min(56, width), ch: full ? 22 : 14, mode: "bare" };
}

function layoutSummaryStrip(storage: Storage, { width, full }: { width: number; full: boolean }): CellStrip {
  const dtype = Object.keys(storage.summary ?? storage.windows ?? {})[0] ?? "";
  const n = storageElementCount(storage, dtype);
  const h = full ? SUMMARY_SIZES.full : SUMMARY_SIZES.slim;
  const w = full ? width : Math.min(width, 200);
  return { bands: [{ dtype, n, y: 0, columns: n, lines: 1, cw: w / Math.max(1, n), ch: h, mode: "summary" }], w, h };
}

function layoutCellBand(dtype: string, n: number, stripRoom: Parameters<typeof layoutCellStrip>[1]): CellBand {
  const { most: maxCell, least: minCell, tight: minBeadCell } = cellWidths(dtype);
  const { width, full, low, last: lastDimension, row = USUAL_ROW_CELLS } = stripRoom;
  const largestCell = Math.max(maxCell, row.w);
  const bandOf = (columns: number, lines: number, cw: number, ch: number) =>
    ({ dtype, n, y: 0, columns, lines, cw, ch, mode: "numbers" }) as CellBand;
  const lineHeight = (lines: number, cw: number) => {
    if (!full) return 16;
    if (low) return lines === 1 ? 20 : 16;
    const usual = Math.max(USUAL_ROW_CELLS.h, Math.min(row.h, MAX_CELL_SLENDERNESS * cw));
    return lines === 1 ? usual : lines === 2 ? Math.max(21, row.h * 0.5) : Math.max(18, row.h * 0.4);
  };
  if (!n) return { ...bandOf(1, 1, 30, full ? (low ? 20 : 30) : 14), mode: "bare" };
  if (!full) {
    const cw = Math.min(44, width / n);
    return { ...bandOf(n, 1, cw, 16), mode: cw >= minCell ? "numbers" : "heat" };
  }
  if (stripRoom.column && row.columns && !low && n > 1 && n <= MAX_COLUMN_ROWS)
    return bandOf(1, n, Math.min(largestCell, width), n > 4 ? COLUMN_ROW_HEIGHT : Math.min(24, row.h));
  if (stripRoom.beads && width / n >= minBeadCell)
    return bandOf(n, 1, Math.min(largestCell, width / n), lineHeight(1, width / n));
  const maxLines = n > 40 ? 6 : 4;
  for (const minCellWidth of [minCell + 1, minCell])
    for (let lines = 1; lines <= maxLines; lines++) {
      let columns = Math.ceil(n / lines);
      if (lastDimension > 1 && lastDimension <= n) columns = Math.ceil(columns / lastDimension) * lastDimension;
      const cw = Math.min(largestCell, width / columns);
      if (cw < minCellWidth || (n % columns && lines < maxLines)) continue;
      const rows = Math.ceil(n / columns);
      return bandOf(columns, rows, cw, lineHeight(rows, cw));
    }
  const heatCellSize = Math.min(8, Math.max(3, Math.sqrt((width * MAX_HEAT_MAP_HEIGHT) / n)));
  const columns = heatMapColumns(n, Math.floor(width / heatCellSize), lastDimension);
  const rows = Math.ceil(n / columns);
  const cw = Math.min(16, width / columns);
  return {
    ...bandOf(columns, rows, cw, rows === 1 ? 24 : Math.min(12, Math.max(3, MAX_HEAT_MAP_HEIGHT / rows))),
    mode: "heat",
  };
}

/** Whether a cell has a place in a band. */
export function isCellDrawn({ every, columns, lines }: CellBand, i: number) {
  return every === undefined || (i % every < columns && Math.floor(i / every) < lines);
}

/** Whole rows of the handle, where that is possible. */
function heatMapColumns(n: number, maxColumns: number, lastDimension: number) {
  if (n <= maxColumns) return n;
  return lastDimension > 1 && lastDimension <= maxColumns
    ? Math.floor(maxColumns / lastDimension) * lastDimension
    : maxColumns;
}

/** Where cell i of a band is, from the strip's corner. */
export function cellRect(band: CellBand, i: number) {
  const every = band.every ?? band.columns;
  return {
    x: (i % every) * band.cw,
    y: band.y + Math.floor(i / every) * band.ch,
    w: band.cw,
    h: band.ch,
  };
}

/** The cells that a handle of this dtype reads. */
export function bandOfDtype(strip: CellStrip, dtype: string | null | undefined) {
  const plain = unqualifiedDtype(dtype);
  return strip.bands.find((band) => unqualifiedDtype(band.dtype) === plain) ?? strip.bands[0];
}

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
