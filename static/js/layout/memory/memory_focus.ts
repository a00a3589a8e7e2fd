/**
 * The memory pane of a run with more names than have rows: the list of all names, and beside it what the step touched.
 */

import { frameValueChips } from "./heading_chips.ts";
import { memoryAnchorRects, touchedMemoryRects } from "./memory_anchors.ts";
import { memoryRowBlocks } from "./memory_blocks.ts";
import { FOCUS_CELLS, layoutFocusColumns, type MemoryColumns } from "./memory_columns.ts";
import { memoryItems } from "./memory_items.ts";
import { findMemoryList } from "./memory_list.ts";
import { listAtStep, uidsOfBlock, uidsOfEntry, type ListAtStep, type ListEntry } from "./memory_list_step.ts";
import { MEMORY_ITEM_HEIGHTS, placeMemoryItems } from "./memory_placed.ts";
import { isEntityInRow } from "./memory_levels.ts";
import { namesOfHandle } from "./pane_names.ts";
import { stateOwnerOfPath } from "./name_lines.ts";
import { placeRowPins } from "./row_pins.ts";
import type { MemoryItem, PlacedItem, RowBlock, RowItem, RowLayout, StatesItem } from "./memory_parts.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { PaneRoom, Rect } from "../pane.ts";

/** a line from the list to what of it is open beside it */
interface ListJoin {
  key: string;
  from: ListEntry;
  /** of what is open, in the pane */
  y: number;
}

export interface MemoryOverview extends ListAtStep {
  joins: ListJoin[];
  /** uids of frames and objects that are open beside it */
  open: ReadonlySet<string>;
  /** where what the step touched begins */
  left: number;
}

/** Of what the step's operations used, so many things at most stand below what it touched. */
const MAX_USED_ROWS = 3;
/** Between two things that are open. */
const FOCUS_GAP = 6;
const FOCUS_BOTTOM = 6;
/** What a named thing takes at least. */
const NAMED_LINE_HEIGHT = 27;
const STATES_FOLD_KEY = "rows states";

/** Heights in the pane: where the focus begins, and where the pane ends. */
interface FocusRoom {
  top: number;
  h: number;
}

export function layoutMemoryOverview(
  memoryStep: MemoryStep,
  { w, h, overview }: PaneRoom & { overview: NonNullable<PaneRoom["overview"]> },
) {
  const { homes } = memoryStep;
  const rowBlocks = memoryRowBlocks(memoryStep);
  const list = findMemoryList(memoryStep.model, overview.w, h);
  const atStep = listAtStep(memoryStep, list, rowBlocks);
  const columns = layoutFocusColumns(homes, overview.w, w - overview.w, overview.usual ?? w - overview.w);
  const all = memoryItems(memoryStep, rowBlocks);
  const items = withoutStatesBeyond(h - overview.top, focusItems(memoryStep, all), memoryStep.options.toggled);
  const room = { top: overview.top, h };
  const placed = withUsedRows(memoryStep, placeFocusInItsHeight(memoryStep, items, columns, room), all, columns, room);
  for (const place of placed)
    if (place.item.kind === "row" && place.layout)
      place.pins = placeRowPins(memoryStep, place.item.block, place.layout, columns);
  const { anchors, folds } = memoryAnchorRects(placed, columns);
  addListAnchors(anchors, folds, atStep);
  const main = [...memoryStep.entities].find(([, entity]) => entity.kind === "frame" && !entity.caller)?.[0] ?? null;
  const end = Math.max(h, list.height, ...placed.map((place) => place.y + place.h + FOCUS_BOTTOM));
  return {
    height: end,
    anchors,
    folds,
    focus: touchedMemoryRects(placed, columns),
    still: false,
    staying: { from: 0, to: overview.w },
    columns,
    placed,
    values: main ? frameValueChips(memoryStep, main) : [],
    main,
    step: memoryStep,
    overview: { ...atStep, joins: joinsOf(placed, atStep), open: openHeadings(placed), left: overview.w },
  };
}

/** What of a step's items is shown beside the list: what it touched, what is broken, and what the reader chose. */
function focusItems(memoryStep: MemoryStep, items: MemoryItem[]): MemoryItem[] {
  const { selected, toggled, told } = memoryStep.options;
  const out = [] as MemoryItem[];
  const states = new Map<string, StatesItem>();
  for (const item of items) {
    if (item.kind === "allocator") out.push(item);
    else if (item.kind === "heading" && (item.hot || item.uid === selected)) out.push(item);
    if (item.kind !== "row") continue;
    const { block } = item;
    const isTold = told !== undefined && uidsOfBlock(block).some((uid) => told.has(uid));
    const isShown =
      block.hot || block.broken || isTold || isEntityInRow(item, selected) || (item.small && toggled.has("nameless"));
    if (block.state) addState(states, out, block);
    else if (isShown) out.push(inFocus(memoryStep, item));
  }
  return out;
}

