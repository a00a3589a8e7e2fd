/** What there is to say of a named tensor, array or number at a step, so that two runs can be compared by names. */

import { find, findHandle } from "../trace/entities.js";
import { cellsRead, numbersText } from "../findings/numbers.js";
import { dtypeText, tuple, valueText, wireText } from "../layout/format.js";
import { shortNodeName } from "../layout/node_labels.js";
import { addToList } from "../trace/multimap.js";

/** @typedef {import("../trace/state.js").Entities} Entities */
/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../trace/entities.js").Handle} Handle */
/** @typedef {import("../trace/entities.js").Value} Value */
/**
 * @typedef {{text: string, key: string}} Fact   as a reader sees it; equal keys mean the same
 * @typedef {"type" | "values" | "shape" | "dtype" | "device" | "stride" | "requires_grad" | "leaf" | "node" | "version"
 *   | "memory" | "counter" | "grad" | "base"} Property
 * @typedef {Partial<Record<Property, Fact>>} Facts
 * @typedef {{own: Facts, shared: Facts, uid: string | null}} NamedFacts
 *   own: the same object as long as nothing of it changes; shared: with which other names; uid: of what it names, null for a
 *   plain value
 */

/** In the order in which they are told. @type {Property[]} */
export const PROPERTIES = [
  "type",
  "shape",
  "dtype",
  "device",
  "memory",
  "counter",
  "base",
  "stride",
  "values",
  "version",
  "requires_grad",
  "leaf",
  "node",
  "grad",
];

/** What the names of a run mean after a step, by name; a name of a function has the function before it.
 * @param {OpenTrace} opened @param {number} step @returns {Map<string, NamedFacts>} */
export function factsByName(opened, step) {
  const entities = opened.state(step);
  const { tags } = opened.names(step);
  /** @type {Map<string, string>} names of handles, by name */
  const handles = new Map();
  for (const [uid, list] of tags)
    for (const { text, scope, kind } of list)
      if (kind !== "grad" && findHandle(entities, uid)) addFirst(handles, scope ? `${scope}: ${text}` : text, uid);
  /** @type {Map<string, NamedFacts>} */
  const named = new Map();
  const sharing = {
    memory: namesBySharedId(handles, (uid) => findHandle(entities, uid)?.storage),
    counter: namesBySharedId(handles, (uid) => findHandle(entities, uid)?.counter),
    byUid: namesBySharedId(handles, (uid) => uid),
  };
  for (const [name, uid] of handles) {
    const handle = /** @type {Handle} */ (findHandle(entities, uid));
    named.set(name, { uid, own: ownFacts(entities, handle), shared: sharedFacts(name, handle, sharing) });
  }
  for (const entity of entities.values())
    if (entity.kind === "frame")
      for (const [name, value] of entity.vars)
        addValue(named, entity.caller ? `${entity.name}: ${name}` : name, value, entities);
  return named;
}

/** The first of equal names stays. @param {Map<string, string>} map @param {string} name @param {string} uid */
function addFirst(map, name, uid) {
  if (!map.has(name)) map.set(name, uid);
}

/** A variable that is no tensor: its value, or the type of the object. @param {Map<string, NamedFacts>} named @param {string} name
 * @param {Value} value @param {Entities} entities */
function addValue(named, name, value, entities) {
  if (named.has(name)) return;
  if (value !== null && typeof value === "object" && "ref" in value) {
    const object = find(entities, value.ref, "object");
    if (object) named.set(name, { uid: value.ref, own: { type: fact(typeText(object)) }, shared: NO_FACTS });
  } else if (value !== null && typeof value === "object" && "py" in value) {
    named.set(name, { uid: null, own: { type: fact(value.py) }, shared: NO_FACTS });
  } else {
    const values = { text: valueText(value, 40), key: wireText(value) };
    named.set(name, { uid: null, own: { values }, shared: NO_FACTS });
  }
}

/** @param {import("../trace/entities.js").Container} object */
function typeText({ type = "object", len }) {
  return len === undefined ? type : `${type} (${len})`;
}

