/** The loom's plan: columns for the cells of every storage, a row for every statement, lanes for the graph. Nothing moves between steps. */

import { bumpWidths, layoutColumns, pinCounts } from "./loom_columns.js";
import { layoutGraph, layoutPins } from "./loom_graph.js";
import { layoutRow } from "./loom_rows.js";
import { DENSEST, HEAD, ROOMY, SMALLEST_SCALE, STACKED } from "./loom_sizes.js";
import { textWidth } from "./metrics.js";
import { runStory } from "./run_story.js";

/**
 * @typedef {{uid: string, x: number, w: number, cell: number, least: number, heat: boolean, rails: Map<string, number>,
 *   right: number}} Column   cell: the width of one element of the smallest dtype, of `least` bytes; right: where the next may begin
 * @typedef {{cells: {index: string, x: number, w: number, cell: number}[], more: number, y: number}} ReadLine
 * @typedef {{reader: import("./run_story.js").Reader, column: Column, y: number, cy: number, lines: ReadLine[], bar: [number, number] | null}} HandleBox
 * @typedef {{write: import("./run_story.js").Write, column: Column, y: number, cy: number}} WriteBox
 * @typedef {{y: number, h: number, cy: number, codeY: number, codeH: number, code: string[], foldY: number}} RowBox
 * @typedef {{uid: string, name: string, leaf: boolean, group: string, x: number, y: number,
 *   slots: Map<string, number>, row: number, label: string}} Dot   group: nodes of the same one are one dot
 * @typedef {{key: string, from: string, to: string, x0: number, y0: number, x1: number, y1: number, row: number}} Edge
 * @typedef {{pin: import("./run_story.js").Pin, x: number, rail: number, y: number, slotX: number, to: number, at: number | null}} PinLine
 *   rail: where the counter stands; to: where it lets go; at: the height where it broke or its bytes changed
 * @typedef {{story: import("./run_story.js").RunStory, rows: RowBox[], columns: Map<string, Column>, handles: HandleBox[][], writes: WriteBox[][],
 *   handleRows: Map<string, {row: number, cy: number, name: string}>, dots: Map<string, Dot>, rowDots: Dot[][], edges: Edge[], trunks: {x: number, y0: number, y1: number}[], pinLines: PinLine[],
 *   head: number, code: number, memory: {x: number, w: number}, graph: {x: number, w: number, names: number},
 *   stacked: boolean, cell: number, width: number, height: number}} Loom
 */

/**
 * @param {import("../state.js").OpenTrace} opened
 * @param {{room?: number, stacked?: boolean, scrolls?: boolean}} [options] room: the width that there is; stacked: code above
 *   its row, not beside; scrolls: what is wider need not be as narrow as can be
 * @returns {Loom}
 */
export function loomLayout(opened, { room = 1180, stacked = false, scrolls = true } = {}) {
  const run = runStory(opened);
  const code = stacked ? 8 : codeWidth(run, room);
  const margins = { pins: pinCounts(run), bumps: bumpWidths(run) };
  /** @type {Loom | null} */
  let plan = null;
  const tries = stacked ? STACKED : ROOMY;
  for (const [cell, most] of scrolls ? tries : [...tries, DENSEST]) {
    if (cell === DENSEST[0] && plan && plan.width * SMALLEST_SCALE <= room) break;
    const columns = layoutColumns(run, margins, code, cell, most);
    if (columns.right * SMALLEST_SCALE > room && cell !== DENSEST[0]) continue;
    plan = buildPlan(run, columns, { code, cell, room, stacked });
    if (plan.width <= room) return plan;
  }
  if (plan && (!scrolls || plan.width * SMALLEST_SCALE <= room)) return plan;
  // What has to scroll anyway need not be small as well.
  const [cell, most] = stacked ? [30, 8] : [34, 8];
  return buildPlan(run, layoutColumns(run, margins, code, cell, most), { code, cell, room, stacked });
}

/** The plan with these columns. @param {import("./run_story.js").RunStory} run @param {{columns: Map<string, Column>, right: number}} arrangement
 * @param {{code: number, cell: number, room: number, stacked: boolean}} sizes @returns {Loom} */
function buildPlan(run, { columns, right }, { code, cell, room, stacked }) {
  /** @type {Loom} */
  const plan = {
    story: run,
    rows: [],
    columns,
    handles: [],
    writes: [],
    handleRows: new Map(),
    dots: new Map(),
    rowDots: [],
    edges: [],
    trunks: [],
    pinLines: [],
    head: HEAD,
    code,
    memory: { x: code, w: right - code },
    graph: { x: right + 10, w: 16, names: 0 },
    stacked,
    cell,
    width: 0,
    height: 0,
  };
  let y = HEAD;
  run.rows.forEach((row, r) => {
    y = layoutRow(plan, row, r, y, room);
  });
  plan.height = y;
  layoutGraph(plan);
  layoutPins(plan);
  return plan;
}

/** @param {import("./run_story.js").RunStory} run @param {number} room */
function codeWidth(run, room) {
  const longest = Math.max(
    0,
    ...run.rows.flatMap((row) => row.code.map((line) => textWidth(line, 12.5) + row.inset * 10 + row.turn.length * 7)),
  );
  return Math.round(Math.min(330, Math.max(200, room * 0.26), Math.max(190, longest + 62)));
}
