/** A gradient in the graph pane: a chip with its first elements, and where it climbs to. */

import { fullNumberText, tupleText } from "../../trace/format.ts";
import { classNames, h } from "../../browser/svg.ts";
import { proseThatFits } from "./graph_texts.ts";
import type { Grad } from "../../trace/wire.ts";
import type { StageLabels } from "../labels.ts";
import type { GradientPlace } from "../../layout/graph/graph_places.ts";

/** How many elements the chip's title lists. */
const MAX_ELEMENTS_IN_TITLE = 32;

/** `top` is where the row begins. */
export function gradientChipMark(labels: StageLabels, place: GradientPlace, top: number) {
  const { grad, chip, key, now: isNow, to, x, w, h: height } = place;
  const y = place.y - top;
  const maxMagnitude = chip.cells.reduce((m: number, v) => (typeof v === "number" ? Math.max(m, Math.abs(v)) : m), 0);
  const parts = [h("rect", { key: "back", class: "chip-back", x, y, width: w, height, rx: 3 })];
  let partX = x;
  chip.texts.forEach((text, i) => {
    const value = chip.cells[i];
    const width = chip.widths[i];
    if (typeof value === "number" && value !== 0)
      parts.push(
        h("rect", {
          key: `wash ${i}`,
          class: `wash ${value < 0 ? "neg" : "pos"}`,
          ...{ x: partX, y, width, height },
          "fill-opacity": 0.1 + 0.28 * (Math.abs(value) / maxMagnitude),
        }),
      );
    if (i) parts.push(h("path", { key: `rule ${i}`, class: "chip-rule", d: `M${partX} ${y}v${height}` }));
    parts.push(
      h(
        "text",
        { key: `text ${i}`, x: partX + width / 2, y: y + height / 2 + chip.font * 0.36, "font-size": chip.font },
        text,
      ),
    );
    partX += width;
  });
  parts.push(h("rect", { key: "frame", class: "chip-frame", x, y, width: w, height, rx: 3 }));
  parts.push(h("title", { key: "title" }, `${labels.gradient} ${gradientChipTitle(grad, to?.text ?? "")}`));
  return h(
    "g",
    { key: `grad ${key}` },
    place.adds &&
      h(
        "text",
        { key: "adds", class: "grad-adds", x: x - 9, y: y + height / 2 + chip.font * 0.36, "font-size": chip.font },
        "+",
      ),
    to && h("text", { key: "to", class: "grad-to", x: to.x, y: y + height / 2 + 4.3, "font-size": 12 }, to.text),
    place.words &&
      h(
        "text",
        { key: "words", class: "focus-words", x: place.words.x, y: y + height / 2 + 4.3, "font-size": 12 },
        proseThatFits(labels[place.words.label].replace(/\{n(ame)?\}/, place.words.name), place.words.w, 12),
      ),
    h(
      "g",
      {
        key: "chip",
        class: classNames("grad-chip", isNow ? "now" : "past", isNow && key.includes(":") && "sent"),
        "data-grad": key,
      },
      parts,
    ),
  );
}

function gradientChipTitle(grad: Grad, to: string) {
  const cells = grad.cells ?? [];
  const listed = cells.slice(0, MAX_ELEMENTS_IN_TITLE).map(fullNumberText).join(", ");
  const values = listed ? `\n[${listed}${cells.length > MAX_ELEMENTS_IN_TITLE ? ", …" : ""}]` : "";
  return `${tupleText(grad.shape ?? [])} ${grad.dtype}${values}${to ? `\n${to}` : ""}`;
}
