/** How far a picture reaches to the right and down, from the descriptions alone. */

import { textWidth } from "../layout/text/metrics.ts";
import { parseTranslate, type VNode } from "../browser/svg.ts";

const DEFAULT_FONT_SIZE = 13;
const TEXT_DESCENT = 4;

interface Point {
  x: number;
  y: number;
}

/** How far nodes reach: `extent` extended by them. `parentOrigin` is their origin. */
export function pictureExtent(
  nodes: VNode[],
  extent: Point = { x: 0, y: 0 },
  parentOrigin: Point = { x: 0, y: 0 },
): Point {
  for (const { tag, attrs, text, children } of nodes) {
    const classNames = (attrs.class ?? "").split(" ");
    if (classNames.includes("tucked")) continue;
    const [dx, dy] = parseTranslate(attrs.transform);
    const origin = { x: parentOrigin.x + dx, y: parentOrigin.y + dy };
    const numberOf = (name: string) => Number(attrs[name] ?? 0);
    const extendTo = (x: number, y: number) => growExtent(extent, origin.x + x, origin.y + y);
    if (tag === "rect") extendTo(numberOf("x") + numberOf("width"), numberOf("y") + numberOf("height"));
    else if (tag === "circle") extendTo(numberOf("cx") + numberOf("r"), numberOf("cy") + numberOf("r"));
    else if (tag === "path") for (const [x, y] of pathCommandEnds(attrs.d ?? "")) extendTo(x, y);
    else if (tag === "text") {
      const w =
        classNames.includes("end") || classNames.includes("val")
          ? 0
          : textWidth(text ?? "", Number(attrs["font-size"] ?? DEFAULT_FONT_SIZE));
      extendTo(numberOf("x") + w, numberOf("y") + TEXT_DESCENT);
    }
    pictureExtent(children, extent, origin);
  }
  return extent;
}

function growExtent(extent: Point, x: number, y: number) {
  extent.x = Math.max(extent.x, x);
  extent.y = Math.max(extent.y, y);
}

/** Where a path's commands end. */
function pathCommandEnds(d: string): [number, number][] {
  const ends: [number, number][] = [];
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
