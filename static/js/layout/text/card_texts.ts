/** What cards say, and how wide that is: handles, frames, containers and name tags. */

import { tupleText, shortValueText, truncateText } from "../../trace/format.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import type { Container, Handle } from "../../trace/entities.ts";
import type { Entities } from "../../trace/state.ts";
import type { Value } from "../../trace/wire.ts";

interface CardEntry {
  key: string;
  value: Value;
  text: string;
}

/** Items of a container, and attributes, that its card lists. */
const MAX_CARD_ENTRIES = 16;

/** How a handle's card is written. */
export function handleCardTexts(handle: Handle) {
  const shape = handle.shape ? tupleText(handle.shape) : (handle.type ?? "?");
  if (handle.kind === "array") {
    const role = handle.writeable === false ? "read-only" : "";
    return { shape, second: `numpy · ${unqualifiedDtype(handle.dtype)}`, role, tracked: false };
  }
  const secondLine = handle.stride
    ? `stride ${tupleText(handle.stride)} offset ${handle.offset ?? "?"}`
    : [handle.layout, unqualifiedDtype(handle.dtype)].filter(Boolean).join(" · ");
  const role = handle.leaf === undefined ? "" : handle.leaf ? "leaf" : "node";
  return { shape, second: secondLine, role, tracked: Boolean(handle.requires_grad) };
}

/** What an object's card calls it. */
export function objectTypeText(object: Container) {
  return `${truncateText(object.type ?? "object", 16)}${object.len === undefined ? "" : ` · ${object.len}`}`;
}

/** The entries of an object's card. */
export function objectCardEntries(object: Container, entities: Entities): CardEntry[] {
  const out: CardEntry[] = [];
  const items = object.items ?? [];
  const attrs = Object.entries(object.attrs ?? {});
  /** Two keys that are written alike are two entries all the same. */
  const addEntry = (name: string, value: Value) => {
    let key = name;
    for (let n = 2; out.some((entry) => entry.key === key); n++) key = `${name} #${n}`;
    out.push({ key, value, text: shortValueText(value, 16, entities) });
  };
  const pairs = keyValuePairs(object)?.slice(0, MAX_CARD_ENTRIES);
  if (pairs) for (const [key, value] of pairs) addEntry(referencedUid(key) ?? shortValueText(key, 14, entities), value);
  else items.slice(0, MAX_CARD_ENTRIES).forEach((item, i) => addEntry(String(i), item as Value));
  for (const [name, value] of attrs.slice(0, MAX_CARD_ENTRIES)) addEntry(name, value);
  const hiddenCount = Math.max(0, items.length - MAX_CARD_ENTRIES) + Math.max(0, attrs.length - MAX_CARD_ENTRIES);
  const omittedCount = hiddenCount + (object.elided ?? 0);
  if (omittedCount) out.push({ key: "…", value: null, text: `+${omittedCount}` });
  return out;
}