/**
 * What the step touched (`placed`), and below it what its operations used of `all` items of the step, where all of that
 * has room as well.
 */
function withUsedRows(
  memoryStep: MemoryStep,
  placed: PlacedItem[],
  all: MemoryItem[],
  columns: MemoryColumns,
  room: FocusRoom,
): PlacedItem[] {
  const touched = placed.map(({ item }) => item);
  if (placed.some(({ item, hidden }) => hidden || item.kind !== "row")) return placed;
  const shown = new Set(touched.flatMap((item) => (item.kind === "row" ? [item.block.key] : [])));
  const used = namedRowsUsed(memoryStep, all).filter(({ block }) => !shown.has(block.key));
  const chosen = columns.cells;
  const cutBefore = placed.map(({ layout }) => !layout || isAnyCut(layout));
  const isRoomFor = (together: PlacedItem[]) => {
    const last = together[together.length - 1];
    const isWhole = together.every(
      ({ item, layout }, k) =>
        item.kind === "used" || (layout?.level === "full" && (!isAnyCut(layout) || (cutBefore[k] ?? true))),
    );
    return isWhole && last.y + last.h <= room.h - FOCUS_BOTTOM;
  };
  for (let count = Math.min(MAX_USED_ROWS, used.length); count > 0; count -= 1) {
    const rows = used.slice(0, count).map((item) => ({ ...inFocus(memoryStep, item), used: true }));
    for (const cells of chosen === FOCUS_CELLS.large ? [chosen, FOCUS_CELLS.roomy, FOCUS_CELLS.usual] : [chosen]) {
      columns.cells = cells;
      const together = placeFocus(memoryStep, [...touched, { kind: "used", key: "used" }, ...rows], columns, room);
      if (isRoomFor(together)) return together;
    }
  }
  columns.cells = chosen;
  return placed;
}

/** The rows with a name whose tensors the step's operations used, in the order of the names. */
function namedRowsUsed({ snapshot }: MemoryStep, items: MemoryItem[]): RowItem[] {
  const inputs = new Set<string>();
  for (const entry of snapshot.step?.log ?? [])
    if (entry.kind === "op") for (const uid of entry.inputs) inputs.add(uid);
  if (!inputs.size) return [];
  return items.filter(
    (item): item is RowItem =>
      item.kind === "row" &&
      item.block.names.size > 0 &&
      !item.block.state &&
      item.block.uids.some((uid) => inputs.has(uid)),
  );
}

/** A row as it stands in the focus. */
function inFocus(memoryStep: MemoryStep, item: RowItem): RowItem {
  return { ...item, block: withWholeNames(memoryStep, item.block), indent: 0, section: "", small: false };
}

/** Beside the list there are no headings that a name could leave to them what it begins with. */
function withWholeNames(memoryStep: MemoryStep, block: RowBlock): RowBlock {
  const names = new Map(
    [...block.names].map(([uid, list]) => [
      uid,
      namesOfHandle(
        memoryStep,
        uid,
        list.map(({ tag }) => tag),
        "",
      ),
    ]),
  );
  return { ...block, names };
}

function addState(states: Map<string, StatesItem>, out: MemoryItem[], block: RowBlock) {
  const { key, owner, kind } = stateOwnerOfPath(block.state?.text ?? "");
  let item = states.get(key);
  if (!item) {
    item = { kind: "states", key, label: owner, states: [] };
    states.set(key, item);
    out.push(item);
  }
  item.states.push({ kind, block });
}

/** Of an optimizer's own tensors as many lines as the named ones leave room for; the others are counted. */
function withoutStatesBeyond(room: number, items: MemoryItem[], toggled: ReadonlySet<string>): MemoryItem[] {
  const states = items.filter((item) => item.kind === "states");
  const others = items.length - states.length;
  const most = Math.max(1, Math.floor((room - others * NAMED_LINE_HEIGHT) / MEMORY_ITEM_HEIGHTS.states) - 2);
  if (states.length <= most || toggled.has(STATES_FOLD_KEY)) return items;
  const hidden = new Set<MemoryItem>(states.slice(most));
  const blocks = states.slice(most).flatMap(({ states: own }) => own.map(({ block }) => block));
  const fold: MemoryItem = { kind: "fold", key: STATES_FOLD_KEY, blocks, foldKind: "touched" };
  return [...items.filter((item) => !hidden.has(item)), fold];
}

