/** Encoded Python values as short texts: what is cut or rounded looks cut or rounded, what is exact is exact. */

import { plainDtype } from "./reads.js";
import { cut } from "./metrics.js";

const MINUS = "−";

/** The JSON of an encoded value as it came (−0 keeps its sign). @param {any} value @returns {string} */
export function wireText(value) {
  if (Object.is(value, -0)) return "-0.0";
  return JSON.stringify(value) ?? "null";
}

/** A number in full, as a reader would write it. @param {any} value @returns {string} */
export function fullNumber(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number") return Object.is(value, -0) ? `${MINUS}0` : String(value).replace(/-/g, MINUS);
  if (value.$f !== undefined) return value.$f === "-inf" ? `${MINUS}inf` : String(value.$f);
  if (value.$i !== undefined) return String(value.$i).replace("-", MINUS);
  if (value.$c !== undefined) {
    const [re, im] = value.$c.map(fullNumber);
    return `${re}${im.startsWith(MINUS) ? "" : "+"}${im}j`;
  }
  return "?";
}

/**
 * A number in at most about `room` characters. Rounded numbers keep their trailing zeros (1.000 is not 1) and an
 * exact one is always written exactly where it fits.
 * @param {any} value @param {number} [room] @returns {string}
 */
export function shortNumber(value, room = 5) {
  const full = fullNumber(value);
  if (Array.from(full).length <= room || typeof value === "boolean" || value === null || value === undefined)
    return full;
  if (typeof value === "number") return rounded(value, room);
  if (value.$c !== undefined) {
    const half = Math.max(2, Math.floor((room - 2) / 2));
    const [re, im] = value.$c.map((/** @type {any} */ x) => shortNumber(x, half));
    return `${re}${im.startsWith(MINUS) ? "" : "+"}${im}j`;
  }
  if (value.$i !== undefined) return `${cut(full, Math.max(3, room))}`;
  return full;
}

/** @param {number} value @param {number} room */
function rounded(value, room) {
  for (let digits = Math.min(room, 17); digits >= 1; digits--) {
    const text = tidy(value.toPrecision(digits));
    if (text.length <= room) return text.replace(/-/g, MINUS);
  }
  return tidy(value.toExponential(0)).replace(/-/g, MINUS);
}

/** `0.7311` as `.7311`, `1.2e+5` as `1.2e5`. @param {string} text */
function tidy(text) {
  return text.replace(/^(-?)0\./, "$1.").replace("e+", "e");
}

/** As Python writes a tuple. @param {(number | string)[]} list */
export function tuple(list) {
  return list.length === 1 ? `(${list[0]},)` : `(${list.join(", ")})`;
}

/** @param {string} dtype */
export function dtypeText(dtype) {
  return plainDtype(dtype);
}

/** Bytes. @param {number} bytes */
export function bytesText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${Math.round((bytes / 1024) * 10) / 10} KiB`;
  return `${Math.round((bytes / 1024 ** 2) * 10) / 10} MiB`;
}

/**
 * Any encoded value in about `room` characters.
 * @param {any} value @param {number} [room] @param {import("../state.js").Entities} [entities] @returns {string}
 */
export function valueText(value, room = 22, entities) {
  if (typeof value === "string") return cut(quoted(value), room);
  if (value === null || typeof value !== "object") return fullNumber(value);
  if (typeof value.ref === "string") return refText(value.ref, entities);
  if (typeof value.py === "string") return cut(value.text ?? value.py, room);
  return shortNumber(value, room);
}

/** What a reference leads to, said in a word or two. @param {string} uid @param {import("../state.js").Entities} [entities] */
export function refText(uid, entities) {
  const to = entities?.get(uid);
  if (!to) return uid;
  if (to.kind === "tensor" || to.kind === "array") return tuple(to.shape ?? []);
  if (to.kind === "object") return `${to.type ?? "object"} ${uid}`;
  if (to.kind === "node") return `${to.name ?? uid}`;
  return uid;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/'/g, "\\'")}'`;
}
