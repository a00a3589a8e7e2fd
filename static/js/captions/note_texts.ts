/** Texts that notes have as arguments: values, gradients, names, a text's first line. */

import { find, findHandle } from "../trace/entities.ts";
import { shortNumberText } from "../layout/format.ts";
import type { Entities } from "../trace/state.ts";
import type { Value } from "../trace/wire.ts";

/** As many things as a note lists, and as many elements. */
const MAX_LISTED = 3;
const MAX_ELEMENTS = 6;
/** Of more elements, so many are said. */
const SHOWN_ELEMENTS = 4;
const MAX_STRING = 60;
const MAX_LINE = 240;

/** An encoded value as Python would write it. */
export function plainText(value: Value | undefined): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string")
    return value.length > MAX_STRING ? `'${value.slice(0, MAX_STRING - 1)}…'` : `'${value}'`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if ("$f" in value) return value.$f;
  if ("$i" in value) return value.$i;
  if ("$c" in value) return `${plainText(value.$c[0])}+${plainText(value.$c[1])}j`;
  return "py" in value ? (value.text ?? value.py) : value.ref;
}

/** The first elements of a row, rounded. */
function firstElements(cells: Value[]) {
  return `[${cells
    .slice(0, SHOWN_ELEMENTS)
    .map((cell) => shortNumberText(cell, 6))
    .join(", ")}, …]`;
}

/** A row of elements, where they are few; else null. */
export function elementsText(cells: Value[] | null | undefined) {
  return cells && cells.length <= MAX_ELEMENTS ? `[${cells.map(plainText).join(", ")}]` : null;
}

/** A tensor's elements, the first of them where they are many. */
export function tensorText(entities: Entities, uid: string | undefined) {
  const tensor = findHandle(entities, uid);
  const row = find(entities, tensor?.storage, "storage")?.cells?.[tensor?.dtype ?? ""];
  return elementsText(row) ?? (row ? firstElements(row) : "…");
}

/** The first of a list, by comma. */
export function firstFew(list: string[]) {
  return list.slice(0, MAX_LISTED).join(", ") + (list.length > MAX_LISTED ? ", …" : "");
}

export function firstLine(text: string) {
  const line = text.split("\n")[0];
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}

/** A node's name without its namespace. */
export function shortName(name: string) {
  return name.split("::").at(-1) ?? name;
}
