/** Python's side of the memory pane: a line for each object that the program names, and for what it holds. */

import { find } from "../trace/entities.js";
import { isOptimizer, rootOf } from "./homes.js";
import { shownNames } from "./pane_names.js";
import { refOf } from "../trace/names.js";

/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./memory_items.js").HeadingItem} HeadingItem */
/** @typedef {import("./memory_items.js").MemoryItem} MemoryItem */
/** @typedef {import("./memory_blocks.js").Block} Block */
/** @typedef {import("./memory_items.js").Entry} Entry */

/** Lines of one object for what it holds; those that the step left alone are counted beyond. */
const MAX_OBJECT_LINES = 8;

/** @param {MemoryStep} memoryStep @param {Block[]} states storages that only optimizers keep @returns {Entry[]} */
export function objectEntries(memoryStep, states) {
  /** @type {Entry[]} */
  const out = [];
  const linesBySection = /** @type {Map<string, number>} */ (new Map());
  for (const [uid, object] of memoryStep.entities) {
    const home = memoryStep.homes.homeOf.get(uid);
    if (object.kind !== "object" || !home) continue;
    const wornNames = memoryStep.namesOn(uid);
    const isSectionHead = home.key === home.section;
    const objectIsOptimizer = isOptimizer(object);
    if (!wornNames.list.length && !objectIsOptimizer) continue;
    const isTouched = memoryStep.touched.uids.has(uid);
    const isVariable = wornNames.list.some((tag) => tag.kind === "var");
    if (!isSectionHead && !isVariable && !objectIsOptimizer) {
      if (!hasValues(object)) continue;
      const lines = linesBySection.get(home.section) ?? 0;
      if (!isTouched && lines >= MAX_OBJECT_LINES) continue;
      linesBySection.set(home.section, lines + 1);
    }
    const ownStates = objectIsOptimizer ? states.filter((block) => holdsState(memoryStep, uid, block)) : [];
    const heading = objectHeading(memoryStep, uid, isSectionHead ? "object" : "inner", isTouched);
    if (objectIsOptimizer) [heading.type, heading.state] = ["optimizer", ownStates];
    out.push({
      rank: memoryStep.homes.sectionRank(home.section),
      inner: isSectionHead ? -0.5 : home.rank,
      number: 0,
      items: [heading, ...optimizerStateRows(memoryStep, heading)],
    });
  }
  return out;
}

/** @param {MemoryStep} memoryStep @param {string} uid @param {"object" | "inner"} type @param {boolean} isTouched @returns {HeadingItem} */
function objectHeading(memoryStep, uid, type, isTouched) {
  const { section = "" } = memoryStep.homes.homeOf.get(uid) ?? {};
  const tags = memoryStep.namesOn(uid).list;
  const names = shownNames(memoryStep, uid, tags, type === "object" ? "" : section);
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

/** Whether an object holds more than tensors and modules, which have places of their own.
 * @param {import("../trace/entities.js").Container} object */
function hasValues(object) {
  if (object.items || object.len !== undefined) return true;
  return Object.values(object.attrs ?? {}).some((value) => value !== null && !refOf(value));
}

/** @param {MemoryStep} memoryStep @param {string} optimizerUid @param {Block} block */
function holdsState(memoryStep, optimizerUid, block) {
  const path = memoryStep.names.paths.get(optimizerUid);
  return path !== undefined && block.state !== null && block.state.text.startsWith(`${path}.`);
}

/** What an optimizer keeps for its parameters: in its line, unless the step touched it or the reader opened it.
 * @param {MemoryStep} memoryStep @param {HeadingItem} heading @returns {MemoryItem[]} */
function optimizerStateRows(memoryStep, heading) {
  heading.open = memoryStep.options.toggled.has(`state ${heading.uid}`);
  const kinds = new Set(heading.state.map(stateKind));
  const roots = new Set(heading.state.map((block) => rootOf(stateOwner(block))));
  const root = roots.size === 1 ? `${[...roots][0]}.` : ""; // the heading says of what the parameters are
  return heading.state.flatMap((block) => {
    const kind = kinds.size > 1 ? `${stateKind(block)} ` : "";
    const owner = stateOwner(block);
    block.label = owner ? kind + (owner.startsWith(root) ? owner.slice(root.length) : owner) : stateText(block);
    if (!heading.open && !block.hot && !block.uids.includes(memoryStep.options.selected ?? "")) return [];
    const { section } = heading;
    return [/** @type {const} */ ({ kind: "row", key: block.key, block, indent: 1, section, small: true })];
  });
}

/** What an optimizer keeps, like `exp_avg`. @param {Block} block */
export function stateKind(block) {
  return block.state?.text.match(/\['(\w+)'\]$/)?.[1] ?? "";
}

/** Of what it keeps that, like `net.0.weight`; empty where that is of no tensor. @param {Block} block */
function stateOwner(block) {
  return stateText(block).match(/\.state\[(.+)\]\['\w+'\]$/)?.[1] ?? "";
}

/** @param {Block} block */
function stateText({ state, key }) {
  return state?.text ?? key;
}

/** What an optimizer's line says: its settings, and what it keeps.
 * @param {MemoryStep} memoryStep @param {string} uid @returns {[string, import("../trace/entities.js").Value][]} */
export function optimizerSettings(memoryStep, uid) {
  const optimizer = find(memoryStep.entities, uid, "object");
  const groups = find(memoryStep.entities, refOf(optimizer?.attrs?.param_groups), "object");
  const first = find(
    memoryStep.entities,
    refOf(/** @type {import("../trace/entities.js").Value} */ (groups?.items?.[0])),
    "object",
  );
  const pairs = /** @type {[string, import("../trace/entities.js").Value][]} */ (
    (first?.items ?? []).filter((item) => Array.isArray(item))
  );
  const shownSettings = ["lr", "momentum", "betas", "weight_decay"];
  return pairs.filter(([key, value]) => shownSettings.includes(key) && value !== 0 && value !== null);
}
