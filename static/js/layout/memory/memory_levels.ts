/**
 * Which rows of the memory pane are open: first what the step touched, then what is broken, then what was touched last.
 */

import { layoutRow, collapsedRowHeight } from "./row_lines.ts";
import type { MemoryColumns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { PlacedItem, RowItem, RowBlock } from "./memory_parts.ts";

interface Candidate {
  placed: PlacedItem;
  item: RowItem;
  slim: number;
  hot: boolean;
  seen: number;
  at: number;
}

/** Untouched rows beyond which what was touched gets its open rows before they get their closed ones. */
const MAX_UNCROWDED_ROWS = 14;
/**
 * Where rows are folded, the others that were left alone have this share of the height at most, and stay closed: as
 * many at each step, so that what a step touched opens where the last one's closes, and no other row comes or goes.
 */
const UNTOUCHED_ROWS_HEIGHT_SHARE = 0.66;

/** So many of the rows that the step touched stay where there is no room for them: the pane is scrolled to them. */
const MIN_UNFOLDED_TOUCHED_ROWS = 3;

/** Heights and levels of all rows, so that they fit into the room where that is possible. */
export function chooseRowLevels(
  memoryStep: MemoryStep,
  placed: PlacedItem[],
  columns: MemoryColumns,
  maxHeight: number,
) {
  const { selected } = memoryStep.options;
  const rows = [] as Candidate[];
  placed.forEach((placedItem, index) => {
    const { item } = placedItem;
    if (item.kind !== "row") return;
    const slim = collapsedRowHeight(memoryStep, item, columns);
    const { block } = item;
    const hot = block.hot || isEntityInRow(item, selected);
    rows.push({
      placed: placedItem,
      item,
      slim,
      hot,
      seen: hot ? memoryStep.index : lastTouchedStep(memoryStep, block),
      at: index,
    });
  });
  const fixedHeight = placed.reduce((sum, placedItem) => sum + placedItem.h, 0);
  const order = [...rows].sort(compareRowPriority);
  const freeHeight =
    maxHeight - fixedHeight - foldRowsWithoutRoom(memoryStep, placed, rows, order, maxHeight - fixedHeight, columns);
  openRowsThatFit(memoryStep, order, columns, freeHeight);
}

/** Whether something is in a row. */
function isEntityInRow({ block }: RowItem, uid: string | null) {
  return uid !== null && [block, ...block.grads.values()].some(({ uids }) => uids.includes(uid));
}

/** The last step that touched a row, or a gradient in it. */
function lastTouchedStep(memoryStep: MemoryStep, block: RowBlock) {
  let lastStep = -1;
  for (const uid of block.uids)
    lastStep = Math.max(lastStep, memoryStep.model.history.lastTouchStep(uid, memoryStep.index));
  for (const grad of block.grads.values()) lastStep = Math.max(lastStep, lastTouchedStep(memoryStep, grad));
  return lastStep;
}

function compareRowPriority(a: Candidate, b: Candidate) {
  const [blockA, blockB] = [a.item.block, b.item.block];
  return (
    Number(b.hot) - Number(a.hot) ||
    blockB.heat - blockA.heat ||
    Number(blockB.broken) - Number(blockA.broken) ||
    Number(isNameless(a)) - Number(isNameless(b)) ||
    b.seen - a.seen ||
    a.at - b.at
  );
}

function isNameless({ item }: Candidate) {
  return item.small || !item.block.names.size;
}

/**
 * Folds the rows that were left alone longest, while not even closed ones fit, and those that the reader folded.
 * `order` is by claim. Returns what the closed rows take.
 */
function foldRowsWithoutRoom(
  memoryStep: MemoryStep,
  placed: PlacedItem[],
  rows: Candidate[],
  order: Candidate[],
  maxHeight: number,
  columns: MemoryColumns,
): number {
  let usedHeight = rows.reduce((sum, row) => sum + row.slim, 0);
  const untouchedCount = rows.filter((row) => !row.hot).length;
  const isCrowded = untouchedCount > MAX_UNCROWDED_ROWS;
  const touchedHeight = isCrowded ? Math.min(maxHeight / 2, extraHeightOfTouchedRows(memoryStep, rows, columns)) : 0;
  const fixedHeight = placed.reduce((sum, placedItem) => sum + placedItem.h, 0);
  const touchedSlimHeight = rows.reduce((sum, row) => sum + (row.hot ? row.slim : 0), 0);
  const maxUntouched = isCrowded
    ? Math.min(maxHeight - touchedHeight, (maxHeight + fixedHeight) * UNTOUCHED_ROWS_HEIGHT_SHARE + touchedSlimHeight)
    : maxHeight;
  const isTooHigh = usedHeight > maxHeight;
  const hidden = new Map<string, Candidate[]>();
  const headings = headingsBySection(placed);
  let lineForRest = 0;
  const leastImportant = [...order].reverse();
  const keptRows = new Set(order.filter(({ hot }) => hot).slice(0, MIN_UNFOLDED_TOUCHED_ROWS));
  for (const row of [...leastImportant.filter(({ hot }) => !hot), ...leastImportant.filter(({ hot }) => hot)]) {
    if (keptRows.has(row)) continue;
    if (!isTooHigh || usedHeight <= (row.hot ? maxHeight : maxUntouched)) continue;
    usedHeight -= row.slim;
    const { section } = row.item;
    if (!headings.has(section) && !lineForRest) usedHeight += lineForRest = 20;
    hidden.set(section, [...(hidden.get(section) ?? []), row]);
  }
  for (const key of memoryStep.options.toggled) {
    if (!key.startsWith("rows ")) continue;
    const section = key.slice(5);
    if (hidden.has(section)) {
      usedHeight += (hidden.get(section) ?? []).reduce((sum, row) => sum + row.slim, 0);
      hidden.delete(section);
    } else {
      const closedRows = rows.filter((row) => row.item.section === section && !row.hot && !row.item.small);
      if (closedRows.length) hidden.set(section, closedRows);
      usedHeight -= closedRows.reduce((sum, row) => sum + row.slim, 0);
    }
  }
  for (const list of hidden.values()) for (const row of list) row.placed.hidden = true;
  attachHiddenRowsToHeadings(placed);
  return usedHeight;
}

/** What the rows that the step touched take more when they are open. */
function extraHeightOfTouchedRows(memoryStep: MemoryStep, rows: Candidate[], columns: MemoryColumns) {
  let sum = 0;
  for (const { hot, item, slim } of rows) if (hot) sum += layoutRow(memoryStep, item, columns, "full").h - slim;
  return sum;
}

/** The headings that count what they hide, by section. */
function headingsBySection(placed: PlacedItem[]): Map<string, PlacedItem> {
  const out = new Map<string, PlacedItem>();
  for (const placedItem of placed)
    if (placedItem.item.kind === "heading" && placedItem.item.type !== "inner" && !out.has(placedItem.item.section))
      out.set(placedItem.item.section, placedItem);
  return out;
}

/** Headings count the rows that they hide; those without a heading have a line at the end of the named ones. */
function attachHiddenRowsToHeadings(placed: PlacedItem[]) {
  const headings = headingsBySection(placed);
  const withoutHeading = [] as PlacedItem[];
  for (const placedItem of placed) {
    if (!placedItem.hidden || placedItem.item.kind !== "row") continue;
    const heading = headings.get(placedItem.item.section);
    if (heading) heading.folded.push(placedItem);
    else withoutHeading.push(placedItem);
  }
  if (!withoutHeading.length) return;
  const foot = placed.findIndex(({ item }) => item.kind === "rule" || item.kind === "allocator");
  const blocks = withoutHeading.flatMap(({ item }) => (item.kind === "row" ? [item.block] : []));
  placed.splice(foot < 0 ? placed.length : foot, 0, {
    item: { kind: "fold", key: "rows ", blocks, foldKind: "rows" },
    y: 0,
    h: 20,
    layout: null,
    hidden: false,
    chips: null,
    chipX: 0,
    folded: withoutHeading,
    pins: null,
  });
}

/** Open what there is room for, by claim; the others are closed. */
function openRowsThatFit(memoryStep: MemoryStep, order: Candidate[], columns: MemoryColumns, freeHeight: number) {
  let heightLeft = freeHeight;
  const hasFolded = order.some(({ placed, hot }) => placed.hidden && !hot);
  for (const { placed, item, slim, hot } of order) {
    if (placed.hidden) continue;
    if (hot || item.block.broken || !(item.small || hasFolded))
      for (const level of ["full", "tight"] as const) {
        if (heightLeft <= 0) break;
        const layout = layoutRow(memoryStep, item, columns, level);
        if (layout.h - slim > heightLeft) continue;
        placed.layout = layout;
        heightLeft -= layout.h - slim;
        break;
      }
    placed.layout ??= layoutRow(memoryStep, item, columns, "slim");
    placed.h = placed.layout.h;
  }
}
