/** The loom's plan: columns for the cells of storages, a row for every statement, lanes for the graph. Nothing moves between steps. */

import { storagesOutlivingRow, marginsOf, separateColumns, type Columns, type Margins } from "./loom_columns.ts";
import { graphWidthEstimate, layoutGraph } from "./loom_graph.ts";
import { homesOf, homeWidth } from "./loom_homes.ts";
import { unnamedColumn } from "./loom_unnamed.ts";
import { layoutPins } from "./loom_pins.ts";
import { placeRow } from "./loom_rows.ts";
import {
  CODE_SHARE,
  HEADER_HEIGHT,
  UNNAMED_STACKED_WIDTH,
  ROOMY_CELLS,
  SMALLEST_SCALE,
  STACKED_CELLS,
} from "./loom_sizes.ts";
import { shareOfRowsThatFit, storagesTouchedByRow, windowColumns } from "./loom_windows.ts";
import { textWidth } from "./metrics.ts";
import { runRows } from "./run_rows.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { RunRows, StorageLife } from "./run_row.ts";
import type { Loom, Arrangement } from "./loom_plan.ts";

/** The least cell in which a number is read. */
const MIN_READABLE_CELL = 24;
/** Of the rows, as many have room for all that they touch beside each other; or cells get smaller. */
const SUFFICIENT_SHARE = 0.98;
/** Cells get smaller only for so much, and give up their numbers only for so much. */
const SMALLER_CELL_GAIN = 0.85;
const UNREADABLE_CELL_GAIN = 0.4;
/** A cell in which a number is read with ease: down to it, also what the last rows touched is to stay; and what that counts. */
const COMFORTABLE_CELL = 32;
const RECENT_ROWS = 4;
const RECENT_ROWS_WEIGHT = 0.2;
/** A column's cells may be as wide as this, however little room there is. */
const MIN_COLUMN_WIDTH = 100;

/** @param options room: the width that there is; stacked: code above its row, not beside */
export function loomLayout(
  opened: OpenTrace,
  { room: stageWidth = 1180, stacked = false }: { room?: number; stacked?: boolean } = {},
): Loom {
  const run = runRows(opened);
  const code = stacked ? 8 : codeWidth(run, stageWidth, CODE_SHARE.roomy);
  const margins = marginsOf(run);
  const lastingStorageLives = storagesOutlivingRow(run);
  const sizes = stacked ? STACKED_CELLS : ROOMY_CELLS;
  const maxWidth = stageWidth / SMALLEST_SCALE;
  for (const [cell, maxCells] of sizes) {
    if (cell < MIN_READABLE_CELL || maxCells < MIN_READABLE_CELL) continue;
    if (lastingStorageLives.length > sizes.length * 8) break;
    const columns = separateColumns(run, lastingStorageLives, margins, code + 14, { cell, most: maxCells });
    if (columns.right > maxWidth) continue;
    const plan = assembleLoom(run, { columns, unnamed: null, code, cell, room: stageWidth, stacked, bounded: false });
    if (plan.width <= (cell === sizes[0][0] ? stageWidth : maxWidth)) return plan;
  }
  const slimCodeWidth = stacked ? 8 : codeWidth(run, stageWidth, CODE_SHARE.slim);
  return assembleLoom(
    run,
    boundedColumns(run, lastingStorageLives, margins, { code: slimCodeWidth, room: stageWidth, stacked }),
  );
}

/** Columns of bounded width: homes that give way to each other, and one column for all that never had a name. */
function boundedColumns(
  runRows: RunRows,
  lives: StorageLife[],
  margins: Margins,
  { code, room: width, stacked }: { code: number; room: number; stacked: boolean },
): Arrangement {
  const namedLives = lives.filter(({ uid }) => runRows.storageNames.has(uid));
  const unnamed = unnamedColumn(
    runRows,
    lives.filter(({ uid }) => !runRows.storageNames.has(uid)),
  );
  if (unnamed && stacked) unnamed.w = UNNAMED_STACKED_WIDTH;
  const unnamedWidth = unnamed?.w ?? 0;
  const touches = storagesTouchedByRow(runRows);
  const memoryWidth = width - code - 14 - unnamedWidth - 10 - graphWidthEstimate(runRows, width, stacked);
  let cheapest: { cell: number; columns: Columns; cost: number } | null = null;
  for (const [cell, maxCells] of stacked ? STACKED_CELLS : ROOMY_CELLS) {
    const widest = Math.max(memoryWidth * 0.4, MIN_COLUMN_WIDTH);
    const homes = homesOf(namedLives, runRows.storageNames, margins, { cell, most: maxCells, widest, slim: true });
    const columns = windowColumns(homes, touches, code + 14, Math.max(memoryWidth, ...homes.map(homeWidth)));
    const cost =
      columns.missingRoom() +
      (1 - shareOfRowsThatFit(homes, touches, memoryWidth, RECENT_ROWS)) *
        (cell > COMFORTABLE_CELL ? RECENT_ROWS_WEIGHT : 0);
    if (!cheapest || cost < cheapest.cost * (maxCells < MIN_READABLE_CELL ? UNREADABLE_CELL_GAIN : SMALLER_CELL_GAIN))
      cheapest = { cell, columns, cost };
    if (cost <= 1 - SUFFICIENT_SHARE) break;
  }
  const { cell, columns } = cheapest ?? { cell: 0, columns: windowColumns([], touches, code + 14, memoryWidth) };
  if (unnamed) {
    unnamed.x = columns.right;
    columns.right += unnamed.w;
  }
  return { columns, unnamed, code, cell, room: width, stacked, bounded: true };
}

/** The plan with these columns. */
function assembleLoom(runRows: RunRows, { columns, unnamed, code, cell, room, stacked, bounded }: Arrangement): Loom {
  const { right } = columns;
  const plan: Loom = {
    run: runRows,
    rows: [],
    shelves: [],
    ends: new Set(columns.all.flatMap(({ uid }) => freeingRows(runRows, uid))),
    columns,
    unnamed,
    handles: [],
    writes: [],
    handleRows: new Map(),
    dots: new Map(),
    rowDots: [],
    edges: [],
    trunks: [],
    pinLines: [],
    head: HEADER_HEIGHT,
    code,
    memory: { x: code, w: right - code },
    graph: { x: right + 10, w: 16, names: 0, short: stacked || bounded, chars: 30 },
    stacked,
    cell,
    width: 0,
    height: 0,
  };
  let y = HEADER_HEIGHT;
  runRows.rows.forEach((row, r) => {
    y = placeRow(plan, row, r, y, room);
  });
  plan.height = y;
  layoutGraph(plan, bounded ? room : null);
  layoutPins(plan);
  return plan;
}

/** The row that freed a storage. */
function freeingRows({ storages }: RunRows, uid: string) {
  const life = storages.get(uid);
  return life?.freed ? [life.death] : [];
}

/** @param maxShare of the room */
function codeWidth(runRows: RunRows, stageWidth: number, maxShare: number) {
  let longest = 0;
  for (const row of runRows.rows)
    for (const line of row.code)
      longest = Math.max(longest, textWidth(line, 12.5) + row.inset * 10 + row.turn.length * 7);
  return Math.round(Math.min(330, Math.max(200, stageWidth * maxShare), Math.max(190, longest + 62)));
}
