/** What every mark of the loom is given, and which of its rows are in sight. */

import { inBand } from "../layout/view.js";

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
  return plan.rows.flatMap((box, r) => (inBand(band, box.foldY, box.y + box.h) ? [r] : []));
}
