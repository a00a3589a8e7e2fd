/** What cards say, and how wide that is: handles, frames, containers and name tags. */

import { tuple, valueText } from "./format.js";
import { textWidth, truncate } from "./metrics.js";
import { pairsOf, refOf } from "../trace/names.js";
import { plainDtype } from "./reads.js";

/** @typedef {import("../trace/entities.js").Value} Value */
/** @typedef {{key: string, value: Value, text: string}} Entry */

/** Items of a container, and attributes, that its card lists. */
const MAX_LISTED = 16;
const CHIP_FONT = 11.5;

/** How a handle's card is written. @param {import("../trace/entities.js").Handle} handle */
export function handleCardText(handle) {
  const shape = handle.shape ? tuple(handle.shape) : (handle.type ?? "?");
  if (handle.kind === "array") {
    const role = handle.writeable === false ? "read-only" : "";
    return { shape, second: `numpy · ${plainDtype(handle.dtype)}`, role, tracked: false };
  }
  const secondLine = handle.stride
    ? `stride ${tuple(handle.stride)} offset ${handle.offset ?? "?"}`
    : [handle.layout, plainDtype(handle.dtype)].filter(Boolean).join(" · ");
  const role = handle.leaf === undefined ? "" : handle.leaf ? "leaf" : "node";
  return { shape, second: secondLine, role, tracked: Boolean(handle.requires_grad) };
}

/** What an object's card calls it. @param {import("../trace/entities.js").Container} object */
export function typeText(object) {
  return `${truncate(object.type ?? "object", 16)}${object.len === undefined ? "" : ` · ${object.len}`}`;
}

/** @param {string} name @param {string} text */
export function chipWidth(name, text) {
  return Math.ceil(textWidth(name, CHIP_FONT) + textWidth(text, CHIP_FONT) + 26);
}

/** The entries of an object's card. @param {import("../trace/entities.js").Container} object
 * @param {import("../trace/state.js").Entities} entities @returns {Entry[]} */
export function objectEntries(object, entities) {
  /** @type {Entry[]} */
  const out = [];
  const items = object.items ?? [];
  const attrs = Object.entries(object.attrs ?? {});
  /** Two keys that are written alike are two entries all the same. @param {string} name @param {Value} value */
  const addEntry = (name, value) => {
    let key = name;
    for (let n = 2; out.some((entry) => entry.key === key); n++) key = `${name} #${n}`;
    out.push({ key, value, text: valueText(value, 16, entities) });
  };
  const pairs = pairsOf(object)?.slice(0, MAX_LISTED);
  if (pairs) for (const [key, value] of pairs) addEntry(refOf(key) ?? valueText(key, 14, entities), value);
  else items.slice(0, MAX_LISTED).forEach((item, i) => addEntry(String(i), /** @type {Value} */ (item)));
  for (const [name, value] of attrs.slice(0, MAX_LISTED)) addEntry(name, value);
  const hiddenCount = Math.max(0, items.length - MAX_LISTED) + Math.max(0, attrs.length - MAX_LISTED);
  const omittedCount = hiddenCount + (object.elided ?? 0);
  if (omittedCount) out.push({ key: "…", value: null, text: `+${omittedCount}` });
  return out;
}
