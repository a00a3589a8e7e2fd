/** How far a picture reaches to the right and down, from the descriptions alone. */

import { textWidth } from "../layout/metrics.js";

const LETTER = 13;
const DEEP = 4;

/** @typedef {{x: number, y: number}} Point */

/** @param {import("../svg.js").VNode[]} nodes @param {Point} [most] @returns {Point} */
export function extent(nodes, most = { x: 0, y: 0 }) {
  for (const { tag, attrs, text, children } of nodes) {
    const worn = (attrs.class ?? "").split(" ");
    if (worn.includes("tucked")) continue;
    const n = (/** @type {string} */ name) => Number(attrs[name] ?? 0);
    if (tag === "rect") reach(most, n("x") + n("width"), n("y") + n("height"));
    else if (tag === "circle") reach(most, n("cx") + n("r"), n("cy") + n("r"));
    else if (tag === "path") for (const [x, y] of points(attrs.d ?? "")) reach(most, x, y);
    else if (tag === "text") {
      const w =
        worn.includes("end") || worn.includes("val") ? 0 : textWidth(text ?? "", Number(attrs["font-size"] ?? LETTER));
      reach(most, n("x") + w, n("y") + DEEP);
    }
    extent(children, most);
  }
  return most;
}

/** @param {Point} most @param {number} x @param {number} y */
function reach(most, x, y) {
  most.x = Math.max(most.x, x);
  most.y = Math.max(most.y, y);
}

/** Where a path's commands end. @param {string} d @returns {[number, number][]} */
function points(d) {
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
