/** A gradient as a chip: its first elements as texts, and how wide that is. */

import { shortNumberText, tupleText } from "../../trace/format.ts";
import { textWidth } from "./metrics.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Grad } from "../../trace/wire.ts";

/** `shown` are the elements of the first texts. */
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
