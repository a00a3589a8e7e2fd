/** A handle in a row: its card, its slim form, and the quiet line of those that have no name. */

import { findHandle, type Handle } from "../../trace/entities.ts";
import { handleCardTexts } from "../../layout/text/card_texts.ts";
import { fittedText } from "../../layout/text/fitted_text.ts";
import { FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { ROW_SIZES } from "../../layout/memory/row_lines.ts";
import { classNames, h } from "../../browser/svg.ts";
import { focusable, pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { autogradRoleLabel } from "../labels.ts";
import { shortDtype } from "./row_cell.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { RenderContext } from "../render_context.ts";

interface LineSpan {
  x: number;
  y: number;
  w: number;
}

function handleCardAttributes(renderContext: RenderContext, uid: string, handle: Handle, named: boolean) {
  const text = handleCardTexts(handle);
  const tracked = text.tracked || handle.leaf === false;
  const bits = (handle.bits ?? []).join(" ");
  const role = `${text.tracked ? "∇ " : ""}${autogradRoleLabel(text.role, renderContext.labels)}${bits ? ` ${bits}` : ""}`;
  const description = `${uid} ${text.shape} ${unqualifiedDtype(handle.dtype)}, ${text.second}, ${role}, requires_grad ${text.tracked ? "True" : "False"}`;
  const fresh = renderContext.snap.fresh.has(uid);
  return {
    shape: text.shape,
    role,
    description,
    attrs: {
      key: `card ${uid}`,
      class: classNames(
        "card",
        tracked ? "tape" : "free",
        fresh && "fresh",
        handle.kind === "array" && "array",
        !named && "unnamed",
      ),
      "data-handle": uid,
      "data-counter": handle.counter ?? null,
      "data-node-ref": handle.grad_fn ?? null,
      "data-grad-ref": handle.grad ?? null,
      "data-on": handle.storage ?? null,
      ...focusable({ kind: "handle", uid } as const, "group", description),
    },
  };
}

/** `isPassingGradient`: it is a gradient on its way, of which `no gradient` would say the wrong thing. */
export function handleCardMark(renderContext: RenderContext, uid: string, place: LineSpan, isPassingGradient = false) {
  const handle = findHandle(renderContext.snap.entities, uid);
  if (!handle) return null;
  const card = handleCardAttributes(renderContext, uid, handle, renderContext.names.tags.has(uid));
  const { x, y, w } = place;
  const isWide = w >= 80;
  const leftX = x + (isWide ? 11 : 9);
  const room = x + w - 5 - leftX;
  const words = isPassingGradient && !handle.requires_grad ? [] : handleWords(renderContext, handle);
  return h("g", card.attrs, [
    rectMark("card-box", x, y, w, ROW_SIZES.card, { key: "box", rx: 6 }),
    pathMark("card-bar", `M${x + 5} ${y + 0.5}h-1a5 6 0 0 0 -4 6v17a5 6 0 0 0 4 6h1z`, "bar"),
    fittedTextMark("shape", leftX, y + 13, shapeWords(renderContext, handle, card.shape), room, isWide ? 14 : 12),
    fittedTextMark("role", leftX, y + 25, words, room, 12),
    titleMark(card.description),
  ]);
}

/** One of several forms of a text, the shortest last. */
function fittedTextMark(name: string, x: number, y: number, forms: string[], maxWidth: number, font: number) {
  const { text, size, spacing } = fittedText(forms, maxWidth, font);
  return text ? textMark(name, x, y, text, { key: name, size, "letter-spacing": spacing }) : null;
}

/** A shape in words: `3 numbers`, `16 × 1`; in less room `(3,)`, `16×1`. `other` is said where there is none. */
function shapeWords({ labels }: RenderContext, { shape }: Handle, other: string): string[] {
  if (!shape) return [other];
  if (shape.length > 1) return [shape.join(" × "), shape.join("×")];
  if (!shape.length) return [labels.oneNumber, other];
  return [shape[0] === 1 ? labels.numberInRow : labels.numbers.replace("{n}", `${shape[0]}`), other];
}

/** What a handle is to autograd, and its dtype where that is not the usual one; in little room its colour says it. */
function handleWords({ labels, nodeName }: RenderContext, handle: Handle): string[] {
  const dtype = shortDtype(handle.dtype);
  if (handle.kind === "array") {
    const access = handle.writeable === false ? [labels.readOnly] : [];
    return [["numpy", dtype, ...access], ["numpy", ...access], ["numpy"]].map((words) => words.join(" "));
  }
  const layout = handle.stride ? "" : (handle.layout ?? handle.type ?? "").replace("torch.", "");
  const maker = handle.grad_fn ? nodeName(handle.grad_fn) : labels.node;
  const [role, short, least] = !handle.requires_grad
    ? [labels.noGradient, labels.noGradientShort, ""]
    : handle.leaf
      ? [labels.wantsGrad, ".grad", ".grad"]
      : [handle.grad_fn ? labels.madeBy.replace("{node}", maker) : maker, maker, maker];
  const others = [layout, dtype === "f32" ? "" : dtype, ...(handle.bits ?? [])].filter(Boolean);
  return [...new Set([[...others, role].join(" · "), [...others, short].join(" · "), least])];
}

/** A handle in a closed row. `gradient`: it is on its way, of this shape. */
export function handleCardMarkInCollapsedRow(
  renderContext: RenderContext,
  uid: string,
  place: LineSpan,
  { named, gradient }: { named: boolean; gradient: boolean },
) {
  const handle = findHandle(renderContext.snap.entities, uid);
  if (!handle) return null;
  const card = handleCardAttributes(renderContext, uid, handle, named);
  const { x, y, w } = place;
  return h("g", { ...card.attrs, class: classNames(card.attrs.class, "slim", gradient && "passing") }, [
    rectMark("card-box", x, y, w, 16, { key: "box", rx: 4 }),
    pathMark("card-bar", `M${x + 1} ${y + 1}h3v14h-3z`, "bar"),
    fittedTextMark("shape", x + 9, y + 12, shapeWords(renderContext, handle, card.shape), w - 12, 12),
    titleMark(card.description),
  ]);
}

interface UnnamedHandlesPlace {
  x: number;
  room: number;
  say: boolean;
  /** another handle is what the row is about */
  aside?: boolean;
}

/** Handles without a name in one line, which begins at `place`. */
export function unnamedHandlesMark(
  renderContext: RenderContext,
  uids: string[],
  columns: MemoryColumns,
  y: number,
  place: UnnamedHandlesPlace,
) {
  const end = place.x + place.room;
  let x = place.x;
  const out = [];
  let shownCount = 0;
  for (const uid of uids) {
    const handle = findHandle(renderContext.snap.entities, uid);
    if (!handle) continue;
    const card = handleCardAttributes(renderContext, uid, handle, false);
    const countWidth = shownCount < uids.length - 1 ? 20 : 0;
    const words = shapeWords(renderContext, handle, card.shape);
    const { text } = fittedText(words, place.room - countWidth - 13);
    const w = Math.min(textWidth(text, FONT_SIZES.small) + 13, place.room - countWidth);
    if (shownCount ? x + w + countWidth > end + 0.5 : x + 24 + countWidth > end) break;
    out.push(
      h("g", { ...card.attrs, class: classNames(card.attrs.class, "quiet", place.aside && "aside") }, [
        rectMark("card-box", x, y, w, 15, { key: "box", rx: 4 }),
        pathMark("card-bar", `M${x + 1} ${y + 2}h2.4v11h-2.4z`, "bar"),
        fittedTextMark("shape", x + 8, y + 11, words, w - 10, FONT_SIZES.small),
        titleMark(card.description),
      ]),
    );
    x += w + 3;
    shownCount += 1;
  }
  if (shownCount < uids.length) {
    const rest = uids.slice(shownCount);
    out.push(
      textMark("meta", x, y + 11, `+${rest.length}`, {
        key: "more quiet",
        size: FONT_SIZES.small,
        title: rest.join(", "),
      }),
    );
  }
  if (place.say) out.push(unnamedHandlesLabelMark(renderContext, uids.length, columns, y));
  return out;
}

function unnamedHandlesLabelMark(renderContext: RenderContext, count: number, columns: MemoryColumns, y: number) {
  const { unnamed } = renderContext.labels;
  const forms = count > 1 ? [`${count} × ${unnamed}`, unnamed, `${count} ×`] : [unnamed, ""];
  const { text, size, spacing } = fittedText(forms, columns.card - 12);
  const place = { x: columns.card - 8, y: y + 11.5, "font-size": size, "letter-spacing": spacing };
  return h("text", { key: `quiet ${y}`, class: "no-name end", ...place }, text);
}
