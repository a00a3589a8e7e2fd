/**
 * An operation's thumbnail and a scenario's still: rows of what was touched, drawn as the memory pane draws closed
 * ones.
 */

import { layoutSnapshot, layoutThumbnail, type Thumbnail } from "../layout/thumbnail.ts";
import { h } from "../browser/svg.ts";
import { textMark } from "../browser/shapes.ts";
import { STAGE_LABELS } from "./labels.ts";
import { memoryRowMark } from "./memory/memory_row.ts";
import { createRenderContext } from "./render_context.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Picture } from "./svg_document.ts";
import type { PlacedItem, RowLayout, RowItem } from "../layout/memory/memory_parts.ts";

export function thumbnailPicture(opened: OpenTrace): Picture {
  return pictureOfRows(opened, layoutThumbnail(opened));
}

export function snapshotPicture(opened: OpenTrace, i: number): Picture {
  return pictureOfRows(opened, layoutSnapshot(opened, i));
}

function pictureOfRows(opened: OpenTrace, { i, columns, rows, width, height, more: hiddenCount }: Thumbnail): Picture {
  const facts = createRenderContext(opened, opened.at(i), STAGE_LABELS, new Map());
  const marks = rows.map(({ item, y, layout }) =>
    memoryRowMark(facts, placeRowItem(item, y, layout), item, columns, null),
  );
  const note = hiddenCount ? textMark("meta end", width - 4, 10, `+${hiddenCount}`, { size: 9 }) : null;
  return { width, height, nodes: [h("g", { class: "memory-pane" }, marks, note)] };
}

function placeRowItem(item: RowItem, y: number, layout: RowLayout): PlacedItem {
  return { item, y: y - 4, h: layout.h, layout, hidden: false, chips: null, chipX: 0, folded: [], pins: null };
}
