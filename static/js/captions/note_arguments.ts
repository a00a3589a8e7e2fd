/** Arguments that notes are made with: values, sizes, names, a text's first line. */

import { findEntity, findHandle, type Cell, type Handle } from "../trace/entities.ts";
import { shortNumberText } from "../trace/format.ts";
import { cellReads, numel } from "../trace/reads.ts";
import type { ObjectName } from "../trace/object_names.ts";
import type { Entities } from "../trace/state.ts";
import type { Value } from "../trace/wire.ts";
import type { CaptionArgument } from "./note.ts";

/** So many elements are said one by one. */
const MAX_LISTED_ELEMENTS = 4;
const MAX_NUMBER_CHARACTERS = 7;
const MAX_STRING_LENGTH = 60;
const MAX_LINE_LENGTH = 240;

/** A name in a sentence, with the function that it is a variable of where the reader would take it for another's. */
export function nameArgument({ text, scope }: ObjectName, uid: string): CaptionArgument {
  const name = { name: text, of: uid };
  if (!scope) return name;
  return scope === "module"
    ? { key: "name_of_module", args: { name } }
    : { key: "name_of_call", args: { name, call: { name: `${scope}()` } } };
}

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
  if ("py" in value && value.py === "str" && value.text) return pythonValueText(value.text);
  return "py" in value ? (value.text ?? value.py) : value.ref;
}

/** A number as a sentence has it. */
export function numberText(value: Cell) {
  return shortNumberText(value, MAX_NUMBER_CHARACTERS);
}

/** Elements, where they are few; else null. */
export function elementsText(cells: Cell[] | null | undefined) {
  return cells && cells.length <= MAX_LISTED_ELEMENTS ? `[${cells.map(numberText).join(", ")}]` : null;
}

/** The elements of a handle in its own order; null where the trace doesn't have each of them, or they are many. */
function elementsOf(entities: Entities, handle: Handle | undefined): Cell[] | null {
  const row = findEntity(entities, handle?.storage, "storage")?.cells?.[handle?.dtype ?? ""];
  if (!handle || !row || handle.bits?.length) return null;
  const reads = cellReads(handle, MAX_LISTED_ELEMENTS);
  const elements = reads.map(({ cell }) => row[cell]);
  return reads.length && elements.every((element) => element !== undefined) ? elements : null;
}

/** A handle's numbers: one as it is, a few as a list; null where they are many or unknown. */
export function valueText(entities: Entities, uid: string | null | undefined) {
  const handle = findHandle(entities, uid);
  const elements = elementsOf(entities, handle);
  if (!elements) return null;
  return handle?.shape?.length === 0 ? numberText(elements[0]) : elementsText(elements);
}

/** How much a handle reads: "3 numbers", "16 × 1 numbers". */
export function elementCountArgument({ shape }: { shape?: number[] | null }): CaptionArgument {
  if (!shape) return { key: "size_unknown", args: {} };
  return shape.length < 2
    ? { key: "size_row", args: { n: numel(shape) } }
    : { key: "size_shape", args: { shape: shape.join(" × ") } };
}

export function firstLine(text: string) {
  const line = text.split("\n")[0];
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line;
}

/** A node's name without its namespace. */
export function nodeNameWithoutNamespace(name: string) {
  return name.split("::").at(-1) ?? name;
}
