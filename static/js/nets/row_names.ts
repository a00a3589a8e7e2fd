/** What the rows of a net are called. */

import { textWidth } from "../layout/text/metrics.ts";
import type { NetRow } from "./net_rows.ts";

/** Pixels. */
const NAME_SIZE = 13;

/** The names of a row, as it shows them. */
export function netRowName({ kind, places }: Pick<NetRow, "kind" | "places">): string {
  const [first, last] = [places[0], places[places.length - 1]];
  if (kind === "repeat") return `${first.name}–${withoutCommon(first.name, last.name)}`;
  if (kind === "lines") return [...new Set(places.flatMap(({ name }) => name.split(", ")))].join(", ");
  if (kind === "fold") return [...new Set(places.map(({ name }) => name))].join(" ");
  return first.name;
}

/** A row's name in so many pixels: of several the first ones and the last, each whole. One is never shortened. */
export function namesWithin(name: string, { kind }: Pick<NetRow, "kind">, room: number): string {
  const between = kind === "fold" ? " " : ", ";
  const names = name.split(between);
  const fits = (text: string) => textWidth(text, NAME_SIZE) <= room;
  if (fits(name) || names.length < 2) return name;
  const last = names.pop();
  while (names.length > 1 && !fits(`${names.join(between)} … ${last}`)) names.pop();
  return `${names.join(between)} … ${last}`;
}

/** So that it has so many pixels, the letters of a name that is too long stand closer together. */
export function squeezedTextAttributes(name: string, room: number, size = NAME_SIZE) {
  return textWidth(name, size) > room ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {};
}

/** Of the second of two paths what comes after the parts that they share. */
function withoutCommon(one: string, other: string) {
  const [parts, others] = [one.split("."), other.split(".")];
  const at = others.findIndex((part, k) => part !== parts[k]);
  return others.slice(Math.max(0, at)).join(".");
}
