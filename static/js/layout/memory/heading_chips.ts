/** What a heading of the memory pane says of its frame or object: plain values, items, and where they lead. */

import { findEntity, isHandle, isSameValue } from "../../trace/entities.ts";
import { objectCardEntries, objectTypeText } from "../text/card_texts.ts";
import { bytesText, shortNumberText, tupleText, shortValueText, truncateText } from "../../trace/format.ts";
import { optimizerSettings, optimizerStateKind } from "./memory_outline.ts";
import { FONT_SIZES, textWidth } from "../text/metrics.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import { nameInSentences } from "./pane_names.ts";
import type { Value } from "../../trace/wire.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { HeadingItem, ValueChip, PlacedValueChip, WrappedValueChips } from "./memory_parts.ts";

const VALUE_CHIP_GAP = 12;
/** The least room of the number of those that are not shown. */
const HIDDEN_CHIP_COUNT_WIDTH = 30;

/** Python's own things that say nothing of what a program does. */
const TYPES_HIDDEN_IN_HEADINGS = new Set(["module", "type", "function", "builtin_function_or_method", "method"]);

/** Whether a name's value is told in its frame's line. */
function isShownInHeading(name: string, value: Value) {
  if (referencedUid(value) || (name.startsWith("__") && name.endsWith("__"))) return false;
  return !(value && typeof value === "object" && "py" in value && TYPES_HIDDEN_IN_HEADINGS.has(value.py));
}

/** The plain values of a frame. */
export function frameValueChips(memoryStep: MemoryStep, uid: string): ValueChip[] {
  const frame = findEntity(memoryStep.entities, uid, "frame");
  return [...(frame?.vars ?? [])].flatMap(([name, value]) => {
    if (!isShownInHeading(name, value)) return [];
    const changed = memoryStep.snapshot.changed.has(`${uid}/${name}`);
    return [
      {
        key: name,
        label: `${name} =`,
        text: shortValueText(value, 14, memoryStep.entities),
        value,
        kind: "value",
        changed,
      },
    ];
  });
}

export function headingValueChips(memoryStep: MemoryStep, item: HeadingItem): ValueChip[] {
  if (item.type === "frame") return frameValueChips(memoryStep, item.uid);
  if (item.type === "optimizer") return optimizerSettingChips(memoryStep, item);
  return objectValueChips(memoryStep, item.uid);
}

function optimizerSettingChips(memoryStep: MemoryStep, { uid, state }: HeadingItem): ValueChip[] {
  const settings = optimizerSettings(memoryStep, uid).map(
    ([key, value]) =>
      ({
        key,
        label: key,
        text: optimizerSettingText(memoryStep, value),
        value,
        kind: "note",
        changed: false,
      }) as ValueChip,
  );
  const params = optimizedTensorsText(memoryStep, uid);
  if (params)
    settings.push({ key: "params", label: "params", text: params, value: null, kind: "note", changed: false });
  if (!state.length) return settings;
  const stateKinds = [...new Set(state.map(optimizerStateKind))].filter(Boolean);
  const bytes = state.reduce(
    (sum, { storage }) => sum + (findEntity(memoryStep.entities, storage, "storage")?.nbytes ?? 0),
    0,
  );
  const text = `${state.length} × ${stateKinds.join(", ")} · ${bytesText(bytes)}`;
  return [...settings, { key: "state", label: "", text, value: null, kind: "note", changed: false }];
}

/**
 * Which tensors an optimizer updates: by the module that they are all of, else the first of them, and how many they
 * are.
 */
