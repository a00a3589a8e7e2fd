/** The lines between the rows of the memory pane: frames and objects with what they hold, folds, and what was freed. */

import { lineLabel } from "../../trace/program_files.ts";
import { findEntity } from "../../trace/entities.ts";
import { objectTypeText } from "../../layout/text/card_texts.ts";
import { bytesText, shortValueText, encodedValueJson, truncateText } from "../../trace/format.ts";
import {
  frameTitleThatFits,
  MEMORY_ITEM_HEIGHTS,
  headingNamesThatFit,
  headingTypeTitle,
} from "../../layout/memory/memory_placed.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { referencedUid } from "../../trace/names.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { focusable, pathMark, rectMark, textMark, titleMark, transformToHeight } from "../../browser/shapes.ts";
import type { Target } from "../../browser/targets.ts";
import { nameTagMark } from "./row_tags.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import { rowPurposeText } from "../labels.ts";
import type { RenderContext } from "../render_context.ts";
import type { PlacedItem, PlacedValueChip, FoldItem, HeadingItem, RowBlock } from "../../layout/memory/memory_parts.ts";

const PAGE_FONT_CHARACTER_EM = 0.56;

export function memoryHeadingMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: HeadingItem,
  columns: MemoryColumns,
): VNode {
  const box = { x: 6, y: 2, width: columns.w - 12, height: placedItem.h - 4, rx: 4 };
  return item.type === "frame"
    ? frameHeadingMark(renderContext, placedItem, item, columns, box)
    : objectHeadingMark(renderContext, placedItem, item, columns, box);
}

function frameHeadingMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: HeadingItem,
  columns: MemoryColumns,
  box: Record<string, number>,
) {
  const frame = findEntity(renderContext.snap.entities, item.uid, "frame");
  const isCurrent = renderContext.snap.step?.frame === item.uid;
  const isSuspended = frame?.state === "suspended";
  const name = frameTitleThatFits(item, columns);
  const lineX = 14 + textWidth(name, FONT_SIZES.small) + 10;
  return h(
    "g",
    {
      key: item.key,
      class: classNames(
        "moves heading frame inner",
        isCurrent && "here",
        isSuspended && "suspended",
        renderContext.snap.fresh.has(item.uid) && "fresh",
      ),
      transform: transformToHeight(placedItem.y),
      "data-frame-card": item.uid,
      role: "group",
      "aria-label": `${item.section}${isSuspended ? ` ${renderContext.labels.suspended}` : ""}`,
    },
    h("rect", { key: "box", class: "frame-box", ...box }),
    item.hot && h("rect", { key: "halo", class: "halo thin", ...box }),
    textMark("frame-name", 14, 15.5, name, { key: "name", size: FONT_SIZES.small }),
    textMark("meta", lineX, 15.5, lineLabel(renderContext.labels.line, frame?.line), {
      key: "line",
      size: FONT_SIZES.small,
    }),
    valueChipMarks(renderContext, placedItem, item.uid),
    foldedRowsMark(renderContext, placedItem, item, columns),
    titleMark(`${frame?.name ?? ""}() ${item.uid}`),
  );
}

function objectHeadingMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: HeadingItem,
  columns: MemoryColumns,
  box: Record<string, number>,
) {
  const object = findEntity(renderContext.snap.entities, item.uid, "object");
  const isInner = item.type === "inner";
  const { left, placed, hidden, end } = headingNamesThatFit(item, columns);
  const type = headingTypeTitle(object, end, columns);
  return h(
    "g",
    {
      key: item.key,
      class: classNames("moves heading object", isInner && "inner", renderContext.snap.fresh.has(item.uid) && "fresh"),
      transform: transformToHeight(placedItem.y),
      "data-object": item.uid,
      ...focusable({ kind: "object", uid: item.uid }, "group", `${item.uid} ${object ? objectTypeText(object) : ""}`),
    },
    h("rect", { key: "box", class: "object-box", ...box }),
    item.hot && h("rect", { key: "halo", class: "halo thin", ...box }),
    isInner && pathMark("branch", `M${left - 12} 0V11h7`, "branch"),
    placed.map(({ name, x, w }) =>
      nameTagMark(renderContext.labels, item.uid, name, { x, y: 3, w, h: 16, font: FONT_SIZES.small }),
    ),
    hidden.length > 0 &&
      textMark("meta", end - 22, 15, `+${hidden.length}`, {
        key: "more names",
        size: FONT_SIZES.small,
        title: hidden.map(({ text }) => text).join(", "),
      }),
    type && textMark("meta", end + 2, 15.5, type, { key: "type", size: FONT_SIZES.small }),
    valueChipMarks(renderContext, placedItem, item.uid),
    item.type === "optimizer" && optimizerStateSign(item),
    (item.type !== "optimizer" || placedItem.folded.length > 0) &&
      foldedRowsMark(renderContext, placedItem, item, columns),
  );
}

