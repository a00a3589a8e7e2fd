/**
 * A row of the memory pane: its handles with names, counters and readings, the strip of its storage, gradient and pins.
 */

import { findEntity, findHandle } from "../../trace/entities.ts";
import { bytesText, truncateText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { ROW_SIZES } from "../../layout/memory/row_lines.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, textMark, titleMark, transformToHeight } from "../../browser/shapes.ts";
import { rowPurposeText } from "../labels.ts";
import { handleReadingMark } from "./row_beads.ts";
import { unnamedHandlesMark, handleCardMark, handleCardMarkInCollapsedRow } from "./row_card.ts";
import { cellStripMark } from "./row_cells.ts";
import { isVersionWorthShowing, versionCounterMark } from "./row_counter.ts";
import { gradientPlaceMark } from "./row_grad.ts";
import { rowPinMarks } from "./row_pin.ts";
import { nameTagMark } from "./row_tags.ts";
import type { RowDrawing } from "./row_drawing.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { RenderContext } from "../render_context.ts";
import type { PlacedItem, HandleLine, RowItem } from "../../layout/memory/memory_parts.ts";

export function memoryRowMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: RowItem,
  columns: MemoryColumns,
  selected: string | null,
): VNode | null {
  const { layout } = placedItem;
  if (!layout) return null;
  const { block } = item;
  const row = { facts: renderContext, item, layout, columns, open: layout.level !== "slim" && !layout.low };
  const ground = { x: 4, y: 1, width: columns.w - 8, height: placedItem.h - 2, rx: 6 };
  return h(
    "g",
    {
      key: `row ${block.key}`,
      class: classNames("moves row", layout.level === "slim" ? "slim" : "open", item.small && "small"),
      transform: transformToHeight(placedItem.y),
      "data-row": block.key,
    },
    isRowSelected(item, selected) && h("rect", { key: "chosen", class: "row-chosen", ...ground }),
    readGuideLineMarks(row),
    rowStorageMarks(row),
    layout.lines.flatMap((line) => handleLineMarks(row, line)),
    layout.lines.length || block.names.size ? null : purposeLabelMark(row, ROW_SIZES.inset + layout.top),
    unnamedHandleLineMarks(row),
    rowCounterMarks(row),
    placedItem.pins && rowPinMarks(row, placedItem.pins),
  );
}

/** Whether the selection is in a row. */
function isRowSelected({ block }: RowItem, selected: string | null) {
  return selected !== null && [block, ...block.grads.values()].some(({ uids }) => uids.includes(selected));
}

function rowStorageMarks(row: RowDrawing) {
  const { facts, item, layout, columns } = row;
  const { storage } = item.block;
  if (!storage) return [];
  const stripPlace = {
    x: columns.strip,
    y: ROW_SIZES.inset + layout.top,
    full: layout.level !== "slim",
    grad: facts.grads.has(storage) || item.block.purpose?.gradient !== undefined,
  };
  return [cellStripMark(facts, storage, layout.strip, stripPlace), storageNoteMark(row, storage)];
}

/** What is unusual about a storage, at the end of its strip. */
function storageNoteMark({ facts, layout, columns }: RowDrawing, uid: string) {
  const storage = findEntity(facts.snap.entities, uid, "storage");
  if (!storage || layout.level === "slim") return null;
  const outer = storage.within ? nameOfStorage(facts, storage.within.storage) : "";
  const inside = storage.within ? `${facts.labels.inside} ${outer || facts.labels.memory} +${storage.within.at} B` : "";
  const device = storage.device && storage.device !== "cpu" ? storage.device : "";
  const text = [inside, device].filter(Boolean).join(" · ");
  if (!text) return null;
  const x = columns.strip + layout.strip.w + 7 + (layout.strip.bands.length > 1 ? 30 : 0);
  const end = columns.gradW && !columns.phone ? columns.grad - 28 : columns.w - 6;
  const top = ROW_SIZES.inset + layout.top;
  const fitsBeside = x + textWidth(text, FONT_SIZES.small) <= end;
  const place = fitsBeside
    ? { x, y: top + Math.min(layout.strip.h, 30) / 2 + 4 }
    : { x: end, y: top + layout.strip.h + 14 };
  const maxCharacters = Math.floor((end - columns.strip) / (CHARACTER_WIDTH_EM * FONT_SIZES.small));
  return h(
    "text",
    {
      key: "storage",
      class: classNames("storage-name", !fitsBeside && "end"),
      ...place,
      "font-size": FONT_SIZES.small,
    },
    truncateText(text, Math.max(4, maxCharacters)),
    titleMark(`${uid} · ${storage.nbytes === undefined ? "?" : bytesText(storage.nbytes)} · ${text}`),
  );
}

