/** A gradient as a chip: its first elements as texts, and how wide that is. */

import { shortNumber, tuple } from "./format.js";
import { textWidth } from "./metrics.js";

/** @param {any} grad @returns {{texts: string[], shown: any[], widths: number[], width: number}} */
export function chip(grad) {
  const cells = grad.cells ?? null;
  const shown = cells ? cells.slice(0, cells.length > 4 ? 3 : 4) : [];
  const texts = shown.map((/** @type {any} */ v) => shortNumber(v, 4));
  if (!cells) texts.push(tuple(grad.shape ?? []));
  else if (cells.length > shown.length) texts.push("…");
  else if (!cells.length) texts.push("∅");
  const widths = texts.map((/** @type {string} */ t) => Math.max(20, Math.ceil(textWidth(t, 10.5)) + 7));
  return { texts, shown, widths, width: widths.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) };
}