/** The uid is that of the frame or object. */
function valueChipMarks(renderContext: RenderContext, placedItem: PlacedItem, uid: string) {
  const { chips } = placedItem;
  if (!chips) return [];
  const out = chips.chips.map((chip) => valueChipMark(renderContext, uid, chip));
  const [before, after] = [chips.before, chips.after];
  const open = chips.lines > 1;
  if (before || after || open) {
    const x = before && !after ? chips.beforeX : chips.afterX;
    const text = open ? "−" : `+${before + after}`;
    out.push(foldButtonMark(`items ${uid}`, open, { x, y: chips.afterLine * MEMORY_ITEM_HEIGHTS.line, text }));
  }
  return out;
}

export function valueChipMark(renderContext: RenderContext, uid: string, chip: PlacedValueChip) {
  const { key, label, text, value, kind, changed, x, line, w } = chip;
  const y = line * MEMORY_ITEM_HEIGHTS.line;
  const isFrame = uid[0] === "f";
  const ref = referencedUid(value);
  const valueX = x + textWidth(label, FONT_SIZES.small) + (label ? 5 : 0);
  const isNote = kind === "note";
  const data = { "data-value": encodedValueJson(value) };
  const attrs = isFrame
    ? { "data-chip": encodedValueJson(value), "data-name": key, "data-frame": uid, ...data }
    : isNote
      ? {}
      : { "data-item": `${uid}:${key}`, "data-to": ref, ...data };
  const target: Target | null = isFrame
    ? { kind: "name", frame: uid, name: key, ref: null }
    : isNote
      ? null
      : { kind: "item", object: uid, item: key, ref };
  const leadsElsewhere = kind === "tensor" || kind === "object";
  const wide = textWidth(text, FONT_SIZES.small) + 10;
  return h(
    "g",
    { key: `chip ${key}`, class: classNames(isFrame ? "chip" : "item", kind, changed && "moved"), ...attrs, target },
    rectMark("chip-ground", x - 4, y + 2.5, w + 8, 17, { key: "box", rx: 4 }),
    label && textMark("chip-name", x, y + 15, label, { key: "name", size: FONT_SIZES.small }),
    leadsElsewhere && pathMark("leads", `M${valueX} ${y + 11}h6m-3 -3l3 3l-3 3`, "leads"),
    leadsElsewhere && rectMark("chip-to", valueX + 9, y + 4, wide, 14, { key: "to", rx: 4 }),
    textMark("chip-value", leadsElsewhere ? valueX + 14 : valueX, y + 15, kind === "here" ? `${text} ↓` : text, {
      key: "value",
      size: FONT_SIZES.small,
    }),
    titleMark(`${key} = ${shortValueText(value, 400, renderContext.snap.entities)}`),
  );
}

/** What opens or closes. */
function foldButtonMark(key: string, open: boolean, place: { x: number; y: number; text: string }) {
  const w = textWidth(place.text, FONT_SIZES.small) + 8;
  return h(
    "g",
    {
      key: `fold ${key}`,
      class: "fold more",
      ...foldAttributes(key, [], open),
      "aria-label": place.text,
    },
    rectMark("fold-ground", place.x - 4, place.y + 3, w, 16, { key: "ground", rx: 4 }),
    textMark("meta", place.x, place.y + 15, place.text, { key: "text", size: FONT_SIZES.small }),
  );
}