function nameOfStorage({ readers, names }: RenderContext, uid: string) {
  return (readers.get(uid) ?? []).map((handle) => names.paths.get(handle)).find((name) => name !== undefined) ?? "";
}

function handleLineMarks(row: RowDrawing, line: HandleLine): (VNode | null | VNode[])[] {
  const { facts, item, columns, open } = row;
  const { uid } = line;
  const handle = findHandle(facts.snap.entities, uid);
  if (!handle) return [];
  const y = ROW_SIZES.inset + line.y;
  const cardPlace = { x: columns.card, y, w: columns.cardW };
  const hasNames = line.names.length > 0;
  return [
    handle.storage ? handleReadingMark(row, line, handle, endOfHandle(row, uid)) : null,
    hasNames ? rowNameMarks(row, line, y) : purposeLabelMark(row, y),
    open
      ? handleCardMark(facts, uid, cardPlace, item.block.purpose?.gradient !== undefined)
      : handleMarkInCollapsedRow(row, line, cardPlace),
    line.first && !open && item.block.others.length ? unnamedHandleMarksInRow(row, y) : null,
    gradientPlaceMark(row, line, y),
  ];
}

/** Where what a handle reads begins: beside its version where that is shown, else beside its card. */
function endOfHandle(row: RowDrawing, uid: string) {
  const { columns, layout, open } = row;
  const group = layout.groups.find(({ uids }) => uids.includes(uid));
  if (isVersionShown(row, group?.counter ?? null)) return columns.rail + columns.railW + 1;
  return open ? columns.card + columns.cardW : columns.rail;
}

function isVersionShown({ facts, item }: RowDrawing, counter: string | null): counter is string {
  return counter !== null && isVersionWorthShowing(facts, counter, item.block.pins);
}

function handleMarkInCollapsedRow(row: RowDrawing, line: HandleLine, cardPlace: { x: number; y: number; w: number }) {
  const { facts, item } = row;
  const title = { named: line.names.length > 0, gradient: item.block.purpose?.gradient === line.uid };
  return handleCardMarkInCollapsedRow(
    facts,
    line.uid,
    { ...cardPlace, w: handleWidthInCollapsedRow(row, line) },
    title,
  );
}

/** A closed row leaves room for its handles without a name. */
function handleWidthInCollapsedRow({ facts, item, columns }: RowDrawing, line: HandleLine) {
  if (!line.first || !item.block.others.length) return columns.cardW;
  const shape = findHandle(facts.snap.entities, line.uid)?.shape ?? [];
  return Math.min(
    columns.cardW - 22,
    textWidth(`(${shape.join(", ")}${shape.length === 1 ? "," : ""})`, FONT_SIZES.small) + 15,
  );
}

function unnamedHandleMarksInRow(row: RowDrawing, y: number) {
  const { facts, item, layout, columns } = row;
  const usedWidth = handleWidthInCollapsedRow(row, layout.lines[0]) + 4;
  const isPassingGradient = item.block.purpose?.gradient !== undefined;
  const quietPlace = {
    x: columns.card + usedWidth,
    room: columns.cardW - usedWidth,
    say: false,
    aside: isPassingGradient,
  };
  return unnamedHandlesMark(facts, item.block.others, columns, y + 0.5, quietPlace) as VNode[];
}

/** What a row without names is for. */
function purposeLabelMark({ facts, item, columns, open, layout }: RowDrawing, y: number) {
  const { block } = item;
  if (block.names.size && !block.label && !block.purpose) return null;
  const labelWidth = columns.namesW + (layout.lines.length ? 0 : columns.cardW);
  const text = rowPurposeText(block, facts.labels) || facts.labels.withoutName;
  const size = Math.max(
    12,
    Math.min(open ? 14 : 12, Math.floor((labelWidth / (CHARACTER_WIDTH_EM * text.length)) * 10) / 10),
  );
  const shownText = truncateText(text, Math.max(4, Math.floor(labelWidth / (CHARACTER_WIDTH_EM * size))));
  const textPosition = { x: columns.names + 4, y: y + (open ? 18 : 12), "font-size": size };
  return h("text", { key: "label", class: "no-name", ...textPosition }, shownText, titleMark(text));
}

