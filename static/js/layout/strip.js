/** The shape of a storage's strip: how its cells are laid, once for each dtype that reads the bytes. */

import { itemsize } from "./reads.js";

/**
 * @typedef {{dtype: string, n: number, y: number, cols: number, cw: number, ch: number, mode: Mode}} Row
 *   y from the top of the strip
 * @typedef {"cells" | "grid" | "heat" | "summary"} Mode
 * @typedef {{mode: Mode, rows: Row[], w: number, h: number}} Strip
 */

/**
 * @param {import("./lifetimes.js").StorageLife} life
 * @param {import("./lifetimes.js").HandleLife[]} readers
 * @param {import("./metrics.js").Metrics} M
 * @returns {Strip}
 */
export function strip(life, readers, M) {
  if (life.summary || life.rows.size === 0)
    return life.summary
      ? { mode: "summary", rows: [], w: 420, h: life.shown ? 92 : 62 }
      : { mode: "cells", rows: [], w: M.cell, h: M.cellH };
  const dtypes = [...life.rows].map(([dtype, n]) => ({ dtype, n, size: itemsize(dtype) }));
  const least = Math.min(...dtypes.map((d) => d.size));
  const most = Math.max(...dtypes.map((d) => d.n));
  /** @type {Mode} */
  const mode = most <= (M.dense ? 12 : 24) ? "cells" : most <= 128 ? "grid" : "heat";
  const base = mode === "heat" ? 15 : mode === "grid" ? 38 : dtypes.length > 1 ? 36 : most <= 12 ? M.cell : 38;
  const ch = mode === "heat" ? 15 : mode === "grid" ? 28 : M.cellH;
  const cols = mode === "cells" ? most : columns(readers, mode);
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
 * @param {import("./lifetimes.js").HandleLife[]} readers @param {Mode} mode */
function columns(readers, mode) {
  const [low, high, usual] = mode === "grid" ? [4, 16, 16] : [8, 36, 32];
  const fit = readers.find((r) => r.inOrder && r.last >= low && r.last <= high);
  return fit ? fit.last : usual;
}

/** Where the rows end that are there now, from the strip's top: rows of dtypes read later keep their place free.
 * @param {Strip} strip @param {any} storage */
export function bottom(strip, storage) {
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
