/** An operation's thumbnail: the rows of what it touched, drawn as the memory pane draws closed ones. */

import { THUMBNAIL, thumbnail } from "../layout/thumbnail.js";
import { h } from "../svg.js";
import { LABELS } from "./labels.js";
import { rowMark } from "./memory_row.js";
import { stepFacts } from "./step_facts.js";

/** @param {import("../state.js").OpenTrace} opened @returns {import("./svg_document.js").Picture} */
export function thumbnailPicture(opened) {
  const { i, columns, rows, height, more } = thumbnail(opened);
  const facts = stepFacts(opened, opened.at(i), LABELS, new Map());
  const marks = rows.map(({ item, y, layout }) => rowMark(facts, place(item, y, layout), item, columns, null));
  const note = more
    ? h("text", { class: "meta end", x: THUMBNAIL.width - 4, y: 10, "font-size": 9 }, `+${more}`)
    : null;
  return { width: THUMBNAIL.width, height, nodes: [h("g", { class: "memory-pane" }, marks, note)] };
}

/** @param {import("../layout/memory_items.js").RowItem} item @param {number} y @param {import("../layout/row_lines.js").RowLayout} layout
 * @returns {import("../layout/memory_placed.js").PlacedItem} */
function place(item, y, layout) {
  return { item, y: y - 4, h: layout.h, layout, hidden: false, chips: null, chipX: 0, folded: [], pins: null };
}
