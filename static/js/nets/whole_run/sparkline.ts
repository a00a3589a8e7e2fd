/**
 * A norm over the rounds, small: a bar for each of few, a line for many; what is to come has its place and is empty.
 */

import { h, type VNode } from "../../browser/svg.ts";
import { pathMark } from "../../browser/shapes.ts";

export const SPARKLINE_WIDTH = 84;
const MAX_BARS = 8;

/**
 * `values` are those of the rounds so far, NaN where one is not known, null where there was none; `count` is the number
 * of all rounds.
 */
export function sparklineMarks(values: (number | null)[], count: number, height: number): VNode[] {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const largest = Math.max(...known, 0) || 1;
  return count <= MAX_BARS
    ? barMarks(values, count, largest, height)
    : [lineMark(values, count, largest, height), ...absentMarks(values, count, height)];
}

function barMarks(values: (number | null)[], count: number, largest: number, height: number): VNode[] {
  const room = SPARKLINE_WIDTH / Math.max(count, 5);
  return values.map((value, k) => {
    const place = { key: `bar ${k}`, x: k * room, width: room - 2 };
    if (value === null || Number.isNaN(value)) {
      const className = value === null ? "spark-none" : "spark-unknown";
      return h("rect", { ...place, class: className, y: height - 2, height: 1.5 });
    }
    const share = Number.isFinite(value) ? Math.abs(value) / largest : 1;
    const tall = Math.max(1.5, Math.min(1, share) * height);
    const className = Number.isFinite(value) ? "spark-bar" : "spark-bar infinite";
    return h("rect", { ...place, class: className, y: height - tall, height: tall });
  });
}

function lineMark(values: (number | null)[], count: number, largest: number, height: number): VNode {
  let isDrawing = false;
  let d = "";
  values.forEach((value, k) => {
    const isKnown = value !== null && !Number.isNaN(value);
    if (isKnown) {
      const share = Number.isFinite(value) ? Math.abs(value) / largest : 1;
      d += `${isDrawing ? "L" : "M"}${rounded(xOf(k, count))} ${rounded(1 + (1 - Math.min(1, share)) * (height - 2))}`;
    }
    isDrawing = isKnown;
  });
  return pathMark("spark-line", d, "line");
}

function absentMarks(values: (number | null)[], count: number, height: number): VNode[] {
  return values.flatMap((value, k) =>
    value === null ? [pathMark("spark-none", `M${rounded(xOf(k, count))} ${height - 1}h1.5`, `none ${k}`)] : [],
  );
}

function xOf(k: number, count: number) {
  return 1 + (k / Math.max(1, count - 1)) * (SPARKLINE_WIDTH - 2);
}

function rounded(value: number) {
  return Math.round(value * 10) / 10;
}
