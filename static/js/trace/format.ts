/** Encoded Python values as short texts: what is cut or rounded looks cut or rounded, what is exact is exact. */

import { unqualifiedDtype } from "./reads.ts";
import type { Entities } from "./state.ts";
import type { Value } from "./wire.ts";

const MINUS_SIGN = "−";

/** The JSON of an encoded value as it came (−0 keeps its sign). */
export function encodedValueJson(value: unknown): string {
  if (Object.is(value, -0)) return "-0.0";
  return JSON.stringify(value) ?? "null";
}

/** A number in full, as a reader would write it. */
export function fullNumberText(value: Value | undefined): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number")
    return Object.is(value, -0) ? `${MINUS_SIGN}0` : String(value).replace(/-/g, MINUS_SIGN);
  if (typeof value === "string") return "?";
  if ("$f" in value) return value.$f === "-inf" ? `${MINUS_SIGN}inf` : String(value.$f);
  if ("$i" in value) return String(value.$i).replace("-", MINUS_SIGN);
  if ("$c" in value) return complexNumberText(value.$c.map(fullNumberText));
  return "?";
}

/** From the texts of the real and the imaginary part. */
function complexNumberText([re, im]: string[]) {
  return `${re}${im.startsWith(MINUS_SIGN) ? "" : "+"}${im}j`;
}

/** A number in at most about `maxCharacters` characters. Rounded numbers keep their trailing zeros (1.000 is not 1)
 * and an exact one is always written exactly where it fits. */
export function shortNumberText(value: Value | undefined, maxCharacters = 5): string {
  const full = fullNumberText(value);
  if (typeof value === "boolean" || value === null || value === undefined || typeof value === "string") return full;
  if (Array.from(full).length <= maxCharacters) return full;
  if (typeof value === "number") return roundedNumberText(value, maxCharacters);
  if ("$c" in value) {
    const maxOfPart = Math.max(2, Math.floor((maxCharacters - 2) / 2));
    return complexNumberText(value.$c.map((part) => shortNumberText(part, maxOfPart)));
  }
  return "$i" in value ? truncateText(full, Math.max(3, maxCharacters)) : full;
}

function roundedNumberText(value: number, maxCharacters: number) {
  for (let digits = Math.min(maxCharacters, 17); digits >= 1; digits--) {
    const text = shortenNumberText(value.toPrecision(digits));
    // A rounded number never looks like an exact integer.
    if (text.length <= maxCharacters && /[.e]/.test(text)) return text.replace(/-/g, MINUS_SIGN);
  }
  return shortenNumberText(value.toExponential(0)).replace(/-/g, MINUS_SIGN);
}

/** `0.7311` as `.7311`, `1.2e+5` as `1.2e5`. */
function shortenNumberText(text: string) {
  return text.replace(/^(-?)0\./, "$1.").replace("e+", "e");
}

/** As Python writes a tuple. */
export function tupleText(list: (number | string)[]) {
  return list.length === 1 ? `(${list[0]},)` : `(${list.join(", ")})`;
}

export function dtypeText(dtype: string) {
  return unqualifiedDtype(dtype);
}

/** A number of bytes as every view writes it: `512 B`, `1.5 KiB`. */
export function bytesText(bytes: number) {
  if (bytes < 1024) return `${bytes} B`;
  let [size, unit] = [bytes, "B"];
  for (unit of ["KiB", "MiB", "GiB"]) {
    size /= 1024;
    if (Math.round(size * 10) < 10240) break;
  }
  return `${Math.round(size * 10) / 10} ${unit}`;
}

/** Any encoded value in about `maxCharacters` characters. */
export function shortValueText(value: Value, maxCharacters = 22, entities?: Entities): string {
  if (typeof value === "string") return truncateText(quotedString(value), maxCharacters);
  if (value === null || typeof value !== "object") return fullNumberText(value);
  if ("ref" in value) return referenceText(value.ref, entities);
  if ("py" in value) return truncateText(value.text ?? value.py, maxCharacters);
  return shortNumberText(value, maxCharacters);
}

/** What a reference leads to, said in a word or two. */
function referenceText(uid: string, entities?: Entities) {
  const entity = entities?.get(uid);
  if (!entity) return uid;
  if (entity.kind === "tensor" || entity.kind === "array") return tupleText(entity.shape ?? []);
  if (entity.kind === "object") return `${entity.type ?? "object"} ${uid}`;
  if (entity.kind === "node") return `${entity.name ?? uid}`;
  return uid;
}

function quotedString(text: string) {
  return `'${text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/'/g, "\\'")}'`;
}

/** The short name of a node or operation, from torch's. */
export function operationNameOfNode(name: string) {
  return name.slice(name.lastIndexOf(":") + 1).replace(/Backward\d*$/, "");
}

/** A text cut to at most so many characters. */
export function truncateText(text: string, maxLength: number) {
  const chars = Array.from(text);
  return chars.length <= maxLength ? text : `${chars.slice(0, maxLength - 1).join("")}…`;
}
