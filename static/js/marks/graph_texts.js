/** Texts of the graph pane that fit their room. */

import { EM } from "../layout/metrics.js";

/** A text cut at its end. @param {string} text @param {number} room @param {number} size of the font */
export function fitEnd(text, room, size) {
  const chars = Array.from(text);
  const most = Math.max(1, Math.floor(room / (EM * size)));
  return chars.length <= most ? text : `${chars.slice(0, Math.max(0, most - 1)).join("")}…`;
}

/** A leaf's label without the modules that its name goes through, as far as there is no room for them.
 * @param {string} label like `+= net.0.weight` @param {number} room @param {number} size of the font */
export function fitLeaf(label, room, size) {
  const most = Math.max(2, Math.floor(room / (EM * size)));
  const [sign, ...rest] = label.split(" ");
  const parts = rest.join(" ").split(".");
  const name = (/** @type {number} */ from) => `${sign} ${parts.slice(from).join(".")}`;
  let from = 0;
  while (from + 1 < parts.length && Array.from(name(from)).length > most) from++;
  const chars = Array.from(name(from));
  if (chars.length <= most) return chars.join("");
  return `${sign} …${chars.slice(-Math.max(1, most - sign.length - 2)).join("")}`;
}