/** One or two small things have large cells, if all of them are in sight then; three have more than many have. */
function placeFocusInItsHeight(
  memoryStep: MemoryStep,
  items: MemoryItem[],
  columns: MemoryColumns,
  focusRoom: FocusRoom,
): PlacedItem[] {
  const rows = items.filter((item) => item.kind === "row").length;
  const isFew = rows === items.length && rows <= 2;
  for (const cells of [...(isFew ? [FOCUS_CELLS.large] : []), ...(rows <= 3 ? [FOCUS_CELLS.usual] : [])]) {
    columns.cells = cells;
    const placed = placeFocus(memoryStep, items, columns, focusRoom);
    const isWhole = placed.every(
      ({ layout, hidden }) =>
        !hidden && (!layout || (layout.level === "full" && (cells !== FOCUS_CELLS.large || !isAnyCut(layout)))),
    );
    if (isWhole) return placed;
  }
  columns.cells = FOCUS_CELLS.many;
  return placeFocus(memoryStep, items, columns, focusRoom);
}

/** Whether there are cells in a row that are not drawn. */
function isAnyCut({ strip, lines }: RowLayout) {
  return [strip, ...lines.flatMap(({ grad }) => (grad?.strip ? [grad.strip] : []))].some(({ bands }) =>
    bands.some(({ every, unread }) => every !== undefined && !unread),
  );
}

/** Gives each its height and its place. */
function placeFocus(
  memoryStep: MemoryStep,
  items: MemoryItem[],
  columns: MemoryColumns,
  { top, h }: FocusRoom,
): PlacedItem[] {
  const room = h - top - FOCUS_BOTTOM - FOCUS_GAP * Math.min(6, items.length);
  const placed = placeMemoryItems(memoryStep, columns, room, items);
  let y = top;
  const shown = placed.filter(({ hidden }) => !hidden);
  for (const place of placed) {
    if (place.item.kind === "fold") place.item.foldKind = "touched";
    place.y = y;
    if (!place.hidden) y += place.h;
  }
  const spare = h - FOCUS_BOTTOM - y;
  const gap = Math.max(0, Math.min(FOCUS_GAP, spare / Math.max(1, shown.length - 1)));
  shown.forEach((place, k) => {
    place.y += k * gap;
  });
  return placed;
}

/** Where the list stands for what is not open beside it. */
function addListAnchors(anchors: Map<string, Rect>, folds: Map<string, string>, { list, entries, rest }: ListAtStep) {
  for (const entry of entries) {
    const { line } = entry;
    const rect = { x: line.x, y: line.y, w: list.w, h: list.lineHeight };
    for (const uid of uidsOfEntry(entry)) if (!anchors.has(uid)) anchors.set(uid, rect);
  }
  for (const block of rest) for (const uid of uidsOfBlock(block)) if (!anchors.has(uid)) folds.set(uid, "nameless");
  for (const uid of [...folds.keys()]) if (anchors.has(uid)) folds.delete(uid);
}

/** From each line to what of it is open. */
function joinsOf(placed: PlacedItem[], { entries }: ListAtStep): ListJoin[] {
  const entryByBlock = new Map<string, ListEntry>();
  const entryByContainer = new Map<string, ListEntry>();
  for (const entry of entries) {
    for (const { key } of entry.blocks) if (!entryByBlock.has(key)) entryByBlock.set(key, entry);
    if (entry.container) entryByContainer.set(entry.container, entry);
  }
  return placed.flatMap(({ item, y, h, hidden, layout }) => {
    if (hidden) return [];
    const key = item.kind === "row" ? item.block.key : item.kind === "states" ? (item.states[0]?.block.key ?? "") : "";
    const from = item.kind === "heading" ? entryByContainer.get(item.uid) : entryByBlock.get(key);
    return from ? [{ key: item.key, from, y: y + (layout?.head ? 18 : Math.min(h, 24) / 2) }] : [];
  });
}

function openHeadings(placed: PlacedItem[]): Set<string> {
  return new Set(placed.flatMap(({ item, hidden }) => (item.kind === "heading" && !hidden ? [item.uid] : [])));
}
