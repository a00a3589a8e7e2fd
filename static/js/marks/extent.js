/** How far a picture reaches to the right and down, from the descriptions alone. */

import { textWidth } from "../layout/metrics.js";
import { translation } from "../svg.js";

const FONT_SIZE = 13;
const DESCENT = 4;

/** @typedef {{x: number, y: number}} Point */

/** @param {import("../svg.js").VNode[]} nodes @param {Point} [extent] what they extend @param {Point} [from] their origin
 * @returns {Point} */
export function pictureExtent(nodes, extent = { x: 0, y: 0 }, from = { x: 0, y: 0 }) {
  for (const { tag, attrs, text, children } of nodes) {
    const classNames = (attrs.class ?? "").split(" ");
    if (classNames.includes("tucked")) continue;
    const [dx, dy] = translation(attrs.transform);
    const origin = { x: from.x + dx, y: from.y + dy };
    const n = (/** @type {string} */ name) => Number(attrs[name] ?? 0);
    const reach = (/** @type {number} */ x, /** @type {number} */ y) => grow(extent, origin.x + x, origin.y + y);
    if (tag === "rect") reach(n("x") + n("width"), n("y") + n("height"));
    else if (tag === "circle") reach(n("cx") + n("r"), n("cy") + n("r"));
    else if (tag === "path") for (const [x, y] of pathEnds(attrs.d ?? "")) reach(x, y);
    else if (tag === "text") {
      const w =
        classNames.includes("end") || classNames.includes("val")
          ? 0
          : textWidth(text ?? "", Number(attrs["font-size"] ?? FONT_SIZE));
      reach(n("x") + w, n("y") + DESCENT);
    }
    pictureExtent(children, extent, origin);
  }
  return extent;
}

/** @param {Point} extent @param {number} x @param {number} y */
function grow(extent, x, y) {
  extent.x = Math.max(extent.x, x);
  extent.y = Math.max(extent.y, y);
}

/** Where a path's commands end. @param {string} d @returns {[number, number][]} */
function pathEnds(d) {
  /** @type {[number, number][]} */
  const out = [];
  let [x, y] = [0, 0];
  for (const [, command, rest] of d.matchAll(/([a-z])([^a-z]*)/gi)) {
    const numbers = (rest.match(/-?[\d.]+/g) ?? []).map(Number);
    const kind = command.toUpperCase();
    const [fromX, fromY] = command === kind ? [0, 0] : [x, y];
    if (kind === "H") x = fromX + numbers[0];
    else if (kind === "V") y = fromY + numbers[0];
    else if (numbers.length > 1) [x, y] = [fromX + numbers[numbers.length - 2], fromY + numbers[numbers.length - 1]];
    out.push([x, y]);
  }
  return out;
}
