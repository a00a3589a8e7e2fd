/** Gradients that meet: how their numbers add up. */

import { shortNumberText } from "../../trace/format.ts";
import type { Cell } from "../../trace/entities.ts";

/** More parts than these are no sum that one reads. */
const MAX_PARTS = 5;
/** The rounding of a sum in float16, as a part of its largest number: a larger difference is another sum. */
const TOLERANCE = 2e-3;

/** `2.0 + 1.6 = 3.6`; null where it isn't about single numbers, or the parts aren't all that was added. */
export function sumText(parts: Cell[][], sum: Cell[]): string | null {
  if (parts.length < 2 || parts.length > MAX_PARTS || sum.length !== 1) return null;
  const numbers = parts.map((cells) => (cells.length === 1 && typeof cells[0] === "number" ? cells[0] : null));
  const [total] = sum;
  if (typeof total !== "number" || numbers.some((value) => value === null)) return null;
  const values = numbers as number[];
  const largest = Math.max(...values.map(Math.abs), Math.abs(total));
  if (Math.abs(values.reduce((a, b) => a + b, 0) - total) > TOLERANCE * largest) return null;
  const text = (value: number) => shortNumberText(value, 6);
  const rest = values.slice(1).map((value) => (value < 0 ? ` ${text(value).replace("−", "− ")}` : ` + ${text(value)}`));
  return `${text(values[0])}${rest.join("")} = ${text(total)}`;
}
