/**
 * The loom's plan: columns for the cells of storages, a row for every statement, lanes for the graph. Nothing moves
 * between steps.
 */

import {
  storagesOutlivingRow,
  railMargins,
  oneColumnPerStorage,
  type StorageColumns,
  type RailMargins,
} from "./loom_columns.ts";
import { estimateLoomGraphWidth, layoutLoomGraph } from "./loom_graph.ts";
import { groupColumns, groupWidth } from "./loom_column_groups.ts";
import { unnamedStoragesColumn } from "./loom_unnamed.ts";
import { layoutLoomPins } from "./loom_pins.ts";
import { placeLoomRow } from "./loom_rows.ts";
import {
  MAX_CODE_WIDTH_SHARE,
  LOOM_HEADER_HEIGHT,
  UNNAMED_COLUMN_WIDTH_STACKED,
  CELL_SCALES,
  MIN_LOOM_SCALE,
  CELL_SIZES_WITH_CODE_ABOVE,
} from "./loom_sizes.ts";
import { shareOfRowsThatFit, storagesTouchedByRow, timeSharedColumns } from "./loom_windows.ts";
import { textWidth } from "../text/metrics.ts";
import { buildLoomRows } from "./run_rows.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { LoomRows, StorageLifetime } from "./run_row.ts";
import type { LoomPlan, LoomArrangement } from "./loom_plan.ts";

/** The least cell in which a number is read. */
const MIN_READABLE_CELL_WIDTH = 24;
/** Of the rows, as many have room for all that they touch beside each other; or cells get smaller. */
const SUFFICIENT_ROW_SHARE = 0.98;
/** Cells get smaller only for so much, and give up their numbers only for so much. */
const SMALLER_CELLS_COST_RATIO = 0.85;
const UNREADABLE_CELLS_COST_RATIO = 0.4;
/**
 * A cell in which a number is read with ease: down to it, also what the last rows touched is to stay; and what that
 * counts.
 */
const COMFORTABLE_CELL_WIDTH = 32;
const RECENT_ROW_COUNT = 4;
const RECENT_ROWS_WEIGHT = 0.2;
/** A column's cells may be as wide as this, however little room there is. */
const MIN_COLUMN_WIDTH = 100;

/** The width of a loom that is taken away. */
const USUAL_WIDTH = 1180;

/** `room` is the width that there is. `stacked`: code stands above its row, not beside. */
export function layoutLoom(
  opened: OpenTrace,
  { room: stageWidth = USUAL_WIDTH, stacked = false }: { room?: number; stacked?: boolean } = {},
): LoomPlan {
  const run = buildLoomRows(opened);
  const code = stacked ? 8 : loomCodeWidth(run, stageWidth, MAX_CODE_WIDTH_SHARE.roomy);
  const margins = railMargins(run);
  const lastingStorageLives = storagesOutlivingRow(run);
  const sizes = stacked ? CELL_SIZES_WITH_CODE_ABOVE : CELL_SCALES;
  const maxWidth = stageWidth / MIN_LOOM_SCALE;
  for (const [cell, maxCells] of sizes) {
    if (cell < MIN_READABLE_CELL_WIDTH || maxCells < MIN_READABLE_CELL_WIDTH) continue;
    if (lastingStorageLives.length > sizes.length * 8) break;
    const columns = oneColumnPerStorage(run, lastingStorageLives, margins, code + 14, { cell, most: maxCells });
    if (columns.right > maxWidth) continue;
    const plan = assembleLoom(run, { columns, unnamed: null, code, room: stageWidth, stacked, bounded: false });
    if (plan.width <= (cell === sizes[0][0] ? stageWidth : maxWidth)) return plan;
  }
  const slimCodeWidth = stacked ? 8 : loomCodeWidth(run, stageWidth, MAX_CODE_WIDTH_SHARE.slim);
  return assembleLoom(
    run,
    columnsOfBoundedWidth(run, lastingStorageLives, margins, { code: slimCodeWidth, room: stageWidth, stacked }),
  );
}

