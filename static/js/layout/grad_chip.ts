/** A gradient as a chip that fits its room: as many of its elements as there is room for, in words where there is none. */

import { shortNumber, tuple } from "./format.ts";
import { textWidth } from "./metrics.ts";
import type { Cell } from "../trace/entities.ts";
import type { Grad } from "../trace/wire.ts";

export interface ChipTexts {
  texts: string[];
  /** the elements of the first texts */
  cells: Cell[];
  widths: number[];
  width: number;
}

export const CHIP_FONT = 10;
const MAX_VALUES = 4;
const DIGITS = 5;

/** the texts of gradients' first elements, which many steps show */
const textsByCells = new WeakMap<object, string[]>();

function cellTexts(cells: Cell[]): string[] {
  const cached = textsByCells.get(cells);
  if (cached) return cached;
  const texts = cells.slice(0, MAX_VALUES).map((value) => shortNumber(value, DIGITS));
  textsByCells.set(cells, texts);
  return texts;
}

export function gradChip(grad: Pick<Grad, "shape" | "cells">, maxWidth: number): ChipTexts {
  const allCells = grad.cells ?? null;
  if (!allCells) return measuredChip([tuple(grad.shape ?? [])], []);
  if (!allCells.length) return measuredChip(["∅"], []);
  for (let n = Math.min(MAX_VALUES, allCells.length); n >= 1; n--) {
    const cells = allCells.slice(0, n);
    const texts = cellTexts(allCells).slice(0, n);
    if (n < allCells.length) texts.push("…");
    const chip = measuredChip(texts, cells);
    if (chip.width <= maxWidth) return chip;
  }
  return measuredChip(
    allCells.length > 1 ? ["…"] : [shortNumber(allCells[0], 4)],
    allCells.length > 1 ? [] : allCells.slice(0, 1),
  );
}

function measuredChip(texts: string[], cells: ChipTexts["cells"]): ChipTexts {
  const widths = texts.map((text) => Math.max(18, Math.ceil(textWidth(text, CHIP_FONT)) + 6));
  return { texts, cells, widths, width: widths.reduce((sum, width) => sum + width, 0) };
}
