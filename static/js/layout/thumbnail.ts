/** Small pictures of memory: of an operation, the closed rows of what the last step of its statement touched; of a
 * scenario, those of one step, and the others beside them while there is room. */

import { isHandle } from "../trace/entities.ts";
import { layoutMemoryColumns, type MemoryColumns } from "./memory/memory_columns.ts";
import { memoryItems } from "./memory/memory_items.ts";
import { buildMemoryModel } from "./memory/memory_pane.ts";
import { MemoryStep, type MemoryModel } from "./memory/memory_step.ts";
import { FONT_SIZES, textWidth } from "./text/metrics.ts";
import { DEFAULT_PANE_OPTIONS } from "./pane.ts";
import { layoutRow } from "./memory/row_lines.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { RowLayout, RowItem, RowBlock } from "./memory/memory_parts.ts";

interface PlacedRow {
  item: RowItem;
  y: number;
  layout: RowLayout;
}

export interface Thumbnail {
  /** the step */
  i: number;
  columns: MemoryColumns;
  rows: PlacedRow[];
  /** width, height: in units */
  width: number;
  height: number;
  /** rows that there is no room for */
  more: number;
}

/** Units of a thumbnail; the palette shows it smaller. One row that is higher makes it higher. */
const THUMBNAIL_SIZE = { width: 408, height: 85 };
/** Units that a still has room for, and those that it has at least: few rows are shown larger. */
const SNAPSHOT_SIZE = { height: 126, least: { width: 264, height: 64 } };
const THUMBNAIL_PADDING = 3;
const THUMBNAIL_NAMES_WIDTH = { least: 18, most: 70 };
const THUMBNAIL_SHAPE_WIDTH = { least: 30, most: 84 };
const THUMBNAIL_COUNTER_WIDTH = 22;
/** Between a value and its gradient: the room of the gradient's counter. */
const THUMBNAIL_GRADIENT_GAP = 27;
/** No row is lower. */
const MIN_THUMBNAIL_ROW_HEIGHT = 24;
/** Beside the widest strip, without which its cells would get narrower. */
const THUMBNAIL_SPARE_WIDTH = 12;
/** Between two rows. */
const THUMBNAIL_ROW_GAP = 3;

/** The last statement of the opened program is the operation's. */
export function layoutThumbnail(opened: OpenTrace): Thumbnail {
  const model = buildMemoryModel(opened);
  const { i, items } = lastStepTouchingRows(opened, model);
  const minSize = { width: THUMBNAIL_SIZE.width, height: THUMBNAIL_SIZE.height };
  return layoutLastRowsThatFit(model, i, items, THUMBNAIL_SIZE.height, minSize);
}

export function layoutSnapshot(opened: OpenTrace, i: number): Thumbnail {
  const model = buildMemoryModel(opened);
  const items = memoryRowItems(model, i);
  const maxRows = Math.max(1, Math.floor(SNAPSHOT_SIZE.height / MIN_THUMBNAIL_ROW_HEIGHT));
  const shownItems = [...items.filter(({ block }) => block.hot), ...items.filter(({ block }) => !block.hot)].slice(
    0,
    maxRows,
  );
  return layoutLastRowsThatFit(
    model,
    i,
    items.filter((item) => shownItems.includes(item)),
    SNAPSHOT_SIZE.height,
    SNAPSHOT_SIZE.least,
  );
}

/** The last of the rows that there is room for, in the middle of the height. */
function layoutLastRowsThatFit(
  model: MemoryModel,
  i: number,
  items: RowItem[],
  maxHeight: number,
  minSize: { width: number; height: number },
): Thumbnail {
  const memoryStep = new MemoryStep(model, i, DEFAULT_PANE_OPTIONS);
  let columns = thumbnailColumns(model, memoryStep, items);
  let placed = placeThumbnailRows(memoryStep, items, columns);
  if (minSize.width < THUMBNAIL_SIZE.width && columns.gradW) {
    const stripWidth = Math.min(
      columns.stripW,
      Math.max(...placed.map(({ layout }) => layout.strip.w)) + THUMBNAIL_SPARE_WIDTH,
    );
    columns = {
      ...columns,
      stripW: stripWidth,
      fullStripW: stripWidth,
      grad: columns.strip + stripWidth + THUMBNAIL_GRADIENT_GAP,
    };
    placed = placeThumbnailRows(memoryStep, items, columns);
  }
  let first = Math.max(0, placed.length - 1);
  while (first > 0 && totalRowsHeight(placed.slice(first - 1)) <= maxHeight) first--;
  const rows = placed.slice(first);
  const width = Math.min(
    THUMBNAIL_SIZE.width,
    Math.max(minSize.width, ...rows.map((row) => rowRightEnd(row, columns))),
  );
  const height = Math.max(minSize.height, totalRowsHeight(rows));
  let y = (height - totalRowsHeight(rows)) / 2 + THUMBNAIL_PADDING;
  for (const row of rows) {
    row.y = y;
    y += row.layout.h + THUMBNAIL_ROW_GAP;
  }
  return { i, columns, rows, width, height, more: first };
}

