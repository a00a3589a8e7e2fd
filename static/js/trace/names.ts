/** By which names and paths the program reaches a thing at a step: `a`, `xs[0]`, `net.0.weight`, `a.grad`. */

import type { Container, Entity } from "./entities.ts";
import type { Step, Value } from "./wire.ts";

/** `scope`: an inner frame's function, for its names; `root`: the frame whose variable the text begins with */
export interface NameTag {
  kind: "var" | "item" | "grad";
  text: string;
  frame: string | null;
  name: string;
  scope: string;
  root: string | null;
}

export interface Names {
  tags: Map<string, NameTag[]>;
  paths: Map<string, string>;
  /** uids that names would lead to if they were there */
  missing: Set<string>;
}

const IDENTIFIER_PATTERN = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const MAX_ITEM_TAGS = 3;

/** Whether names begin at an entity, or go on from it otherwise than through its items. */
export function canBeNamePrefix(entity: Entity) {
  return (
    entity.kind === "frame" ||
    (entity.kind === "tensor" && Boolean(entity.grad || entity.parts || entity.tangent || entity.wraps))
  );
}

/** Whether a step leaves all names, which are those before it, as they were, told without looking at each. */
export function doesStepKeepNames(
  names: Names,
  traceStep: Step,
  before: ReadonlyMap<string, Entity>,
  after: ReadonlyMap<string, Entity>,
) {
  const leadsOn = (entity: Entity | undefined) =>
    entity !== undefined && (entity.kind === "object" || canBeNamePrefix(entity));
  return (
    Object.keys(traceStep.set ?? {}).every(
      (uid) => !names.missing.has(uid) && !leadsOn(before.get(uid)) && !leadsOn(after.get(uid)),
    ) && (traceStep.gone ?? []).every((uid) => !names.tags.has(uid) && !leadsOn(before.get(uid)))
  );
}

/** The uid that an encoded value refers to. */
export function referencedUid(value: Value | undefined): string | null {
  return value && typeof value === "object" && "ref" in value ? value.ref : null;
}

/**
 * The parts of an object that the program reaches, with the suffix that reaches each. `paths` has, by uid, what is
 * reached already.
 */
function reachablePartsWithSuffixes(object: Container, paths: Map<string, string>): [string, Value][] {
  const out: [string, Value][] = [];
  const keyedItems = keyValuePairs(object);
  if (keyedItems) for (const [key, value] of keyedItems) out.push([dictKeyText(key, paths), value]);
  else (object.items ?? []).forEach((item, i) => out.push([`[${i}]`, item as Value]));
  for (const [name, value] of Object.entries(object.attrs ?? {}))
    out.push([
      IDENTIFIER_PATTERN.test(name) || /^[\w.]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
      value,
    ]);
  return out;
}

/** A container's items where they are pairs of a key and a value; else null. */
export function keyValuePairs(object: Container): [Value, Value][] | null {
  const items = object.items ?? [];
  const isPaired = items.length > 0 && items.every((item) => Array.isArray(item) && item.length === 2);
  return isPaired ? (items as [Value, Value][]) : null;
}

/** The uids of the things that are keys of a dict. */
function dictKeyUids({ items }: Container): string[] {
  return (items ?? []).flatMap((item) => (Array.isArray(item) && item.length === 2 && referencedUid(item[0])) || []);
}

function dictKeyText(key: Value, paths: Map<string, string>) {
  if (typeof key === "string") return `['${key}']`;
  const ref = referencedUid(key);
  if (ref) return `[${paths.get(ref) ?? ref}]`;
  if (key === null || typeof key !== "object") return `[${String(key)}]`;
  return `[${"py" in key ? key.py : "$i" in key ? key.$i : "…"}]`;
}

interface NamesAndPathsEntities {
  get: (uid: string) => Entity | undefined;
  has: (uid: string) => boolean;
}

/**
 * `sources` are what can name anything: frames, and tensors that carry others. They are gone through more than once.
 */
