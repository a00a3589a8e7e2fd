/** How far a picture reaches to the right and down, from the descriptions alone. */

import { textWidth } from "../layout/metrics.js";
import { translationOf } from "../browser/svg.js";

const FONT_SIZE = 13;
const DESCENT = 4;

/** @typedef {{x: number, y: number}} Point */

/** @param {import("../browser/svg.js").VNode[]} nodes @param {Point} [extent] what they extend @param {Point} [parentOrigin] their origin
 * @returns {Point} */
export function pictureExtent(nodes, extent = { x: 0, y: 0 }, parentOrigin = { x: 0, y: 0 }) {
  for (const { tag, attrs, text, children } of nodes) {
    const classNames = (attrs.class ?? "").split(" ");
    if (classNames.includes("tucked")) continue;
    const [dx, dy] = translationOf(attrs.transform);
    const origin = { x: parentOrigin.x + dx, y: parentOrigin.y + dy };
    const numberOf = (/** @type {string} */ name) => Number(attrs[name] ?? 0);
    const extendTo = (/** @type {number} */ x, /** @type {number} */ y) =>
      growExtent(extent, origin.x + x, origin.y + y);
    if (tag === "rect") extendTo(numberOf("x") + numberOf("width"), numberOf("y") + numberOf("height"));
    else if (tag === "circle") extendTo(numberOf("cx") + numberOf("r"), numberOf("cy") + numberOf("r"));
    else if (tag === "path") for (const [x, y] of pathEnds(attrs.d ?? "")) extendTo(x, y);
    else if (tag === "text") {
      const w =
        classNames.includes("end") || classNames.includes("val")
          ? 0
          : textWidth(text ?? "", Number(attrs["font-size"] ?? FONT_SIZE));
      extendTo(numberOf("x") + w, numberOf("y") + DESCENT);
    }
    pictureExtent(children, extent, origin);
  }
  return extent;
}

/** @param {Point} extent @param {number} x @param {number} y */
function growExtent(extent, x, y) {
  extent.x = Math.max(extent.x, x);
  extent.y = Math.max(extent.y, y);
}

/** Where a path's commands end. @param {string} d @returns {[number, number][]} */
function pathEnds(d) {
  /** @type {[number, number][]} */
  const ends = [];
  let [x, y] = [0, 0];
  for (const [, command, numbersText] of d.matchAll(/([a-z])([^a-z]*)/gi)) {
    const numbers = (numbersText.match(/-?[\d.]+/g) ?? []).map(Number);
    const kind = command.toUpperCase();
    const [fromX, fromY] = command === kind ? [0, 0] : [x, y];
    if (kind === "H") x = fromX + numbers[0];
    else if (kind === "V") y = fromY + numbers[0];
    else if (numbers.length > 1) [x, y] = [fromX + numbers[numbers.length - 2], fromY + numbers[numbers.length - 1]];
    ends.push([x, y]);
  }
  return ends;
}
