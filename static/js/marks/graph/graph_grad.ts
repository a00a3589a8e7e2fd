/** A gradient in the graph pane: a chip with its first elements, and where it climbs to. */

import { fullNumberText, tupleText } from "../../trace/format.ts";
import { classNames, h } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
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
  const parts = [rectMark("chip-back", x, y, w, height, { key: "back", rx: 3 })];
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
    if (i) parts.push(pathMark("chip-rule", `M${partX} ${y}v${height}`, `rule ${i}`));
    parts.push(
      h(
        "text",
        { key: `text ${i}`, x: partX + width / 2, y: y + height / 2 + chip.font * 0.36, "font-size": chip.font },
        text,
      ),
    );
    partX += width;
  });
  parts.push(rectMark("chip-frame", x, y, w, height, { key: "frame", rx: 3 }));
  parts.push(titleMark(`${labels.gradient} ${gradientChipTitle(grad, to?.text ?? "")}`));
  return h("g", { key: `grad ${key}` }, [
    place.adds &&
      textMark("grad-adds", x - 9, y + height / 2 + chip.font * 0.36, "+", { key: "adds", size: chip.font }),
    to && textMark("grad-to", to.x, y + height / 2 + 4.3, to.text, { key: "to", size: 12 }),
    place.words &&
      textMark(
        "focus-words",
        place.words.x,
        y + height / 2 + 4.3,
        proseThatFits(labels[place.words.label].replace(/\{n(ame)?\}/, place.words.name), place.words.w, 12),
        { key: "words", size: 12 },
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
  ]);
}

function gradientChipTitle(grad: Grad, to: string) {
  const cells = grad.cells ?? [];
  const listed = cells.slice(0, MAX_ELEMENTS_IN_TITLE).map(fullNumberText).join(", ");
  const values = listed ? `\n[${listed}${cells.length > MAX_ELEMENTS_IN_TITLE ? ", …" : ""}]` : "";
  return `${tupleText(grad.shape ?? [])} ${grad.dtype}${values}${to ? `\n${to}` : ""}`;
}
