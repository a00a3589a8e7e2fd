/** What a heading of the memory pane says of its frame or object: plain values, items, and where they lead. */

import { find, isHandle, sameValue } from "../trace/entities.ts";
import { objectEntries, typeText } from "./card_texts.ts";
import { bytesText, shortNumber, tuple, valueText } from "./format.ts";
import { optimizerSettings, stateKind } from "./memory_outline.ts";
import { textWidth, truncate } from "./metrics.ts";
import { pairsOf, refOf } from "../trace/names.ts";
import { spokenName } from "./pane_names.ts";
import type { Value } from "../trace/wire.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { HeadingItem, Chip, PlacedChip, ChipFlow } from "./memory_parts.ts";

export const CHIP_FONT = 10.5;
const GAP = 12;
/** The least room of the number of those that are not shown. */
const MORE_WIDTH = 30;
const MORE_FONT = 10;

/** Python's own things that say nothing of what a program does. */
const UNSHOWN_TYPES = new Set(["module", "type", "function", "builtin_function_or_method", "method"]);

/** Whether a name's value is told in its frame's line. */
function isShownInHeading(name: string, value: Value) {
  if (refOf(value) || (name.startsWith("__") && name.endsWith("__"))) return false;
  return !(value && typeof value === "object" && "py" in value && UNSHOWN_TYPES.has(value.py));
}

/** The plain values of a frame. */
export function frameChips(memoryStep: MemoryStep, uid: string): Chip[] {
  const frame = find(memoryStep.entities, uid, "frame");
  return [...(frame?.vars ?? [])].flatMap(([name, value]) => {
    if (!isShownInHeading(name, value)) return [];
    const changed = memoryStep.snap.changed.has(`${uid}/${name}`);
    return [
      { key: name, label: `${name} =`, text: valueText(value, 14, memoryStep.entities), value, kind: "value", changed },
    ];
  });
}

export function headingChips(memoryStep: MemoryStep, item: HeadingItem): Chip[] {
  if (item.type === "frame") return frameChips(memoryStep, item.uid);
  if (item.type === "optimizer") return optimizerChips(memoryStep, item);
  return objectChips(memoryStep, item.uid);
}

function optimizerChips(memoryStep: MemoryStep, { uid, state }: HeadingItem): Chip[] {
  const settings = optimizerSettings(memoryStep, uid).map(
    ([key, value]) =>
      ({
        key,
        label: key,
        text: settingText(memoryStep, value),
        value,
        kind: "note",
        changed: false,
      }) as Chip,
  );
  const params = optimizedText(memoryStep, uid);
  if (params)
    settings.push({ key: "params", label: "params", text: params, value: null, kind: "note", changed: false });
  if (!state.length) return settings;
  const stateKinds = [...new Set(state.map(stateKind))].filter(Boolean);
  const bytes = state.reduce(
    (sum, { storage }) => sum + (find(memoryStep.entities, storage, "storage")?.nbytes ?? 0),
    0,
  );
  const text = `${state.length} × ${stateKinds.join(", ")} · ${bytesText(bytes)}`;
  return [...settings, { key: "state", label: "", text, value: null, kind: "note", changed: false }];
}

/**
 * Which tensors an optimizer updates: by the module that they are all of, else the first of them, and how many they
 * are.
 * @param uid of the optimizer
 */
