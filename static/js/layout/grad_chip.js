/** A gradient as a chip that fits its room: as many of its elements as there is room for, in words where there is none. */

import { shortNumber, tuple } from "./format.js";
import { textWidth } from "./metrics.js";

/** @typedef {import("../trace.js").Grad} Grad */
/**
 * @typedef {{texts: string[], cells: import("../entities.js").Cell[], widths: number[], width: number}} ChipTexts
 *   cells: the elements of the first texts
 */

export const CHIP_FONT = 10;
const MAX_VALUES = 4;
const DIGITS = 5;

/** @type {WeakMap<object, string[]>} the texts of gradients' first elements, which many steps show */
const textsByCells = new WeakMap();

/** @param {import("../entities.js").Cell[]} cells @returns {string[]} */
function firstTexts(cells) {
  const cached = textsByCells.get(cells);
  if (cached) return cached;
  const texts = cells.slice(0, MAX_VALUES).map((value) => shortNumber(value, DIGITS));
  textsByCells.set(cells, texts);
  return texts;
}

/** @param {Pick<Grad, "shape" | "cells">} grad @param {number} room @returns {ChipTexts} */
export function gradChip(grad, room) {
  const all = grad.cells ?? null;
  if (!all) return measuredChip([tuple(grad.shape ?? [])], []);
  if (!all.length) return measuredChip(["∅"], []);
  for (let n = Math.min(MAX_VALUES, all.length); n >= 1; n--) {
    const cells = all.slice(0, n);
    const texts = firstTexts(all).slice(0, n);
    if (n < all.length) texts.push("…");
    const chip = measuredChip(texts, cells);
    if (chip.width <= room) return chip;
  }
  return measuredChip(all.length > 1 ? ["…"] : [shortNumber(all[0], 4)], all.length > 1 ? [] : all.slice(0, 1));
}

/** @param {string[]} texts @param {ChipTexts["cells"]} cells @returns {ChipTexts} */
function measuredChip(texts, cells) {
  const widths = texts.map((text) => Math.max(18, Math.ceil(textWidth(text, CHIP_FONT)) + 6));
  return { texts, cells, widths, width: widths.reduce((sum, width) => sum + width, 0) };
}
