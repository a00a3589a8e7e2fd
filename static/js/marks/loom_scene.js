/** What every mark of the loom is given, and which of its rows are in sight. */

/** @typedef {import("../layout/loom.js").Loom} Loom */
/** @typedef {import("../layout/view.js").Band} Band */
/** @typedef {import("./loom_labels.js").LoomLabels} LoomLabels */

/** @typedef {{plan: Loom, opened: import("../state.js").OpenTrace, i: number, now: number, labels: LoomLabels, band: Band}} LoomScene */

/** @param {Band} band @param {number} y */
export function clip(band, y) {
  return Math.max(band.top, Math.min(band.bottom, y));
}

/** @param {LoomScene} scene @returns {number[]} the rows in sight */
export function visibleRows({ plan, band }) {
  const out = [];
  for (let r = Math.max(0, rowAt(plan, band.top)); r < plan.rows.length && plan.rows[r].foldY <= band.bottom; r++)
    out.push(r);
  return out;
}

/** The last row that begins above a height; -1 above the first. @param {Loom} plan @param {number} y */
export function rowAt({ rows }, y) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].foldY <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