function placeThumbnailRows(memoryStep: MemoryStep, items: RowItem[], columns: MemoryColumns): PlacedRow[] {
  return items.map((item) => ({ item, y: 0, layout: layoutRow(memoryStep, item, columns, "slim") }));
}

/** Where the last cell of a row, or of its gradients, ends. */
function rowRightEnd({ layout }: PlacedRow, columns: MemoryColumns) {
  const grads = layout.lines.flatMap(({ grad }) => (grad?.strip ? [grad.x + grad.strip.w] : []));
  return Math.ceil(Math.max(columns.strip + layout.strip.w, ...grads) + 2 * THUMBNAIL_PADDING);
}

function totalRowsHeight(rows: PlacedRow[]) {
  return rows.reduce(
    (sum, { layout }) => sum + layout.h + THUMBNAIL_ROW_GAP,
    2 * THUMBNAIL_PADDING - THUMBNAIL_ROW_GAP,
  );
}

/** The last step of the last statement, or within it, that touched a row, with those rows; where none did, the last
 * of all with all of its rows. */
function lastStepTouchingRows(opened: OpenTrace, model: MemoryModel): { i: number; items: RowItem[] } {
  const statements = opened.trace.program.statements ?? [];
  const lastStatement = statements.findLastIndex(({ parent }) => parent === null || parent === undefined);
  for (let i = opened.count - 1; i >= 0 && (opened.trace.steps[i].stmt ?? -1) >= lastStatement; i--) {
    const items = memoryRowItems(model, i).filter(({ block }) => block.hot);
    if (items.length) return { i, items };
  }
  const i = opened.count - 1;
  return { i, items: memoryRowItems(model, i) };
}

function memoryRowItems(model: MemoryModel, i: number): RowItem[] {
  return memoryItems(new MemoryStep(model, i, DEFAULT_PANE_OPTIONS)).filter((item) => item.kind === "row");
}

/** Names as wide as the longest, shape, counter, cells, and the gradient's cells where a row has one. */
function thumbnailColumns(model: MemoryModel, memoryStep: MemoryStep, items: RowItem[]): MemoryColumns {
  const widestNames = Math.max(0, ...items.map(({ block }) => longestNameWidth(block)));
  const namesW = Math.round(Math.max(THUMBNAIL_NAMES_WIDTH.least, Math.min(THUMBNAIL_NAMES_WIDTH.most, widestNames)));
  const card = THUMBNAIL_PADDING + namesW + 4;
  const cardW = Math.max(
    THUMBNAIL_SHAPE_WIDTH.least,
    ...items.flatMap(({ block }) => block.uids.map((uid) => shapeTextWidth(memoryStep, uid))),
  );
  const rail = card + cardW + 3;
  const strip = rail + THUMBNAIL_COUNTER_WIDTH + 8;
  const stripsWidth = THUMBNAIL_SIZE.width - strip - THUMBNAIL_PADDING - 2;
  const hasGrads = items.some(({ block }) => block.grads.size > 0);
  const stripW = hasGrads ? Math.floor((stripsWidth - THUMBNAIL_GRADIENT_GAP) / 2) : stripsWidth;
  return {
    ...layoutMemoryColumns(model.firstNames, THUMBNAIL_SIZE.width),
    phone: false,
    names: THUMBNAIL_PADDING,
    namesW,
    card,
    cardW,
    rail,
    railW: THUMBNAIL_COUNTER_WIDTH,
    strip,
    stripW,
    grad: strip + stripW + THUMBNAIL_GRADIENT_GAP,
    gradW: hasGrads ? stripW : 0,
    fullStripW: stripW,
    fullGradW: stripW,
    indent: 0,
  };
}

function longestNameWidth(block: RowBlock) {
  if (!block.names.size) return textWidth(block.purpose?.name || block.label || block.key, 10) + 4;
  const lines = [...block.names.values()].map((list) => list.map(({ text }) => textWidth(text, 11) + 20));
  return Math.max(...lines.map((widths) => widths.reduce((sum, width) => sum + width, 0)));
}

function shapeTextWidth(memoryStep: MemoryStep, uid: string) {
  const handle = memoryStep.entities.get(uid);
  if (!isHandle(handle)) return 0;
  const shape = handle.shape ?? [];
  const words = shape.length > 1 ? shape.join(" × ") : `${shape[0] ?? "one"} numbers`;
  return Math.min(THUMBNAIL_SHAPE_WIDTH.most, Math.ceil(textWidth(words, FONT_SIZES.small)) + 14);
}
