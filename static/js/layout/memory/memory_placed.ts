/** What the memory pane draws at a step, each line with its height and what of it is open, before it has a place. */

import { truncateText } from "../../trace/format.ts";
import { lineLabel } from "../../trace/program_files.ts";
import { layoutAllocator } from "./allocator.ts";
import { wrapValueChips, headingValueChips } from "./heading_chips.ts";
import { memoryItems } from "./memory_items.ts";
import { chooseRowLevels } from "./memory_levels.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../text/metrics.ts";
import type { Entity } from "../../trace/entities.ts";
import type { MemoryColumns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { MemoryItem, HeadingItem, ShownName, PlacedItem } from "./memory_parts.ts";

/** The room of the count of a heading's folded rows. */
const FOLDED_ROW_COUNT_WIDTH = 98;

export const MEMORY_ITEM_HEIGHTS = { heading: 22, line: 18, fold: 20, rule: 7, top: 4 };

/** The items that are drawn at a step, each with its height. */
export function placeMemoryItems(
  memoryStep: MemoryStep,
  columns: MemoryColumns,
  maxHeight: number,
  items: MemoryItem[] = memoryItems(memoryStep),
): PlacedItem[] {
  const placed = items.map((item) => {
    const placedItem = {
      item,
      y: 0,
      h: 0,
      layout: null,
      hidden: false,
      chips: null,
      chipX: 0,
      folded: [],
      pins: null,
    } as PlacedItem;
    if (item.kind === "rule") placedItem.h = MEMORY_ITEM_HEIGHTS.rule;
    else if (item.kind === "fold") placedItem.h = MEMORY_ITEM_HEIGHTS.fold;
    else if (item.kind === "heading") placeHeadingChips(memoryStep, placedItem, item, columns);
    else if (item.kind === "allocator") {
      placedItem.allocator = layoutAllocator(memoryStep, item, columns);
      placedItem.h = placedItem.allocator.h;
    }
    return placedItem;
  });
  chooseRowLevels(memoryStep, placed, columns, maxHeight - 2 * MEMORY_ITEM_HEIGHTS.top);
  for (const placedItem of placed)
    if (placedItem.item.kind === "heading" && placedItem.folded.length)
      placeHeadingChips(memoryStep, placedItem, placedItem.item, columns);
  return placed;
}

function placeHeadingChips(memoryStep: MemoryStep, placedItem: PlacedItem, item: HeadingItem, columns: MemoryColumns) {
  placedItem.chipX = headingChipsX(memoryStep, item, columns);
  const isOpen = memoryStep.options.toggled.has(`items ${item.uid}`);
  const right = columns.w - 16 - (placedItem.folded.length ? FOLDED_ROW_COUNT_WIDTH : 0);
  placedItem.chips = wrapValueChips(
    headingValueChips(memoryStep, item),
    placedItem.chipX,
    right,
    columns.names + 24,
    isOpen,
  );
  placedItem.h = MEMORY_ITEM_HEIGHTS.heading + (placedItem.chips.lines - 1) * MEMORY_ITEM_HEIGHTS.line;
}

/** Where a heading's chips begin: after its names and its type. */
function headingChipsX(memoryStep: MemoryStep, item: HeadingItem, columns: MemoryColumns) {
  const entity = memoryStep.entities.get(item.uid);
  if (item.type === "frame") {
    const line = lineLabel("line", entity?.kind === "frame" ? entity.line : null);
    return (
      columns.names +
      4 +
      textWidth(frameTitleThatFits(item, columns), FONT_SIZES.small) +
      textWidth(line, FONT_SIZES.small) +
      26
    );
  }
  const { end } = headingNamesThatFit(item, columns);
  return end + textWidth(headingTypeTitle(entity, end, columns), FONT_SIZES.small) + 14;
}

/** The room at a heading's right end for how many chips there are. */
const CHIP_COUNT_WIDTH = 46;

/** A function's name, as far as its heading has room. */
export function frameTitleThatFits(item: HeadingItem, columns: MemoryColumns) {
  return truncateText(
    item.section,
    Math.max(
      6,
      Math.floor((columns.w - 70 - CHIP_COUNT_WIDTH - columns.names) / (CHARACTER_WIDTH_EM * FONT_SIZES.small)),
    ),
  );
}

/**
 * What a heading says of an object's type after its names, which reach to `end`; empty where there is no room for it.
 */
export function headingTypeTitle(entity: Entity | undefined, end: number, columns: MemoryColumns): string {
  const maxChars = Math.floor((columns.w - CHIP_COUNT_WIDTH - end) / (CHARACTER_WIDTH_EM * FONT_SIZES.small));
  const text = objectTypeTitle(entity);
  return text.length <= maxChars ? text : maxChars > 4 ? truncateText(text, maxChars) : "";
}

/** A heading's names in its line, and how many have no room. */
export function headingNamesThatFit(item: HeadingItem, columns: MemoryColumns) {
  const leftEdge = columns.names + 14 + item.indent * 12;
  const right = columns.w - CHIP_COUNT_WIDTH - 14;
  const placed = [];
  let x = leftEdge;
  for (const name of item.names) {
    const w = Math.min(headingNameWidth(name), right - leftEdge);
    if (placed.length && x + w > right) break;
    placed.push({ name, x, w });
    x += w + 5;
  }
  const hidden = item.names.slice(placed.length);
  return { left: leftEdge, placed, hidden, end: x + (hidden.length ? 26 : 0) };
}

function headingNameWidth(name: ShownName) {
  return Math.ceil(
    textWidth(name.text, FONT_SIZES.small) + (name.scope ? textWidth(name.scope, FONT_SIZES.small) + 5 : 0) + 17,
  );
}

/** What a heading calls an object. */
function objectTypeTitle(entity: Entity | undefined) {
  if (entity?.kind !== "object") return "";
  return `${entity.type ?? "object"}${entity.len === undefined ? "" : ` · ${entity.len}`}`;
}
