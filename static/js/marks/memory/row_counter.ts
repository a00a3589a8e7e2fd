/** A version counter in a row: a rail beside all the handles that share it, with its number once. */

import { findEntity } from "../../trace/entities.ts";
import { classNames, h } from "../../browser/svg.ts";
import { textMark, titleMark } from "../../browser/shapes.ts";
import { FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import type { RowDrawing } from "./row_drawing.ts";
import type { StoragePin } from "../../layout/memory/memory_parts.ts";
import type { RenderContext } from "../render_context.ts";

/**
 * Whether a version says something: its memory was written since it was made, or a node expects one. `pins` are those
 * of the row.
 */
export function isVersionWorthShowing({ snap }: RenderContext, counterUid: string, pins: StoragePin[]) {
  const counter = findEntity(snap.entities, counterUid, "counter");
  return counter !== undefined && (counter.value !== 0 || pins.some(({ saved }) => saved.counter === counterUid));
}

/** What of a counter every badge says. */
function counterBadgeFacts(renderContext: RenderContext, counterUid: string, handles: number) {
  const value = findEntity(renderContext.snap.entities, counterUid, "counter")?.value ?? "?";
  const before = findEntity(renderContext.previous, counterUid, "counter")?.value;
  const isBumped = before !== undefined && before !== value;
  const change = isBumped ? `${before} → ${value}` : `${value}`;
  const writes = value === "?" ? "" : `\n${renderContext.labels.writesCounted.replace("{n}", `${value}`)}`;
  return {
    value,
    before,
    bumped: isBumped,
    attributes: {
      key: `rail ${counterUid}`,
      class: classNames("rail", isBumped && "bumped"),
      "data-counter-badge": counterUid,
      "data-version": value,
      "data-wearers": handles,
      target: { kind: "counter", uid: counterUid } as const,
      role: "img",
      "aria-label": `${counterUid} v${value}`,
    },
    title: titleMark(`version counter ${counterUid} = ${change}${writes}`),
  };
}

interface CounterMarkPlace {
  y: number;
  h: number;
  wearers: number;
  /** whether the row has other counters, so that each says its name */
  several: boolean;
}

export function versionCounterMark({ facts, columns, open }: RowDrawing, counterUid: string, place: CounterMarkPlace) {
  const { value, before, bumped, attributes, title } = counterBadgeFacts(facts, counterUid, place.wearers);
  const { rail: x, railW: w } = columns;
  const badgeHeight = open ? 19 : 16;
  const isTall = place.h > badgeHeight + 12;
  const isBoxed = isTall || place.several;
  const top = isBoxed ? place.y : place.y + (open ? 5 : 0);
  const bottom = isBoxed ? place.h : badgeHeight;
  const badgeY = isBoxed ? place.y + 2 : top;
  const text = versionTextThatFits(before, value, bumped, w - 3);
  const cx = x + w / 2;
  const box = { x: x - 1, y: top - 0.5, width: w + 2, height: bottom + 1, rx: 6 };
  const badgeBox = {
    x: x + (isBoxed ? 1 : 0),
    y: badgeY,
    width: w - (isBoxed ? 2 : 0),
    height: badgeHeight - (isBoxed ? 2 : 0),
    rx: 4.5,
  };
  const y = badgeY + badgeHeight / 2 + (isBoxed ? 3.2 : 4.2);
  return h("g", attributes, [
    h("rect", { key: "rail", class: classNames("rail-box", !isBoxed && "plain"), ...box }),
    h("rect", { key: "window", class: "badge", ...badgeBox }),
    textMark("badge-text", cx, y, text, { key: "version", size: FONT_SIZES.small }),
    title,
  ]);
}

/** The small badge of a gradient's counter. */
export function gradientCounterMark(renderContext: RenderContext, counterUid: string, x: number, y: number) {
  const { value, attributes, title } = counterBadgeFacts(renderContext, counterUid, 1);
  const text = versionTextThatFits(undefined, value, false, 22);
  const box = { x: x - 4, y: y - 1, width: 24, height: 16, rx: 4 };
  return h("g", attributes, [
    h("rect", { key: "rail", class: "rail-box plain", ...box }),
    h("rect", { key: "window", class: "badge", ...box }),
    textMark("badge-text", x + 8, y + 11.3, text, { key: "version", size: FONT_SIZES.small }),
    title,
  ]);
}

/**
 * What of a version fits into its window of `maxWidth` pixels: the step it made, else the version, else its last
 * digits.
 */
export function versionTextThatFits(
  before: number | undefined,
  value: number | string,
  bumped: boolean,
  maxWidth: number,
): string {
  const texts = [...(bumped ? [`${before}→${value}`] : []), `v${value}`, `${value}`, `…${String(value).slice(-2)}`];
  return texts.find((text) => textWidth(text, FONT_SIZES.small) <= maxWidth) ?? texts[texts.length - 1];
}
