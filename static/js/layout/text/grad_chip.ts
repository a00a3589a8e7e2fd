/** A gradient as a chip: as many of its first elements as there is room for, in words where there is none. */

import { shortNumberText, tupleText, truncateText } from "../../trace/format.ts";
import { textWidth } from "./metrics.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Grad } from "../../trace/wire.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

export interface GradientChip {
  texts: string[];
  /** the elements of the first texts */
  cells: Cell[];
  widths: number[];
  width: number;
  /** of its type */
  font: number;
}

const MAX_GRADIENT_CHIP_VALUES = 4;
const GRADIENT_CHIP_DIGITS = 5;

/** The texts of a gradient's first elements, which many steps show. */
const firstElementTexts = weakMemoize((cells: Cell[]): string[] =>
  cells.slice(0, MAX_GRADIENT_CHIP_VALUES).map((value) => shortNumberText(value, GRADIENT_CHIP_DIGITS)),
);

/** `font` is the size of its type. */
export function fittedGradientChip(grad: Pick<Grad, "shape" | "cells">, maxWidth: number, font: number): GradientChip {
  const allCells = grad.cells ?? null;
  if (!allCells) {
    const most = Math.max(4, Math.floor((maxWidth - Math.round(font * 0.6) - 1) / textWidth("0", font)));
    return measureGradientChip([truncateText(tupleText(grad.shape ?? []), most)], [], font);
  }
  if (!allCells.length) return measureGradientChip(["∅"], [], font);
  for (let n = Math.min(MAX_GRADIENT_CHIP_VALUES, allCells.length); n >= 1; n--) {
    const cells = allCells.slice(0, n);
    const texts = firstElementTexts(allCells).slice(0, n);
    if (n < allCells.length) texts.push("…");
    const chip = measureGradientChip(texts, cells, font);
    if (chip.width <= maxWidth) return chip;
  }
  return measureGradientChip(
    allCells.length > 1 ? ["…"] : [shortNumberText(allCells[0], 4)],
    allCells.length > 1 ? [] : allCells.slice(0, 1),
    font,
  );
}

function measureGradientChip(texts: string[], cells: GradientChip["cells"], font: number): GradientChip {
  const widths = texts.map((text) => Math.max(18, Math.ceil(textWidth(text, font)) + Math.round(font * 0.6)));
  return { texts, cells, widths, width: widths.reduce((sum, width) => sum + width, 0), font };
}

/** In the loom, where a chip has the room that it needs. `shown` are the elements of the first texts. */
export function loomGradientChip(grad: Pick<Grad, "shape" | "cells">): {
  texts: string[];
  shown: Cell[];
  widths: number[];
  width: number;
} {
  const cells = grad.cells ?? null;
  const shown = cells ? cells.slice(0, cells.length > 4 ? 3 : 4) : [];
  const texts = shown.map((value) => shortNumberText(value, 4));
  if (!cells) texts.push(tupleText(grad.shape ?? []));
  else if (cells.length > shown.length) texts.push("…");
  else if (!cells.length) texts.push("∅");
  const widths = texts.map((text) => Math.max(20, Math.ceil(textWidth(text, 10.5)) + 7));
  return { texts, shown, widths, width: widths.reduce((sum, width) => sum + width, 0) };
}
