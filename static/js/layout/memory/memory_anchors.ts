/** Where each entity stands in the memory pane: what links lead to, and what the step touched. */

import { referencedUid } from "../../trace/names.ts";
import { ROW_SIZES } from "./row_lines.ts";
import type { MemoryColumns } from "./memory_columns.ts";
import type { Rect } from "../pane.ts";
import type { PlacedItem, RowLayout, HandleLine } from "./memory_parts.ts";

/** How far below a row's top, and above a later line, links pass on their way to it. */
const LINK_LANE_OFFSET = 2;

export function memoryAnchorRects(placed: PlacedItem[], columns: MemoryColumns): Map<string, Rect> {
  const anchors = new Map<string, Rect>();
  for (const placedItem of placed) {
    const { item, y } = placedItem;
    const line = { x: columns.names, y: y + 2, w: columns.w - 2 * columns.names, h: placedItem.h - 4 };
    if (item.kind === "heading") {
      anchors.set(item.uid, line);
      for (const chip of placedItem.chips?.chips ?? []) {
        const targetUid = referencedUid(chip.value);
        if (targetUid?.[0] === "o" && chip.kind === "here" && !anchors.has(targetUid))
          anchors.set(targetUid, { x: chip.x, y: y + chip.line * 18 + 3, w: chip.w, h: 16 });
      }
    } else if (item.kind === "row" && placedItem.layout)
      addRowAnchorRects(anchors, placedItem, placedItem.layout, columns);
  }
  return anchors;
}

function addRowAnchorRects(
  anchors: Map<string, Rect>,
  { item, y, pins }: PlacedItem,
  layout: RowLayout,
  columns: MemoryColumns,
) {
  if (item.kind !== "row") return;
  const { block } = item;
  const isSlim = layout.level === "slim";
  const top = y + ROW_SIZES.inset;
  const strip = { x: columns.strip, y: top + layout.top, w: layout.strip.w, h: layout.strip.h };
  if (block.storage) anchors.set(block.storage, strip);
  for (const group of layout.groups)
    if (group.counter) anchors.set(group.counter, { x: columns.rail, y: top + group.y, w: columns.railW, h: group.h });
  const cardHeight = isSlim || layout.low ? 16 : ROW_SIZES.card;
  if (block.storage)
    anchors.set(`above ${block.storage}`, { ...strip, y: y + LINK_LANE_OFFSET, h: strip.y - y - LINK_LANE_OFFSET });
  for (const line of layout.lines) {
    anchors.set(line.uid, { x: columns.card, y: top + line.y, w: columns.cardW, h: cardHeight });
    const linkLane = line.first ? y + LINK_LANE_OFFSET : top + line.y - LINK_LANE_OFFSET;
    anchors.set(`above ${line.uid}`, { x: columns.card, y: linkLane, w: columns.cardW, h: top + line.y - linkLane });
    if (line.grad) addGradientAnchorRects(anchors, line, top + line.y, columns);
  }
  for (const line of layout.quiet)
    for (const uid of line.uids) anchors.set(uid, { x: columns.card, y: top + line.y, w: columns.cardW, h: 15 });
  for (const uid of block.others)
    if (!anchors.has(uid)) anchors.set(uid, { x: columns.card, y: top + layout.top, w: columns.cardW, h: cardHeight });
  for (const { pin, x, y: pinY, w, h } of pins?.pins ?? [])
    anchors.set(`pin ${pin.node}:${pin.slot}`, { x, y: top + pinY, w, h });
  for (const pin of pins?.more ?? [])
    anchors.set(`pin ${pin.node}:${pin.slot}`, { x: pins?.moreX ?? 0, y: top + layout.top - 19, w: 20, h: 17 });
}

function addGradientAnchorRects(anchors: Map<string, Rect>, line: HandleLine, y: number, columns: MemoryColumns) {
  const { grad } = line;
  if (!grad) return;
  const rect = { x: grad.x, y: y + grad.y, w: grad.strip?.w ?? Math.min(42, columns.gradW), h: grad.strip?.h ?? 16 };
  anchors.set(`grad ${line.uid}`, rect);
  for (const uid of grad.block?.uids ?? [])
    if (uid[0] === "c") anchors.set(uid, { x: grad.x - 27, y: rect.y, w: 24, h: 16 });
    else anchors.set(uid, rect);
}

/** What the step touched and is drawn, what matters most first. */
export function touchedMemoryRects(placed: PlacedItem[], columns: MemoryColumns): Rect[] {
  const weighted = [] as { rect: Rect; weight: number }[];
  for (const { item, y, h, hidden } of placed) {
    if (hidden) continue;
    const rect = { x: 0, y, w: columns.w, h };
    if (item.kind === "row" && item.block.hot) weighted.push({ rect, weight: (item.small ? 1 : 3) + item.block.heat });
    else if (item.kind === "heading" && item.hot) weighted.push({ rect, weight: 2.5 });
  }
  return weighted.sort((a, b) => b.weight - a.weight).map(({ rect }) => rect);
}
