/** The shape of a storage's strip: how its cells are laid, once for each dtype that reads the bytes. */

import { itemsize } from "./reads.js";

/** @typedef {import("../entities.js").Cell} Cell */

/**
 * @typedef {{dtype: string, n: number, y: number, cols: number, cw: number, ch: number, mode: Mode}} Row
 *   y from the top of the strip
 * @typedef {"cells" | "grid" | "heat" | "summary"} Mode
 * @typedef {{mode: Mode, rows: Row[], w: number, h: number}} Strip
 */

/** What a storage too big to list consists of, from its strip's corner: a strip of stretches, numbers, some of the cells. */
export const HEAT = { x: 10, w: 418, y: 8, h: 24, numbers: 62, cells: 106, cw: 38, ch: 22, most: 10 };

/** The elements of a storage too big to list that a trace knows, sorted. @param {[number, Cell[]][]} windows
 * @returns {{i: number, value: Cell}[]} */
export function knownCells(windows) {
  return windows
    .flatMap(([from, values]) => values.map((value, k) => ({ i: from + k, value })))
    .sort((a, b) => a.i - b.i);
}

/**
 * Where the known cells from `start` on stand, as many as there is room for: what is not neighbours stands apart.
 * @template {{i: number}} T @param {T[]} cells @param {number} start @returns {{cell: T, x: number, first: boolean}[]}
 */
export function visibleWindow(cells, start) {
  let at = cells.findIndex((cell) => cell.i >= start);
  if (at < 0) at = cells.length;
  at = Math.max(0, Math.min(at, cells.length - HEAT.most));
  /** @type {{cell: T, x: number, first: boolean}[]} */
  const out = [];
  let x = HEAT.x + 16;
  for (; at < cells.length; at++) {
    const first = !out.length || cells[at].i !== cells[at - 1].i + 1;
    if (first && out.length) x += 12;
    if (x + HEAT.cw > HEAT.x + HEAT.w - 16) break;
    out.push({ cell: cells[at], x, first });
    x += HEAT.cw;
  }
  return out;
}

/** How many elements of a dtype a storage has. @param {import("../entities.js").Storage} storage @param {string} dtype */
export function elementCount(storage, dtype) {
  return Math.floor((storage.nbytes ?? 0) / itemsize(dtype));
}

/**
 * @param {import("./lifetimes.js").StorageLifetime} life
 * @param {import("./lifetimes.js").HandleLifetime[]} readers
 * @param {import("./metrics.js").Metrics} M
 * @returns {Strip}
 */
export function strip(life, readers, M) {
  if (life.summary || life.rows.size === 0)
    return life.summary
      ? { mode: "summary", rows: [], w: HEAT.w + 20, h: life.shown ? HEAT.cells + HEAT.ch + 8 : HEAT.cells - 14 }
      : { mode: "cells", rows: [], w: M.cell, h: M.cellH };
  const dtypes = [...life.rows].map(([dtype, n]) => ({ dtype, n, size: itemsize(dtype) }));
  const least = Math.min(...dtypes.map((d) => d.size));
  const most = Math.max(...dtypes.map((d) => d.n));
  /** @type {Mode} */
  const mode = most <= (M.dense ? 12 : 24) ? "cells" : most <= 128 ? "grid" : "heat";
  const base = mode === "heat" ? 15 : mode === "grid" ? 38 : dtypes.length > 1 ? 36 : most <= 12 ? M.cell : 38;
  const ch = mode === "heat" ? 15 : mode === "grid" ? 28 : M.cellH;
  const cols = mode === "cells" ? most : gridColumns(readers, mode);
  let y = 0;
  let w = 0;
  const rows = dtypes.map(({ dtype, n, size }) => {
    const ratio = size / least;
    const wide = Math.max(1, Math.floor(cols / ratio));
    const row = { dtype, n, y, cols: wide, cw: base * ratio, ch, mode };
    y += Math.max(1, Math.ceil(n / wide)) * ch + (dtypes.length > 1 ? 6 : 0);
    w = Math.max(w, Math.max(1, Math.min(n, wide)) * row.cw);
    return row;
  });
  return { mode, rows, w, h: y - (dtypes.length > 1 ? 6 : 0) };
}

/** A grid's row is as long as a row of the handle that reads it, where that is a comfortable length.
 * @param {import("./lifetimes.js").HandleLifetime[]} readers @param {Mode} mode */
function gridColumns(readers, mode) {
  const [low, high, usual] = mode === "grid" ? [4, 16, 16] : [8, 36, 32];
  const fit = readers.find((r) => r.inOrder && r.last >= low && r.last <= high);
  return fit ? fit.last : usual;
}

/** Where the rows end that are there now, from the strip's top: rows of dtypes read later keep their place free.
 * @param {Strip} strip @param {import("../entities.js").Storage} storage */
export function stripBottom(strip, storage) {
  let low = 0;
  for (const row of strip.rows) {
    const n = storage?.cells?.[row.dtype]?.length;
    if (n !== undefined) low = Math.max(low, row.y + Math.max(1, Math.ceil(n / row.cols)) * row.ch);
  }
  return low || strip.h;
}

/** Where cell i of a row is, from the strip's corner. @param {Row} row @param {number} i */
export function cellBox(row, i) {
  return { x: (i % row.cols) * row.cw, y: row.y + Math.floor(i / row.cols) * row.ch, w: row.cw, h: row.ch };
}