function optimizedText(memoryStep: MemoryStep, uid: string) {
  const groups = find(
    memoryStep.entities,
    refOf(find(memoryStep.entities, uid, "object")?.attrs?.param_groups),
    "object",
  );
  const names = (groups?.items ?? []).flatMap((group) => {
    const entries = find(memoryStep.entities, refOf(group as Value), "object");
    const params = (entries && pairsOf(entries))?.find(([key]) => key === "params")?.[1];
    const list = find(memoryStep.entities, refOf(params), "object");
    return (list?.items ?? []).flatMap((item) => {
      const ref = refOf(item as Value);
      return ref ? [spokenName(memoryStep, ref) ?? memoryStep.homes.homeOf.get(ref)?.path ?? ref] : [];
    });
  });
  const roots = new Set(names.map((name) => name.replace(/[.[].*$/s, "")));
  if (names.length > 2 && roots.size === 1) return `${names.length} of ${[...roots][0]}`;
  if (names.length <= 2) return names.join(", ");
  return `${names.length}: ${truncate(names[0], 14)}, …`;
}

function settingText(memoryStep: MemoryStep, value: Value) {
  const items = find(memoryStep.entities, refOf(value), "object")?.items;
  return items ? tuple(items.map((item) => valueText(item as Value, 8))) : valueText(value, 12);
}

function objectChips(memoryStep: MemoryStep, uid: string): Chip[] {
  const object = find(memoryStep.entities, uid, "object");
  if (!object) return [];
  const objectBefore = find(memoryStep.previous, uid, "object");
  const valuesBefore = new Map(
    objectBefore ? objectEntries(objectBefore, memoryStep.previous).map(({ key, value }) => [key, value]) : [],
  );
  const listedCount = (object.items ?? []).length ? Math.min(16, (object.items ?? []).length) : 0;
  const isDict = pairsOf(object) !== null;
  return objectEntries(object, memoryStep.entities).flatMap(({ key, value, text }, k) => {
    const isAttribute = k >= listedCount && key !== "…";
    const label = key === "…" ? "" : isAttribute ? key : isDict ? `[${key}]` : `[${k}]`;
    const changed =
      memoryStep.touched.uids.has(uid) && (!valuesBefore.has(key) || !sameValue(valuesBefore.get(key), value));
    const chip = objectChip(memoryStep, uid, value, text, isAttribute);
    return chip ? [{ key, label, value, changed, ...chip }] : [];
  });
}

function objectChip(
  memoryStep: MemoryStep,
  uid: string,
  value: Value,
  text: string,
  isAttribute: boolean,
): Pick<Chip, "text" | "kind"> | null {
  const ref = refOf(value);
  const target = memoryStep.entities.get(ref ?? "");
  if (isAttribute && value === null) return null;
  if (!ref || !target) return { text: typeof value === "number" ? shortNumber(value, 7) : text, kind: "value" };
  const home = memoryStep.homes.homeOf.get(ref);
  const ownHome = memoryStep.homes.homeOf.get(uid);
  const isBelow = home && ownHome && home.path.startsWith(ownHome.path) && home.path.length > ownHome.path.length;
  if (isHandle(target)) {
    if (isBelow && isAttribute) return null;
    if (isBelow) return { text: tuple(target.shape ?? []), kind: "here" };
    return { text: spokenName(memoryStep, ref) ?? home?.path ?? ref, kind: "tensor" };
  }
  if (target.kind !== "object") return { text, kind: "value" };
  if (isBelow) return { text: target.items ? typeText(target) : (target.type ?? "object"), kind: "here" };
  return { text: spokenName(memoryStep, ref) ?? home?.path ?? ref, kind: "object" };
}

function chipWidth({ label, text, kind }: Chip) {
  const extra = kind === "tensor" || kind === "object" ? 20 : kind === "here" ? 10 : 0;
  return textWidth(label, CHIP_FONT) + (label ? 5 : 0) + textWidth(text, CHIP_FONT) + extra;
}

/**
 * Chips in lines between two edges: in one line those that fit, of which the changed come before all others.
 * @param leftEdge of further lines
 */
export function flowChips(list: Chip[], firstX: number, rightEdge: number, leftEdge: number, open: boolean): ChipFlow {
  const maxWidth = Math.max(40, rightEdge - leftEdge);
  const moreWidth = Math.max(MORE_WIDTH, Math.ceil(textWidth(`+${list.length}`, MORE_FONT)) + GAP);
  const cutChips = list.map((chip) => (chipWidth(chip) > maxWidth ? { ...chip, text: truncate(chip.text, 12) } : chip));
  const fitEnd = (start: number) => {
    let x = firstX + (start ? moreWidth : 0);
    let k = start;
    for (; k < cutChips.length; k++) {
      const w = chipWidth(cutChips[k]);
      if (x + w + (k < cutChips.length - 1 ? moreWidth : 0) > rightEdge) break;
      x += w + GAP;
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
  const chips: PlacedChip[] = [];
  let x = firstX + (start ? moreWidth : 0);
  let line = 0;
  const end = open ? cutChips.length : fitEnd(start);
  for (let k = start; k < end; k++) {
    const w = chipWidth(cutChips[k]);
    if (open && x > leftEdge && x + w > rightEdge) [x, line] = [leftEdge, line + 1];
    chips.push({ ...cutChips[k], x, line, w });
    x += w + GAP;
  }
  const after = cutChips.length - end;
  return { chips, before: start, after, beforeX: firstX, afterX: x, afterLine: line, more: moreWidth, lines: line + 1 };
}
