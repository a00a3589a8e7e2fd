/** What every mark of the loom is given, and which of its rows are in sight. */

import type { HeightBand } from "../../layout/view.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { LoomLabels } from "../labels.ts";
import type { LoomPlan } from "../../layout/loom/loom_plan.ts";

export interface LoomScene {
  plan: LoomPlan;
  opened: OpenTrace;
  i: number;
  now: number;
  labels: LoomLabels;
  band: HeightBand;
}

export function clampToBand(band: HeightBand, y: number) {
  return Math.max(band.top, Math.min(band.bottom, y));
}

/** The numbers of the rows in sight. */
export function visibleRows({ plan, band }: LoomScene): number[] {
  const out = [];
  for (let r = Math.max(0, rowAtHeight(plan, band.top)); r < plan.rows.length && plan.rows[r].foldY <= band.bottom; r++)
    out.push(r);
  return out;
}

/** The last row that begins above a height; -1 above the first. */
export function rowAtHeight({ rows }: LoomPlan, y: number) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].foldY <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The shelf of a step: of those of its row the last on which it or a step before it did something. */
export function shelfOfStep({ run, columns, handles, writes }: LoomPlan, i: number) {
  const r = run.rowOfStep[i] ?? run.rows.length - 1;
  let shelf = 0;
  for (const { reader, column } of handles[r])
    if (reader.step <= i) shelf = Math.max(shelf, columns.firstShelfIn(column, r));
  for (const { write, column } of writes[r])
    if (write.step <= i) shelf = Math.max(shelf, columns.firstShelfIn(column, r));
  return columns.firstShelfOfRow[r] + shelf;
}

/** The shelf at a height. */
export function shelfAtHeight(plan: LoomPlan, y: number) {
  const r = Math.max(0, rowAtHeight(plan, y));
  let shelf = plan.columns.firstShelfOfRow[r];
  while (shelf + 1 < plan.columns.firstShelfOfRow[r + 1] && plan.shelves[shelf + 1].y <= y) shelf += 1;
  return shelf;
}