export function collectNamesAndPaths(entities: NamesAndPathsEntities, sources: Iterable<[string, Entity]>): Names {
  const tags = new Map<string, NameTag[]>();
  const paths = new Map<string, string>();
  /** by uid, the frame that its path begins in */
  const roots = new Map<string, string | null>();
  const missing = new Set<string>();
  const isThere = (uid: string) => {
    const there = entities.has(uid);
    if (!there) missing.add(uid);
    return there;
  };
  const queue: string[] = [];
  const addTag = (uid: string, tag: NameTag) => {
    const list = tags.get(uid);
    if (list) list.push(tag);
    else tags.set(uid, [tag]);
    if (paths.has(uid)) return;
    paths.set(uid, tag.text);
    roots.set(uid, tag.root);
    if (uid[0] === "o") queue.push(uid);
  };
  const itemTag = (text: string, ownerUid: string): NameTag => ({
    kind: "item",
    text,
    frame: null,
    name: text,
    scope: "",
    root: roots.get(ownerUid) ?? null,
  });
  for (const [uid, frame] of sources) {
    if (frame.kind !== "frame") continue;
    const scope = frame.caller ? `${frame.name}` : "";
    for (const [name, value] of frame.vars) {
      const ref = referencedUid(value);
      if (ref && isThere(ref)) addTag(ref, { kind: "var", text: name, frame: uid, name, scope, root: uid });
    }
  }
  const visitObject = (uid: string) => {
    const path = paths.get(uid) ?? "";
    for (const [suffix, value] of reachablePartsWithSuffixes(entities.get(uid) as Container, paths)) {
      const ref = referencedUid(value);
      if (!ref || !isThere(ref)) continue;
      const shownCount = (tags.get(ref) ?? []).filter((t) => t.kind === "item").length;
      if (shownCount < MAX_ITEM_TAGS) addTag(ref, itemTag(path + suffix, uid));
    }
  };
  /** Optimizers come after all else, for a parameter is called as its module has it, however deep that is. */
  const optimizers: string[] = [];
  /** whose keys have no names yet: an optimizer's state by parameter, before the module is gone through */
  const withUnnamedKeys: string[] = [];
  let queueIndex = 0;
  const visitQueued = (isLater: (object: Container) => string[] | null) => {
    for (; queueIndex < queue.length; queueIndex++) {
      const uid = queue[queueIndex];
      const later = isLater(entities.get(uid) as Container);
      if (later) later.push(uid);
      else visitObject(uid);
    }
  };
  const hasUnnamedKeys = (object: Container) => dictKeyUids(object).some((uid) => isThere(uid) && !paths.has(uid));
  const unlessKeysAreUnnamed = (object: Container) => (hasUnnamedKeys(object) ? withUnnamedKeys : null);
  visitQueued((object) => (object.attrs?.param_groups ? optimizers : unlessKeysAreUnnamed(object)));
  for (const uid of optimizers) visitObject(uid);
  visitQueued((object) => unlessKeysAreUnnamed(object));
  queue.push(...withUnnamedKeys);
  visitQueued(() => null);
  // What a tensor is made of or carries: `s.values`, `d.tangent`, and under a transform the tensor that it wraps.
  for (const [uid, tensor] of sources) {
    if (tensor.kind !== "tensor") continue;
    const carriedTensors = Object.entries(tensor.parts ?? {});
    if (tensor.tangent) carriedTensors.push(["tangent", tensor.tangent]);
    const wrappedUid = referencedUid(tensor.wraps?.value);
    if (wrappedUid) carriedTensors.push(["value", wrappedUid]);
    for (const [part, ref] of carriedTensors) {
      const text = `${paths.get(uid) ?? ""}.${part}`;
      if (paths.has(uid) && isThere(ref) && !paths.has(ref)) addTag(ref, itemTag(text, uid));
    }
  }
  for (const [uid, tensor] of sources) {
    if (tensor.kind !== "tensor" || !tensor.grad || !isThere(tensor.grad)) continue;
    const ownerUid = paths.get(uid);
    const text = `${ownerUid ?? ""}.grad`;
    addTag(tensor.grad, { ...itemTag(text, uid), kind: "grad" });
  }
  return { tags, paths, missing };
}