/** The rows that a heading hides, and what brings them back. */
function foldedRowsMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: HeadingItem,
  columns: MemoryColumns,
) {
  if (item.type === "inner") return null;
  const key = `rows ${item.section}`;
  const count = placedItem.folded.length;
  const x = item.type === "frame" ? 0 : 12;
  const members = foldMemberUids(placedItem.folded.flatMap(({ item: row }) => (row.kind === "row" ? [row.block] : [])));
  const names = placedItem.folded
    .map(({ item: row }) => (row.kind === "row" ? rowPurposeText(row.block, renderContext.labels) : ""))
    .join(", ");
  const text = `${count} ${renderContext.labels.folded}`;
  const w = pageFontTextWidth(text, FONT_SIZES.small) + 14;
  const chipsEnd =
    (placedItem.chips?.afterX ?? placedItem.chipX) + (placedItem.chips?.after ? placedItem.chips.more - 4 : 0);
  const countX = Math.min(chipsEnd, columns.w - 12 - w);
  return h(
    "g",
    {
      key: "rows",
      class: classNames("fold rows", count > 0 && "closed"),
      ...foldAttributes(key, members, count === 0),
      "aria-label": count ? `${text}: ${names}` : item.section,
    },
    rectMark("fold-ground", x - 4, 2, 16, 18, { key: "ground", rx: 4 }),
    item.type === "frame" || item.type === "optimizer"
      ? null
      : textMark("fold-sign", x, 15, count ? "▸" : "▾", { key: "sign", size: FONT_SIZES.small }),
    count > 0 && rectMark("fold-badge", countX, 3.5, w, 15, { key: "count", rx: 7 }),
    count > 0 && textMark("fold-text", countX + 7, 15, text, { key: "text", size: FONT_SIZES.small }),
    titleMark(names || item.section),
  );
}

/** What opens the storages that an optimizer keeps. */
function optimizerStateSign(item: HeadingItem) {
  if (!item.state.length) return null;
  const open = item.open || item.state.some((block) => block.hot);
  return h(
    "g",
    {
      key: "state",
      class: "fold rows",
      ...foldAttributes(`state ${item.uid}`, foldMemberUids(open ? [] : item.state), open),
      "aria-label": `${item.state.length}`,
    },
    rectMark("fold-ground", 8, 2, 16, 18, { key: "ground", rx: 4 }),
    textMark("fold-sign", 12, 15, open ? "▾" : "▸", { key: "sign", size: FONT_SIZES.small }),
    titleMark(item.state.map((block) => block.label).join(", ")),
  );
}

/** Storages in one line. */
export function storageFoldMark(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: FoldItem,
  columns: MemoryColumns,
) {
  const { labels, snap } = renderContext;
  const n = item.blocks.length;
  const bytes = item.blocks.reduce(
    (sum, { storage }) => sum + (findEntity(snap.entities, storage, "storage")?.nbytes ?? 0),
    0,
  );
  const foldTexts = {
    flight: n > 1 ? labels.flight : labels.flightOne,
    kept: labels.keptUnnamed,
    unnamed: n > 1 ? labels.unnamedStorages : labels.unnamedStorage,
    rows: labels.moreRows,
    calls: labels.moreCalls,
  };
  const text = `${item.count ?? n} ${foldTexts[item.foldKind]} · ${bytesText(bytes)}`;
  const names = item.blocks.map((block) => rowPurposeText(block, renderContext.labels)).join(", ");
  const namesX = columns.names + 18 + pageFontTextWidth(text, FONT_SIZES.small) + 12;
  const maxChars = Math.floor((columns.w - namesX - 12) / (CHARACTER_WIDTH_EM * FONT_SIZES.small));
  return h(
    "g",
    {
      key: `fold ${item.key}`,
      class: "moves fold line",
      transform: transformToHeight(placedItem.y),
      ...foldAttributes(item.key, foldMemberUids(item.blocks), false),
    },
    rectMark("fold-ground", 6, 1, columns.w - 12, 18, { key: "ground", rx: 4 }),
    textMark("fold-sign", columns.names + 4, 14, "▸", { key: "sign", size: FONT_SIZES.small, "aria-hidden": "true" }),
    textMark("fold-text", columns.names + 18, 14, text, { key: "text", size: FONT_SIZES.small }),
    maxChars > 3 &&
      textMark("fold-names", namesX, 14, truncateText(names, maxChars), { key: "names", size: FONT_SIZES.small }),
    titleMark(`${text}: ${names}`),
  );
}

/** The uids of all that a fold stands for, with the gradients beside it. */
function foldMemberUids(blocks: RowBlock[]): string[] {
  return blocks.flatMap((block) => [...block.uids, ...[...block.grads.values()].flatMap((grad) => grad.uids)]);
}

/** What makes an element open and close a fold. */
function foldAttributes(key: string, members: string[], isOpen: boolean) {
  const target: Target = { kind: "fold", key, members };
  return {
    "data-fold": key,
    "data-members": members.length ? members.join(" ") : null,
    target,
    role: "button",
    tabindex: "0",
    "aria-expanded": `${isOpen}`,
  };
}

/** The width of a text in the face of the page. */
function pageFontTextWidth(text: string, size: number) {
  return (textWidth(text, size) / CHARACTER_WIDTH_EM) * PAGE_FONT_CHARACTER_EM;
}
