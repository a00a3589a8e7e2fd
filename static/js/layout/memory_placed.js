/** What the memory pane draws at a step, each line with its height and what of it is open, before it has a place. */

import { flowChips, headingChips } from "./heading_chips.js";
import { memoryItems } from "./memory_items.js";
import { fitLevels } from "./memory_levels.js";
import { textWidth } from "./metrics.js";

/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./memory_items.js").MemoryItem} MemoryItem */
/** @typedef {import("./memory_columns.js").Columns} Columns */
/**
 * @typedef {{item: MemoryItem, y: number, h: number, layout: import("./row_lines.js").RowLayout | null, hidden: boolean,
 *   chips: import("./heading_chips.js").ChipFlow | null, chipX: number, folded: PlacedItem[],
 *   pins: import("./row_pins.js").PinFlow | null}} PlacedItem
 *   layout: of a row that is drawn; hidden: it is in a fold. chips: of a heading, from chipX on. folded: of a heading and
 *   of the last line, the rows that it hides
 */

/** The room of the count of a heading's folded rows. */
const FOLDED = 92;

export const HEIGHT = { heading: 22, line: 18, fold: 20, rule: 7, top: 4 };

/** What is drawn at a step, each with its height. @param {MemoryStep} step @param {Columns} columns @param {number} room
 * @returns {PlacedItem[]} */
export function placeItems(step, columns, room) {
  const items = memoryItems(step);
  const placed = items.map((item) => {
    const out = /** @type {PlacedItem} */ ({
      item,
      y: 0,
      h: 0,
      layout: null,
      hidden: false,
      chips: null,
      chipX: 0,
      folded: [],
      pins: null,
    });
    if (item.kind === "rule") out.h = HEIGHT.rule;
    else if (item.kind === "fold" || item.kind === "ghosts") out.h = HEIGHT.fold;
    else if (item.kind === "heading") placeChips(step, out, item, columns);
    return out;
  });
  fitLevels(step, placed, columns, room - 2 * HEIGHT.top);
  for (const place of placed)
    if (place.item.kind === "heading" && place.folded.length) placeChips(step, place, place.item, columns);
  return placed;
}

/** @param {MemoryStep} step @param {PlacedItem} out @param {import("./memory_items.js").HeadingItem} item
 * @param {Columns} columns */
function placeChips(step, out, item, columns) {
  out.chipX = headingStart(step, item, columns);
  const open = step.options.toggled.has(`items ${item.uid}`);
  const right = columns.w - 16 - (out.folded.length ? FOLDED : 0);
  out.chips = flowChips(headingChips(step, item), out.chipX, right, columns.names + 24, open);
  out.h = HEIGHT.heading + (out.chips.lines - 1) * HEIGHT.line;
}

/** Where a heading's chips begin: after its names and its type. @param {MemoryStep} step
 * @param {import("./memory_items.js").HeadingItem} item @param {Columns} columns */
function headingStart(step, item, columns) {
  const entity = step.entities.get(item.uid);
  const indent = item.indent * 12;
  if (item.type === "frame") {
    const line = entity?.kind === "frame" ? `${entity.line ?? ""}` : "";
    return columns.names + 4 + textWidth(item.section, 12) + textWidth(`line ${line}`, 10) + 26;
  }
  const names = item.names.reduce((sum, name) => sum + headingNameWidth(name) + 5, 0);
  return columns.names + 14 + indent + names + textWidth(headingType(entity), 10.5) + 14;
}

/** @param {import("./pane_names.js").ShownName} name */
export function headingNameWidth(name) {
  return Math.ceil(textWidth(name.text, 11.5) + (name.scope ? textWidth(name.scope, 8.5) + 5 : 0) + 17);
}

/** What a heading calls an object. @param {import("../entities.js").Entity | undefined} entity */
export function headingType(entity) {
  if (entity?.kind !== "object") return "";
  return `${entity.type ?? "object"}${entity.len === undefined ? "" : ` · ${entity.len}`}`;
}