/** The names of a handle, and a line from them to its card. */
function rowNameMarks({ facts, item, layout, columns }: RowDrawing, line: HandleLine, y: number) {
  const isOpen = layout.level !== "slim";
  const left = columns.names + item.indent * columns.indent;
  const lines = line.names[line.names.length - 1].line;
  const out = line.names.map((name) => {
    const tagHeight = isOpen ? (name.line ? 16 : 20) : 16;
    const firstOffset = isOpen ? (lines ? 0 : layout.low ? -2 : 5) : 0;
    const tagY = y + firstOffset + (name.line ? (isOpen ? 21 : 18) + (name.line - 1) * 18 : 0);
    return { name, at: { x: left + name.x, y: tagY, w: name.w, h: tagHeight, font: name.font } };
  });
  const { at } = out[0];
  const right = Math.max(...out.filter(({ name }) => name.line === 0).map((placed) => placed.at.x + placed.name.w));
  const middle = at.y + at.h / 2;
  const countWidth = line.hidden ? 18 : 0;
  const hasRoomForStem = right + countWidth + 4 < columns.card;
  return h("g", { key: `tags ${line.uid}`, class: "tags" }, [
    hasRoomForStem && pathMark("stem", `M${right + countWidth} ${middle}H${columns.card}`, "stem"),
    ...out.map((placed) => nameTagMark(facts.labels, line.uid, placed.name, placed.at)),
    line.hidden > 0 &&
      textMark("meta", Math.min(right + 2, columns.card - 18), middle + 4.3, `+${line.hidden}`, {
        key: "more",
        size: FONT_SIZES.small,
        title: hiddenNamesText(item, line),
      }),
  ]);
}

function hiddenNamesText({ block }: RowItem, line: HandleLine) {
  return (block.names.get(line.uid) ?? [])
    .slice(line.names.length)
    .map(({ tag }) => tag.text)
    .join(", ");
}

function unnamedHandleLineMarks({ facts, layout, columns }: RowDrawing) {
  return layout.quiet.map(({ uids, y }) =>
    unnamedHandlesMark(facts, uids, columns, ROW_SIZES.inset + y, { x: columns.card, room: columns.cardW, say: true }),
  );
}

function rowCounterMarks(row: RowDrawing) {
  const { layout } = row;
  const shownGroups = layout.groups.filter((group) => isVersionShown(row, group.counter));
  const hasSeveralWearers = layout.groups.length > 1 || layout.groups.some((group) => group.uids.length > 1);
  return shownGroups.map((group) =>
    versionCounterMark(row, group.counter ?? "", {
      y: ROW_SIZES.inset + group.y,
      h: group.h,
      wearers: group.uids.length,
      several: layout.groups.length > 1 || (hasSeveralWearers && group.h > 40),
    }),
  );
}

/** Thin lines from the strip down to each handle that reads a part of it. */
function readGuideLineMarks({ layout, columns, open }: RowDrawing) {
  const [band] = layout.strip.bands;
  if (!open || layout.strip.bands.length > 1 || band?.lines !== 1) return [];
  const guideEnds = new Map<number, number>();
  for (const { reading, first, y, h: lineHeight } of layout.lines) {
    if (reading.kind !== "beads" || first) continue;
    const to = ROW_SIZES.inset + y + Math.min(lineHeight, ROW_SIZES.handle) / 2;
    for (const cell of [reading.low, reading.high + 1]) guideEnds.set(cell, Math.max(guideEnds.get(cell) ?? 0, to));
  }
  const stripBottom = ROW_SIZES.inset + layout.top + layout.strip.h + 1;
  return [...guideEnds].map(([cell, to]) => {
    const x = columns.strip + cell * band.cw + (cell === 0 ? 1 : cell === band.n ? -1 : 0);
    return pathMark("arm", `M${x} ${stripBottom}V${to}`, `guide ${cell}`);
  });
}
