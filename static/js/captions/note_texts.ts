/** Texts that notes have as arguments: values, gradients, names, a text's first line. */

import { findEntity, findHandle } from "../trace/entities.ts";
import { shortNumberText } from "../layout/format.ts";
import type { Entities } from "../trace/state.ts";
import type { Value } from "../trace/wire.ts";

/** As many things as a note lists, and as many elements. */
const MAX_LISTED_THINGS = 3;
const MAX_LISTED_ELEMENTS = 6;
/** Of more elements, so many are said. */
const SHOWN_ELEMENT_COUNT = 4;
const MAX_STRING_LENGTH = 60;
const MAX_LINE_LENGTH = 240;

/** An encoded value as Python would write it. */
export function pythonValueText(value: Value | undefined): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string")
    return value.length > MAX_STRING_LENGTH ? `'${value.slice(0, MAX_STRING_LENGTH - 1)}…'` : `'${value}'`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if ("$f" in value) return value.$f;
  if ("$i" in value) return value.$i;
  if ("$c" in value) return `${pythonValueText(value.$c[0])}+${pythonValueText(value.$c[1])}j`;
  return "py" in value ? (value.text ?? value.py) : value.ref;
}

/** The first elements of a row, rounded. */
function firstElementsText(cells: Value[]) {
  return `[${cells
    .slice(0, SHOWN_ELEMENT_COUNT)
    .map((cell) => shortNumberText(cell, 6))
    .join(", ")}, …]`;
}

/** A row of elements, where they are few; else null. */
export function elementsText(cells: Value[] | null | undefined) {
  return cells && cells.length <= MAX_LISTED_ELEMENTS ? `[${cells.map(pythonValueText).join(", ")}]` : null;
}

/** A tensor's elements, the first of them where they are many. */
export function tensorText(entities: Entities, uid: string | undefined) {
  const tensor = findHandle(entities, uid);
  const row = findEntity(entities, tensor?.storage, "storage")?.cells?.[tensor?.dtype ?? ""];
  return elementsText(row) ?? (row ? firstElementsText(row) : "…");
}

/** The first of a list, by comma. */
export function listFirstFew(list: string[]) {
  return list.slice(0, MAX_LISTED_THINGS).join(", ") + (list.length > MAX_LISTED_THINGS ? ", …" : "");
}

export function firstLine(text: string) {
  const line = text.split("\n")[0];
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line;
}

/** A node's name without its namespace. */
export function nodeNameWithoutNamespace(name: string) {
  return name.split("::").at(-1) ?? name;
}