/** Columns of bounded width: groups that give way to each other, and one column for all that never had a name. */
function columnsOfBoundedWidth(
  runRows: LoomRows,
  lives: StorageLifetime[],
  margins: RailMargins,
  { code, room: width, stacked }: { code: number; room: number; stacked: boolean },
): LoomArrangement {
  const namedLives = lives.filter(({ uid }) => runRows.storageNames.has(uid));
  const unnamed = unnamedStoragesColumn(
    runRows,
    lives.filter(({ uid }) => !runRows.storageNames.has(uid)),
  );
  if (unnamed && stacked) unnamed.w = UNNAMED_COLUMN_WIDTH_STACKED;
  const unnamedWidth = unnamed?.w ?? 0;
  const touches = storagesTouchedByRow(runRows);
  const memoryWidth = width - code - 14 - unnamedWidth - 10 - estimateLoomGraphWidth(runRows, width, stacked);
  let cheapest: { columns: StorageColumns; cost: number } | null = null;
  for (const [cell, maxCells] of stacked ? CELL_SIZES_WITH_CODE_ABOVE : CELL_SCALES) {
    const widest = Math.max(memoryWidth * 0.4, MIN_COLUMN_WIDTH);
    const groups = groupColumns(namedLives, runRows.storageNames, margins, {
      cell,
      most: maxCells,
      widest,
      slim: true,
    });
    const columns = timeSharedColumns(groups, touches, code + 14, Math.max(memoryWidth, ...groups.map(groupWidth)));
    const cost =
      columns.missingRoomPerRow() +
      (1 - shareOfRowsThatFit(groups, touches, memoryWidth, RECENT_ROW_COUNT)) *
        (cell > COMFORTABLE_CELL_WIDTH ? RECENT_ROWS_WEIGHT : 0);
    if (
      !cheapest ||
      cost <
        cheapest.cost * (maxCells < MIN_READABLE_CELL_WIDTH ? UNREADABLE_CELLS_COST_RATIO : SMALLER_CELLS_COST_RATIO)
    )
      cheapest = { columns, cost };
    if (cost <= 1 - SUFFICIENT_ROW_SHARE) break;
  }
  const columns = cheapest?.columns ?? timeSharedColumns([], touches, code + 14, memoryWidth);
  if (unnamed) {
    unnamed.x = columns.right;
    columns.right += unnamed.w;
  }
  return { columns, unnamed, code, room: width, stacked, bounded: true };
}

/** The plan with these columns. */
function assembleLoom(
  runRows: LoomRows,
  { columns, unnamed, code, room, stacked, bounded }: LoomArrangement,
): LoomPlan {
  const { right } = columns;
  const plan: LoomPlan = {
    run: runRows,
    rows: [],
    shelves: [],
    ends: new Set(columns.allColumns.flatMap(({ uid }) => rowsFreeingStorage(runRows, uid))),
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
    code,
    graph: { x: right + 10, w: 16, names: 0, short: stacked || bounded, chars: 30 },
    stacked,
    width: 0,
    height: 0,
  };
  let y = LOOM_HEADER_HEIGHT;
  runRows.rows.forEach((row, r) => {
    y = placeLoomRow(plan, row, r, y, room);
  });
  plan.height = y;
  layoutLoomGraph(plan, bounded ? room : null);
  layoutLoomPins(plan);
  return plan;
}

/** The row that freed a storage. */
function rowsFreeingStorage({ storages }: LoomRows, uid: string) {
  const life = storages.get(uid);
  return life?.freed ? [life.death] : [];
}

/** `maxShare` is a share of the room. */
function loomCodeWidth(runRows: LoomRows, stageWidth: number, maxShare: number) {
  let longest = 0;
  for (const row of runRows.rows)
    for (const line of row.code)
      longest = Math.max(longest, textWidth(line, 12.5) + row.inset * 10 + row.turn.length * 7);
  return Math.round(Math.min(330, Math.max(200, stageWidth * maxShare), Math.max(190, longest + 62)));
}
