/** What the memory pane draws at a step, each line with its height and what of it is open, before it has a place. */

import { lineLabel } from "../trace/program_files.ts";
import { allocatorLayout } from "./allocator.ts";
import { flowChips, headingChips } from "./heading_chips.ts";
import { memoryItems } from "./memory_items.ts";
import { chooseLevels } from "./memory_levels.ts";
import { EM, textWidth, truncate } from "./metrics.ts";
import type { Entity } from "../trace/entities.ts";
import type { Columns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { MemoryItem, HeadingItem, ShownName, PlacedItem } from "./memory_parts.ts";

/** The room of the count of a heading's folded rows. */
const FOLDED_COUNT_WIDTH = 92;

export const HEIGHT = { heading: 22, line: 18, fold: 20, rule: 7, top: 4 };

/** What is drawn at a step, each with its height. @param items those of the step */
export function placeItems(
  memoryStep: MemoryStep,
  columns: Columns,
  maxHeight: number,
  items: MemoryItem[] = memoryItems(memoryStep),
): PlacedItem[] {
  const placed = items.map((item) => {
    const place = {
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
    if (item.kind === "rule") place.h = HEIGHT.rule;
    else if (item.kind === "fold" || item.kind === "ghosts") place.h = HEIGHT.fold;
    else if (item.kind === "heading") placeChips(memoryStep, place, item, columns);
    else if (item.kind === "allocator") {
      place.allocator = allocatorLayout(memoryStep, item, columns);
      place.h = place.allocator.h;
    }
    return place;
  });
  chooseLevels(memoryStep, placed, columns, maxHeight - 2 * HEIGHT.top);
  for (const place of placed)
    if (place.item.kind === "heading" && place.folded.length) placeChips(memoryStep, place, place.item, columns);
  return placed;
}

function placeChips(memoryStep: MemoryStep, place: PlacedItem, item: HeadingItem, columns: Columns) {
  place.chipX = chipsStart(memoryStep, item, columns);
  const isOpen = memoryStep.options.toggled.has(`items ${item.uid}`);
  const right = columns.w - 16 - (place.folded.length ? FOLDED_COUNT_WIDTH : 0);
  place.chips = flowChips(headingChips(memoryStep, item), place.chipX, right, columns.names + 24, isOpen);
  place.h = HEIGHT.heading + (place.chips.lines - 1) * HEIGHT.line;
}

/** Where a heading's chips begin: after its names and its type. */
function chipsStart(memoryStep: MemoryStep, item: HeadingItem, columns: Columns) {
  const entity = memoryStep.entities.get(item.uid);
  if (item.type === "frame") {
    const line = lineLabel("line", entity?.kind === "frame" ? entity.line : null);
    return columns.names + 4 + textWidth(frameTitle(item, columns), 12) + textWidth(line, 10) + 26;
  }
  const { end } = headingNames(item, columns);
  return end + textWidth(headingTitle(entity, end, columns), 10.5) + 14;
}

/** The room at a heading's right end for how many chips there are. */
const CHIP_COUNT_WIDTH = 46;

/** A function's name, as far as its heading has room. */
export function frameTitle(item: HeadingItem, columns: Columns) {
  return truncate(
    item.section,
    Math.max(6, Math.floor((columns.w - 70 - CHIP_COUNT_WIDTH - columns.names) / (EM * 12))),
  );
}

/**
 * What a heading says of an object's type after its names.
 * @param end of the names
 * @returns empty where there is no room for it
 */
export function headingTitle(entity: Entity | undefined, end: number, columns: Columns): string {
  const maxChars = Math.floor((columns.w - CHIP_COUNT_WIDTH - end) / (EM * 10.5));
  const text = headingType(entity);
  return text.length <= maxChars ? text : maxChars > 4 ? truncate(text, maxChars) : "";
}

/** A heading's names in its line, and how many have no room. */
export function headingNames(item: HeadingItem, columns: Columns) {
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
  return { left: leftEdge, placed, hidden, end: x + (hidden.length ? 22 : 0) };
}

function headingNameWidth(name: ShownName) {
  return Math.ceil(textWidth(name.text, 11.5) + (name.scope ? textWidth(name.scope, 8.5) + 5 : 0) + 17);
}

/** What a heading calls an object. */
function headingType(entity: Entity | undefined) {
  if (entity?.kind !== "object") return "";
  return `${entity.type ?? "object"}${entity.len === undefined ? "" : ` · ${entity.len}`}`;
}
