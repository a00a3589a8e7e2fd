/** Python's side of the memory pane: a line for each object that the program names, and for what it holds. */

import { findEntity, type Container } from "../../trace/entities.ts";
import { isOptimizer, pathRoot } from "./first_names.ts";
import { namesOfHandle } from "./pane_names.ts";
import { referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { MemoryItem, RankedItems, HeadingItem, RowBlock } from "./memory_parts.ts";

/** Lines of one object for what it holds; those that the step left alone are counted beyond. */
const MAX_OBJECT_LINES = 8;

/** `states` are storages that only optimizers keep. */
export function objectOutlineEntries(memoryStep: MemoryStep, states: RowBlock[]): RankedItems[] {
  const out: RankedItems[] = [];
  const linesBySection = new Map<string, number>();
  for (const [uid, object] of memoryStep.entities) {
    const firstName = memoryStep.firstNames.byUid.get(uid);
    if (object.kind !== "object" || !firstName) continue;
    const wornNames = memoryStep.namesShownOn(uid);
    const isSectionHead = firstName.key === firstName.section;
    const objectIsOptimizer = isOptimizer(object);
    if (!wornNames.list.length && !objectIsOptimizer) continue;
    const isTouched = memoryStep.touched.uids.has(uid);
    const isVariable = wornNames.list.some((tag) => tag.kind === "var");
    if (!isSectionHead && !isVariable && !objectIsOptimizer) {
      if (!hasPlainValues(object)) continue;
      const lines = linesBySection.get(firstName.section) ?? 0;
      if (!isTouched && lines >= MAX_OBJECT_LINES) continue;
      linesBySection.set(firstName.section, lines + 1);
    }
    const ownStates = objectIsOptimizer ? states.filter((block) => isStateOfOptimizer(memoryStep, uid, block)) : [];
    const heading = objectHeadingItem(memoryStep, uid, isSectionHead ? "object" : "inner", isTouched);
    if (objectIsOptimizer) [heading.type, heading.state] = ["optimizer", ownStates];
    out.push({
      rank: memoryStep.firstNames.sectionRank(firstName.section),
      inner: isSectionHead ? -0.5 : firstName.rank,
      number: 0,
      items: [heading, ...optimizerStateRows(memoryStep, heading)],
    });
  }
  return out;
}

function objectHeadingItem(
  memoryStep: MemoryStep,
  uid: string,
  type: "object" | "inner",
  isTouched: boolean,
): HeadingItem {
  const { section = "" } = memoryStep.firstNames.byUid.get(uid) ?? {};
  const tags = memoryStep.namesShownOn(uid).list;
  const names = namesOfHandle(memoryStep, uid, tags, type === "object" ? "" : section);
  const list = type === "object" ? names.filter((name) => !name.short) : names;
  const hasNewName = list.some((name) => name.moved);
  const indent = type === "object" ? 0 : 1;
  return {
    kind: "heading",
    key: `object ${uid}`,
    section,
    uid,
    type,
    names: list,
    state: [],
    open: false,
    indent,
    hot: isTouched || hasNewName,
  };
}

/** Whether an object holds more than tensors and modules, which have places of their own. */
function hasPlainValues(object: Container) {
  if (object.items || object.len !== undefined) return true;
  return Object.values(object.attrs ?? {}).some((value) => value !== null && !referencedUid(value));
}

function isStateOfOptimizer(memoryStep: MemoryStep, optimizerUid: string, block: RowBlock) {
  const path = memoryStep.names.paths.get(optimizerUid);
  return path !== undefined && block.state !== null && block.state.text.startsWith(`${path}.`);
}

/** What an optimizer keeps for its parameters: in its line, unless the step touched it or the reader opened it. */
function optimizerStateRows(memoryStep: MemoryStep, heading: HeadingItem): MemoryItem[] {
  heading.open = memoryStep.options.toggled.has(`state ${heading.uid}`);
  const kinds = new Set(heading.state.map(optimizerStateKind));
  const roots = new Set(heading.state.map((block) => pathRoot(optimizerStateOwner(block))));
  const root = roots.size === 1 ? `${[...roots][0]}.` : ""; // the heading says of what the parameters are
  return heading.state.flatMap((block) => {
    const kind = kinds.size > 1 ? `${optimizerStateKind(block)} ` : "";
    const owner = optimizerStateOwner(block);
    block.label = owner
      ? kind + (owner.startsWith(root) ? owner.slice(root.length) : owner)
      : optimizerStateText(block);
    if (!heading.open && !block.hot && !block.uids.includes(memoryStep.options.selected ?? "")) return [];
    const { section } = heading;
    return [{ kind: "row", key: block.key, block, indent: 1, section, small: true } as const];
  });
}

/** What an optimizer keeps, like `exp_avg`. */
export function optimizerStateKind(block: RowBlock) {
  return block.state?.text.match(/\['(\w+)'\]$/)?.[1] ?? "";
}

/** Of what it keeps that, like `net.0.weight`; empty where that is of no tensor. */
function optimizerStateOwner(block: RowBlock) {
  return optimizerStateText(block).match(/\.state\[(.+)\]\['\w+'\]$/)?.[1] ?? "";
}

function optimizerStateText({ state, key }: RowBlock) {
  return state?.text ?? key;
}

/** What an optimizer's line says: its settings, and what it keeps. */
export function optimizerSettings(memoryStep: MemoryStep, uid: string): [string, Value][] {
  const optimizer = findEntity(memoryStep.entities, uid, "object");
  const groups = findEntity(memoryStep.entities, referencedUid(optimizer?.attrs?.param_groups), "object");
  const first = findEntity(memoryStep.entities, referencedUid(groups?.items?.[0] as Value), "object");
  const pairs = (first?.items ?? []).filter((item) => Array.isArray(item)) as [string, Value][];
  const shownSettings = ["lr", "momentum", "betas", "weight_decay"];
  return pairs.filter(([key, value]) => shownSettings.includes(key) && value !== 0 && value !== null);
}