function optimizedTensorsText(memoryStep: MemoryStep, uid: string) {
  const groups = findEntity(
    memoryStep.entities,
    referencedUid(findEntity(memoryStep.entities, uid, "object")?.attrs?.param_groups),
    "object",
  );
  const names = (groups?.items ?? []).flatMap((group) => {
    const entries = findEntity(memoryStep.entities, referencedUid(group as Value), "object");
    const params = (entries && keyValuePairs(entries))?.find(([key]) => key === "params")?.[1];
    const list = findEntity(memoryStep.entities, referencedUid(params), "object");
    return (list?.items ?? []).flatMap((item) => {
      const ref = referencedUid(item as Value);
      return ref ? [nameInSentences(memoryStep, ref) ?? memoryStep.firstNames.byUid.get(ref)?.path ?? ref] : [];
    });
  });
  const roots = new Set(names.map((name) => name.replace(/[.[].*$/s, "")));
  if (names.length > 2 && roots.size === 1) return `${names.length} of ${[...roots][0]}`;
  if (names.length <= 2) return names.join(", ");
  return `${names.length}: ${truncateText(names[0], 14)}, …`;
}

function optimizerSettingText(memoryStep: MemoryStep, value: Value) {
  const items = findEntity(memoryStep.entities, referencedUid(value), "object")?.items;
  return items ? tupleText(items.map((item) => shortValueText(item as Value, 8))) : shortValueText(value, 12);
}

function objectValueChips(memoryStep: MemoryStep, uid: string): ValueChip[] {
  const object = findEntity(memoryStep.entities, uid, "object");
  if (!object) return [];
  const objectBefore = findEntity(memoryStep.previous, uid, "object");
  const valuesBefore = new Map(
    objectBefore ? objectCardEntries(objectBefore, memoryStep.previous).map(({ key, value }) => [key, value]) : [],
  );
  const listedCount = (object.items ?? []).length ? Math.min(16, (object.items ?? []).length) : 0;
  const isDict = keyValuePairs(object) !== null;
  return objectCardEntries(object, memoryStep.entities).flatMap(({ key, value, text }, k) => {
    const isAttribute = k >= listedCount && key !== "…";
    const label = key === "…" ? "" : isAttribute ? key : isDict ? `[${key}]` : `[${k}]`;
    const changed =
      memoryStep.touched.uids.has(uid) && (!valuesBefore.has(key) || !isSameValue(valuesBefore.get(key), value));
    const chip = objectChipContent(memoryStep, uid, value, text, isAttribute);
    return chip ? [{ key, label, value, changed, ...chip }] : [];
  });
}

function objectChipContent(
  memoryStep: MemoryStep,
  uid: string,
  value: Value,
  text: string,
  isAttribute: boolean,
): Pick<ValueChip, "text" | "kind"> | null {
  const ref = referencedUid(value);
  const target = memoryStep.entities.get(ref ?? "");
  if (isAttribute && value === null) return null;
  if (!ref || !target) return { text: typeof value === "number" ? shortNumberText(value, 7) : text, kind: "value" };
  const firstName = memoryStep.firstNames.byUid.get(ref);
  const ownName = memoryStep.firstNames.byUid.get(uid);
  const isBelow =
    firstName && ownName && firstName.path.startsWith(ownName.path) && firstName.path.length > ownName.path.length;
  if (isHandle(target)) {
    if (isBelow && isAttribute) return null;
    if (isBelow) return { text: tupleText(target.shape ?? []), kind: "here" };
    return { text: nameInSentences(memoryStep, ref) ?? firstName?.path ?? ref, kind: "tensor" };
  }
  if (target.kind !== "object") return { text, kind: "value" };
  if (isBelow) return { text: target.items ? objectTypeText(target) : (target.type ?? "object"), kind: "here" };
  return { text: nameInSentences(memoryStep, ref) ?? firstName?.path ?? ref, kind: "object" };
}

function valueChipWidth({ label, text, kind }: ValueChip) {
  const extra = kind === "tensor" || kind === "object" ? 20 : kind === "here" ? 10 : 0;
  return textWidth(label, FONT_SIZES.small) + (label ? 5 : 0) + textWidth(text, FONT_SIZES.small) + extra;
}

/**
 * Chips in lines between two edges: in one line those that fit, of which the changed come before all others. Further
 * lines begin at `leftEdge`.
 */
export function wrapValueChips(
  list: ValueChip[],
  firstX: number,
  rightEdge: number,
  leftEdge: number,
  open: boolean,
): WrappedValueChips {
  const maxWidth = Math.max(40, rightEdge - leftEdge);
  const moreWidth = Math.max(
    HIDDEN_CHIP_COUNT_WIDTH,
    Math.ceil(textWidth(`+${list.length}`, FONT_SIZES.small)) + VALUE_CHIP_GAP,
  );
  const cutChips = list.map((chip) =>
    valueChipWidth(chip) > maxWidth ? { ...chip, text: truncateText(chip.text, 12) } : chip,
  );
  const fitEnd = (start: number) => {
    let x = firstX + (start ? moreWidth : 0);
    let k = start;
    for (; k < cutChips.length; k++) {
      const w = valueChipWidth(cutChips[k]);
      if (x + w + (k < cutChips.length - 1 ? moreWidth : 0) > rightEdge) break;
      x += w + VALUE_CHIP_GAP;
    }
    return k;
  };
  let start = 0;
  if (!open) {
    const changedIndex = cutChips.findIndex((chip, k) => chip.changed && k >= fitEnd(0));
    if (changedIndex >= 0 && !cutChips.slice(0, fitEnd(0)).some((chip) => chip.changed)) start = changedIndex;
    // from the end backwards as many as there is room for
    while (start > 0 && fitEnd(start - 1) > changedIndex && fitEnd(start - 1) === cutChips.length) start -= 1;
  }
  const chips: PlacedValueChip[] = [];
  let x = firstX + (start ? moreWidth : 0);
  let line = 0;
  const end = open ? cutChips.length : fitEnd(start);
  for (let k = start; k < end; k++) {
    const w = valueChipWidth(cutChips[k]);
    if (open && x > leftEdge && x + w > rightEdge) [x, line] = [leftEdge, line + 1];
    chips.push({ ...cutChips[k], x, line, w });
    x += w + VALUE_CHIP_GAP;
  }
  const after = cutChips.length - end;
  return { chips, before: start, after, beforeX: firstX, afterX: x, afterLine: line, more: moreWidth, lines: line + 1 };
}
