/** The text of a version counter's badge. */

import { textWidth } from "../layout/metrics.js";

/** The size of letter under which a version is told with fewer of them. */
const SMALLEST = 7;

/** What of a version fits into its window: the step it made, else the version, else its last digits.
 * @param {number | undefined} before @param {number | string} value @param {boolean} bumped @param {number} room pixels
 * @returns {{text: string, size: number}} */
export function versionText(before, value, bumped, room) {
  const texts = [...(bumped ? [`${before}→${value}`] : []), `v${value}`, `${value}`, `…${String(value).slice(-4)}`];
  const fits = (/** @type {string} */ text) => Math.min(text.length > 4 ? 9.5 : 12, room / textWidth(text, 1));
  const text = texts.find((text) => fits(text) >= SMALLEST) ?? texts[texts.length - 1];
  return { text, size: Math.floor(fits(text) * 10) / 10 };
}
