/** An operation's thumbnail and a scenario's still: rows of what was touched, drawn as the memory pane draws closed ones. */

import { stillRows, thumbnail } from "../layout/thumbnail.js";
import { h } from "../browser/svg.js";
import { LABELS } from "./labels.js";
import { rowMark } from "./memory_row.js";
import { stepFacts } from "./step_facts.js";

/** @param {import("../trace/state.js").OpenTrace} opened @returns {import("./svg_document.js").Picture} */
export function thumbnailPicture(opened) {
  return rowsAsPicture(opened, thumbnail(opened));
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {number} i the step
 * @returns {import("./svg_document.js").Picture} */
export function rowsPicture(opened, i) {
  return rowsAsPicture(opened, stillRows(opened, i));
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {import("../layout/thumbnail.js").Thumbnail} thumbnail
 * @returns {import("./svg_document.js").Picture} */
function rowsAsPicture(opened, { i, columns, rows, width, height, more: hiddenCount }) {
  const facts = stepFacts(opened, opened.at(i), LABELS, new Map());
  const marks = rows.map(({ item, y, layout }) => rowMark(facts, placedRow(item, y, layout), item, columns, null));
  const note = hiddenCount
    ? h("text", { class: "meta end", x: width - 4, y: 10, "font-size": 9 }, `+${hiddenCount}`)
    : null;
  return { width, height, nodes: [h("g", { class: "memory-pane" }, marks, note)] };
}

/** @param {import("../layout/memory_items.js").RowItem} item @param {number} y @param {import("../layout/row_lines.js").RowLayout} layout
 * @returns {import("../layout/memory_placed.js").PlacedItem} */
function placedRow(item, y, layout) {
  return { item, y: y - 4, h: layout.h, layout, hidden: false, chips: null, chipX: 0, folded: [], pins: null };
}
