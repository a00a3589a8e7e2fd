/**
 * A device's memory below the rows: what its caching allocator has, each segment with its blocks, and what lies in
 * them.
 */

import { ALLOCATOR_SIZES, freeBytesText } from "../../layout/memory/allocator.ts";
import { findEntity } from "../../trace/entities.ts";
import { bytesText, truncateText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { cutPathAtStart } from "../../layout/memory/pane_names.ts";
import { classNames, h } from "../../browser/svg.ts";
import { rectMark, textMark, titleMark, transformToHeight } from "../../browser/shapes.ts";
import type { Target } from "../../browser/targets.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { StageLabels } from "../labels.ts";
import type { RenderContext } from "../render_context.ts";
import type { AllocatorLayout, AllocatorItem, PlacedSegment, SegmentPart } from "../../layout/memory/memory_parts.ts";

/** Of a bar, at its foot: how much of a block was asked for. */
const REQUESTED_BAR_HEIGHT = 4;
/** Less room than this, in units, has no name that is cut. */
const MIN_BLOCK_NAME_WIDTH = 34;

export function allocatorMark(
  renderContext: RenderContext,
  { y, allocator }: { y: number; allocator?: AllocatorLayout },
  item: AllocatorItem,
  columns: MemoryColumns,
) {
  if (!allocator) return null;
  return h(
    "g",
    {
      key: item.key,
      class: "moves allocator",
      transform: transformToHeight(y),
      "data-allocator": item.uid,
    },
    allocatorTitleMark(renderContext, item, allocator, columns),
    allocator.segments.map((segment) => segmentMark(renderContext.labels, segment, allocator, columns)),
  );
}

/** What the allocator has, and what opens its segments. */
function allocatorTitleMark(
  { snap, labels }: RenderContext,
  item: AllocatorItem,
  { open: isOpen }: AllocatorLayout,
  columns: MemoryColumns,
) {
  const device = findEntity(snap.entities, item.uid, "device");
  const isFoldable = item.segments.length > 0;
  const totals = (
    [
      [labels.allocated, device?.allocated],
      [labels.reserved, device?.reserved],
      [labels.peak, device?.peak],
    ] as [string, number | undefined][]
  ).flatMap(([word, bytes]) => (bytes === undefined ? [] : [`${word} ${bytesText(bytes)}`]));
  const name = device?.name ?? item.uid;
  const text = (columns.phone ? totals : [name, ...totals]).join(" · ");
  const x = columns.names + 18;
  const target: Target = { kind: "fold", key: item.key, members: [] };
  const button = { "data-fold": item.key, target, role: "button", tabindex: "0", "aria-expanded": `${isOpen}` };
  return h(
    "g",
    {
      key: "title",
      class: classNames("line", isFoldable && "fold"),
      transform: `translate(0 ${ALLOCATOR_SIZES.top})`,
      ...(isFoldable ? button : { role: "img" }),
      "aria-label": [name, ...totals].join(", "),
    },
    rectMark("fold-ground", 6, 1, columns.w - 12, 18, { key: "ground", rx: 4 }),
    isFoldable &&
      textMark("fold-sign", columns.names + 4, 14, isOpen ? "▾" : "▸", {
        key: "sign",
        size: FONT_SIZES.small,
        "aria-hidden": "true",
      }),
    textMark(
      "fold-text",
      x,
      14,
      truncateText(text, Math.floor((columns.w - x - 8) / (CHARACTER_WIDTH_EM * FONT_SIZES.small))),
      { key: "text", size: FONT_SIZES.small },
    ),
    titleMark([name, ...totals].join("\n")),
  );
}

function segmentMark(labels: StageLabels, segment: PlacedSegment, { x, w }: AllocatorLayout, columns: MemoryColumns) {
  const labelHeight = columns.phone ? ALLOCATOR_SIZES.label : 0;
  const description = [
    segmentPoolText(segment, labels),
    segment.stream && `${labels.stream} ${segment.stream}`,
    bytesText(segment.size),
    `${labels.allocated} ${bytesText(segment.allocated)}`,
  ]
    .filter(Boolean)
    .join(" · ");
  const label = columns.phone ? description : shortSegmentLabel(segment, labels);
  const ground = { x: x - 1.5, y: labelHeight + 0.5, width: w + 3, height: segment.h - labelHeight, rx: 3 };
  return h(
    "g",
    {
      key: segment.key,
      class: "segment",
      transform: `translate(0 ${segment.y})`,
      role: "group",
      "aria-label": description,
    },
    textMark("meta", columns.names + 4, columns.phone ? 11 : 15, label, { key: "label", size: FONT_SIZES.small }),
    titleMark(`${description}\n${labels.notToScale}`),
    h("rect", { key: "ground", class: "segment-ground", ...ground }),
    segment.lines.map((parts, line) =>
      parts.map((part, index) =>
        segmentPartMark(labels, part, `${line} ${index}`, x + part.x, labelHeight + 2 + line * ALLOCATOR_SIZES.line),
      ),
    ),
  );
}

function segmentPoolText({ pool, isPrivate }: PlacedSegment, labels: StageLabels) {
  const poolName = { small: labels.smallPool, large: labels.largePool }[pool] ?? pool;
  return isPrivate ? `${labels.privatePool}, ${poolName}` : poolName;
}

/** What sets a segment apart from the others most; beside it is no room for all. */
function shortSegmentLabel({ pool, size, stream, isPrivate }: PlacedSegment, labels: StageLabels) {
  if (isPrivate) return `${labels.private} ${bytesText(size)}`;
  return stream ? `${labels.stream} ${stream}` : `${pool} ${bytesText(size)}`;
}

/** A block at its position, or several that have no room of their own. */
function segmentPartMark(labels: StageLabels, part: SegmentPart, position: string, x: number, y: number) {
  const { state, storage, size, requested } = part;
  const w = Math.max(1, part.w - 1.5);
  const description = segmentPartDescription(labels, part);
  const askedWidth = state === "free" ? 0 : (w * requested) / Math.max(1, size);
  return h(
    "g",
    {
      key: storage ? `block ${storage}` : `part ${position}`,
      class: classNames("block", state, part.gradient && "grad", part.touched && "moved", !storage && "nobody"),
      target: storage ? { kind: "block", storage } : null,
      role: "img",
      tabindex: storage ? "0" : null,
      "aria-label": description,
    },
    rectMark("block-box", x, y, w, ALLOCATOR_SIZES.bar, { key: "box", rx: 2 }),
    state !== "free" && requestedBytesMark(x, y + ALLOCATOR_SIZES.bar - REQUESTED_BAR_HEIGHT, w, askedWidth),
    segmentPartTextMark(labels, part, x, y, w),
    titleMark(description),
  );
}

/** How much of a block was asked for; what the allocator added by rounding is hatched. */
function requestedBytesMark(x: number, y: number, w: number, askedWidth: number) {
  return [
    askedWidth < w - 0.5 &&
      rectMark("block-rounded", x + askedWidth, y, w - askedWidth, REQUESTED_BAR_HEIGHT, "rounded"),
    rectMark("block-asked", x, y, Math.max(askedWidth, 1), REQUESTED_BAR_HEIGHT, "asked"),
  ];
}

/** What a block says of itself, where it has room for that. */
function segmentPartTextMark(labels: StageLabels, { state, name, size }: SegmentPart, x: number, y: number, w: number) {
  const textRoom = w - 6;
  if (state === "free" || state === "several") {
    const bytes = state === "free" ? freeBytesText(size) : bytesText(size);
    const text = [`${labels.free} ${bytes}`, bytes].find(
      (some, k) => (k || state === "free") && textWidth(some, FONT_SIZES.small) <= textRoom,
    );
    return text && textMark("block-size", x + 4, y + 12, text, { key: "text", size: FONT_SIZES.small });
  }
  const bytes = bytesText(size);
  const word = name || labels.otherBlock;
  if (textWidth(word, FONT_SIZES.small) > textRoom && textRoom < MIN_BLOCK_NAME_WIDTH) return null;
  const shown = cutPathAtStart(word, textRoom, FONT_SIZES.small);
  const sizeX = x + 4 + textWidth(shown, FONT_SIZES.small) + 7;
  const hasRoomForSize = sizeX + textWidth(bytes, FONT_SIZES.small) <= x + w - 3;
  return [
    textMark("block-name", x + 4, y + 11.5, shown, { key: "text", size: FONT_SIZES.small }),
    hasRoomForSize && textMark("block-size", sizeX, y + 11.5, bytes, { key: "size", size: FONT_SIZES.small }),
  ];
}

/** A block in words. */
function segmentPartDescription(
  labels: StageLabels,
  { state, name, storage, size, requested, blocks }: SegmentPart,
): string {
  const bytes = bytesText(size);
  if (state === "free") return `${labels.free}: ${freeBytesText(size)}`;
  const sizeText = requested < size ? `${bytes}, ${labels.asked} ${bytesText(requested)}` : bytes;
  if (state === "several") return `${blocks.length} ${labels.blocks}: ${sizeText}`;
  if (state === "waiting") return `${labels.awaitingFree}: ${sizeText}`;
  const owner = storage ? (name === storage ? storage : `${name} · ${storage}`) : labels.noStorage;
  return `${owner}: ${sizeText}`;
}
