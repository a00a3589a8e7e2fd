/** By which names and paths the program reaches a thing at a step: `a`, `xs[0]`, `net.0.weight`, `a.grad`. */

/**
 * @typedef {{kind: "var" | "item" | "grad", text: string, frame: string | null, name: string, scope: string}} Tag
 *   `scope`: the function for a name of an inner frame, else empty
 * @typedef {{tags: Map<string, Tag[]>, paths: Map<string, string>, missing: Set<string>}} Names   missing: uids that names
 *   would lead to if they were there
 */

/** @typedef {import("./entities.js").Value} Value */
/** @typedef {import("./entities.js").Entity} Entity */
/** @typedef {import("./entities.js").Container} Container */

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const MAX_ITEM_TAGS = 3;

/** Whether names begin at an entity, or go on from it otherwise than through its items. @param {Entity} entity */
export function leadsToNames(entity) {
  return (
    entity.kind === "frame" ||
    (entity.kind === "tensor" && Boolean(entity.grad || entity.parts || entity.tangent || entity.wraps))
  );
}

/** Whether a step leaves all names as they were, told without looking at each. @param {Names} names before it
 * @param {import("./wire.js").Step} traceStep @param {ReadonlyMap<string, Entity>} before @param {ReadonlyMap<string, Entity>} after */
export function areNamesUnchanged(names, traceStep, before, after) {
  const leadsOn = (/** @type {Entity | undefined} */ entity) =>
    entity !== undefined && (entity.kind === "object" || leadsToNames(entity));
  return (
    Object.keys(traceStep.set ?? {}).every(
      (uid) => !names.missing.has(uid) && !leadsOn(before.get(uid)) && !leadsOn(after.get(uid)),
    ) && (traceStep.gone ?? []).every((uid) => !names.tags.has(uid) && !leadsOn(before.get(uid)))
  );
}

/** The uid that an encoded value refers to. @param {Value | undefined} value @returns {string | null} */
export function refOf(value) {
  return value && typeof value === "object" && "ref" in value ? value.ref : null;
}

/** The parts of an object that the program reaches, with the suffix that reaches each.
 * @param {Container} object @param {Map<string, string>} paths by uid, what is reached already
 * @returns {[string, Value][]} */
function reachableParts(object, paths) {
  /** @type {[string, Value][]} */
  const out = [];
  const keyedItems = pairsOf(object);
  if (keyedItems) for (const [key, value] of keyedItems) out.push([keyText(key, paths), value]);
  else (object.items ?? []).forEach((item, i) => out.push([`[${i}]`, /** @type {Value} */ (item)]));
  for (const [name, value] of Object.entries(object.attrs ?? {}))
    out.push([IDENTIFIER.test(name) || /^[\w.]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`, value]);
  return out;
}

/** A container's items where they are pairs of a key and a value; else null. @param {Container} object
 * @returns {[Value, Value][] | null} */
export function pairsOf(object) {
  const items = object.items ?? [];
  const isPaired = items.length > 0 && items.every((item) => Array.isArray(item) && item.length === 2);
  return isPaired ? /** @type {[Value, Value][]} */ (items) : null;
}

/** The things that are keys of a dict. @param {Container} object @returns {string[]} uids */
function keysOf({ items }) {
  return (items ?? []).flatMap((item) => (Array.isArray(item) && item.length === 2 && refOf(item[0])) || []);
}

/** @param {Value} key @param {Map<string, string>} paths */
function keyText(key, paths) {
  if (typeof key === "string") return `['${key}']`;
  const ref = refOf(key);
  if (ref) return `[${paths.get(ref) ?? ref}]`;
  if (key === null || typeof key !== "object") return `[${String(key)}]`;
  return `[${"py" in key ? key.py : "$i" in key ? key.$i : "…"}]`;
}

/**
 * @param {{get: (uid: string) => Entity | undefined, has: (uid: string) => boolean}} entities
 * @param {Iterable<[string, Entity]>} sources what of it can name anything: frames, and tensors that carry others; it is gone
 *   through more than once
 * @returns {Names}
 */
export function namesAndPaths(entities, sources) {
  /** @type {Map<string, Tag[]>} */
  const tags = new Map();
  /** @type {Map<string, string>} */
  const paths = new Map();
  /** @type {Set<string>} */
  const missing = new Set();
  const isThere = (/** @type {string} */ uid) => {
    const there = entities.has(uid);
    if (!there) missing.add(uid);
    return there;
  };
  /** @type {string[]} */
  const queue = [];
  /** @param {string} uid @param {Tag} tag */
  const addTag = (uid, tag) => {
    const list = tags.get(uid);
    if (list) list.push(tag);
    else tags.set(uid, [tag]);
    if (paths.has(uid)) return;
    paths.set(uid, tag.text);
    if (uid[0] === "o") queue.push(uid);
  };
  for (const [uid, frame] of sources) {
    if (frame.kind !== "frame") continue;
    const scope = frame.caller ? `${frame.name}` : "";
    for (const [name, value] of frame.vars) {
      const ref = refOf(value);
      if (ref && isThere(ref)) addTag(ref, { kind: "var", text: name, frame: uid, name, scope: scope });
    }
  }
  /** @param {string} uid */
  const visitObject = (uid) => {
    const path = paths.get(uid) ?? "";
    for (const [suffix, value] of reachableParts(/** @type {Container} */ (entities.get(uid)), paths)) {
      const ref = refOf(value);
      if (!ref || !isThere(ref)) continue;
      const shownCount = (tags.get(ref) ?? []).filter((t) => t.kind === "item").length;
      if (shownCount < MAX_ITEM_TAGS)
        addTag(ref, { kind: "item", text: path + suffix, frame: null, name: path + suffix, scope: "" });
    }
  };
  /** whose keys have no names yet: an optimizer's state by parameter, before the module is gone through @type {string[]} */
  const withUnnamedKeys = [];
  let queueIndex = 0;
  for (; queueIndex < queue.length; queueIndex++) {
    const object = /** @type {Container} */ (entities.get(queue[queueIndex]));
    if (keysOf(object).some((uid) => isThere(uid) && !paths.has(uid))) withUnnamedKeys.push(queue[queueIndex]);
    else visitObject(queue[queueIndex]);
  }
  for (queue.push(...withUnnamedKeys); queueIndex < queue.length; queueIndex++) visitObject(queue[queueIndex]);
  // What a tensor is made of or carries: `s.values`, `d.tangent`, and under a transform the tensor that it wraps.
  for (const [uid, tensor] of sources) {
    if (tensor.kind !== "tensor") continue;
    const carriedTensors = Object.entries(tensor.parts ?? {});
    if (tensor.tangent) carriedTensors.push(["tangent", tensor.tangent]);
    const wrappedUid = refOf(tensor.wraps?.value);
    if (wrappedUid) carriedTensors.push(["value", wrappedUid]);
    for (const [part, ref] of carriedTensors) {
      const text = `${paths.get(uid) ?? ""}.${part}`;
      if (paths.has(uid) && isThere(ref) && !paths.has(ref))
        addTag(ref, { kind: "item", text, frame: null, name: text, scope: "" });
    }
  }
  for (const [uid, tensor] of sources) {
    if (tensor.kind !== "tensor" || !tensor.grad || !isThere(tensor.grad)) continue;
    const ownerUid = paths.get(uid);
    const text = `${ownerUid ?? ""}.grad`;
    addTag(tensor.grad, { kind: "grad", text, frame: null, name: text, scope: "" });
  }
  return { tags, paths, missing };
}