/** @type {Facts} */
const NO_FACTS = {};
/** @type {Fact} nobody else */
const SHARED_WITH_NONE = { text: "", key: "" };

/** @param {string} text @returns {Fact} */
function fact(text) {
  return { text, key: text };
}

/** The names of the same thing, by the thing. @param {Map<string, string>} handles uids by name
 * @param {(uid: string) => string | null | undefined} idOf @returns {Map<string, string[]>} */
function namesBySharedId(handles, idOf) {
  /** @type {Map<string, string[]>} */
  const members = new Map();
  for (const [name, uid] of handles) {
    const key = idOf(uid);
    if (key) addToList(members, key, name);
  }
  return members;
}

/** @type {WeakMap<Handle, {storage: unknown, counter: unknown, grad: unknown, facts: Facts}>} */
const ownFactsCache = new WeakMap();

/** What a handle says of itself. @param {Entities} entities @param {Handle} handle @returns {Facts} */
function ownFacts(entities, handle) {
  const storage = entities.get(handle.storage ?? "");
  const counter = entities.get(handle.counter ?? "");
  const grad = findHandle(entities, handle.grad);
  const gradMemory = grad && entities.get(grad.storage ?? "");
  const cached = ownFactsCache.get(handle);
  if (cached && cached.storage === storage && cached.counter === counter && cached.grad === gradMemory)
    return cached.facts;
  /** @type {Facts} */
  const facts = {
    type: fact(handle.type ?? handle.kind),
    shape: fact(tuple(handle.shape ?? [])),
    dtype: fact(dtypeText(handle.dtype ?? "")),
    values: valuesFact(entities, handle),
  };
  if (handle.kind === "tensor") {
    const node = find(entities, handle.grad_fn, "node");
    Object.assign(facts, {
      device: fact(handle.device ?? "cpu"),
      stride: fact(tuple(handle.stride ?? [])),
      version: counter?.kind === "counter" ? fact(String(counter.value ?? 0)) : undefined,
      requires_grad: fact(handle.requires_grad ? "True" : "False"),
      leaf: fact(handle.leaf ? "True" : "False"),
      node: fact(node ? shortNodeName(node.name ?? "") : "None"),
      grad: grad ? valuesFact(entities, grad) : fact("None"),
    });
  }
  ownFactsCache.set(handle, { storage, counter, grad: gradMemory, facts });
  return facts;
}

/** The elements where the trace lists them; of a big one its numbers in short. @param {Entities} entities @param {Handle} handle @returns {Fact | undefined} */
function valuesFact(entities, handle) {
  const cells = cellsRead(entities, handle);
  if (cells)
    return {
      key: wireText(cells),
      get text() {
        return numbersText(cells, !handle.shape?.length);
      },
    };
  const summary = find(entities, handle.storage, "storage")?.summary?.[dtypeText(handle.dtype ?? "")];
  if (!summary) return undefined;
  const { min = null, mean = null, max = null } = summary;
  const text = `min ${valueText(min, 8)}, mean ${valueText(mean, 8)}, max ${valueText(max, 8)}`;
  return { text, key: wireText(summary) };
}

/** With which other names a handle shares its memory and its counter, and of what it is a view. @param {string} name @param {Handle} handle
 * @param {{memory: Map<string, string[]>, counter: Map<string, string[]>, byUid: Map<string, string[]>}} sharing @returns {Facts} */
function sharedFacts(name, handle, { memory, counter, byUid }) {
  const otherNamesFact = (/** @type {string[] | undefined} */ group) =>
    group && group.length > 1 ? fact(group.filter((other) => other !== name).join(", ")) : SHARED_WITH_NONE;
  /** @type {Facts} */
  const facts = {};
  if (handle.storage) facts.memory = otherNamesFact(memory.get(handle.storage));
  if (handle.counter) facts.counter = otherNamesFact(counter.get(handle.counter));
  if (handle.kind === "tensor") facts.base = handle.base ? fact(byUid.get(handle.base)?.[0] ?? "…") : SHARED_WITH_NONE;
  return facts;
}
