/** What belongs together: from one drawn thing to the keys of all that it is related to at a step. No document here. */

import { isHandle, type Container, type Handle } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { readsDrawnSingly } from "../layout/reads.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { TraceIndex } from "../trace/trace_index.ts";

/** a drawn element's data attributes, named without `data-`
 *
 * A key is `attribute:value`, as in `handle:t1`, `ref:t1`, `cell:s1:0 float32`, `storage-strip:s1`, `slot:n2:self`. */
export type Attributes = (name: string) => string | null;

/** As many parts of a container as its card lists. */
const MAX_LISTED = 16;
/** Attributes that give an element a key by which others find it. */
const KEYED_ATTRIBUTES = [
  "handle",
  "ref",
  "to",
  "from",
  "variable",
  "wire",
  "node",
  "slot",
  "pin",
  "leader",
  "counter-badge",
  "storage-strip",
  "object",
  "block",
] as const;

/** The attributes, any of which gives an element keys. */
export const KEY_ATTRIBUTES = [...KEYED_ATTRIBUTES, "members", "cell", "bead", "item"];

/** The attributes by which what stands for an entity itself is found, by the letter of its uid. */
const ATTRIBUTES_BY_KIND: Record<string, readonly string[]> = {
  t: ["handle", "ref"],
  a: ["handle", "ref"],
  s: ["storage-strip", "block"],
  n: ["node"],
  c: ["counter-badge"],
  o: ["object", "ref"],
};

/**
 * The keys of what stands for entities and a saved slot themselves, without what is related to them.
 * @param slot `node:slot`
 */
export function ownKeys(uids: string[], slot?: string): string[] {
  const keys = uids.flatMap((uid) => (ATTRIBUTES_BY_KIND[uid[0]] ?? []).map((name) => `${name}:${uid}`));
  return slot ? [...keys, `pin:${slot}`, `slot:${slot}`, `leader:${slot}`] : keys;
}

/** The keys of a drawn element. */
export function keysOf(attribute: Attributes): string[] {
  const keys = [];
  for (const name of KEYED_ATTRIBUTES) {
    const value = attribute(name);
    if (value !== null) keys.push(`${name}:${value}`);
  }
  for (const uid of attribute("members")?.split(" ") ?? []) keys.push(`node:${uid}`);
  const cell = attribute("cell");
  if (cell !== null) keys.push(`cell:${cell} ${attribute("dtype") ?? ""}`);
  const beadValue = attribute("bead");
  if (beadValue !== null) {
    keys.push(`bead:${beadValue.slice(0, beadValue.indexOf(":"))}`);
    keys.push(`reads:${attribute("reads")} ${attribute("dtype") ?? ""}`);
  }
  const item = attribute("item");
  if (item !== null) keys.push(`item:${item.slice(0, item.indexOf(":"))}`);
  return keys;
}

/**
 * The keys of everything that a drawn thing belongs to, in the order in which it is to light up.
 * @param i the step
 * @param attribute of the thing that is pointed at
 * @returns each once
 */
export function relatedKeys(opened: OpenTrace, i: number, attribute: Attributes): string[] {
  const collected = new RelatedKeys(opened, i);
  const cell = attribute("cell");
  const beadValue = attribute("bead");
  const slot = attribute("slot") ?? attribute("pin");
  const counterUid = attribute("counter-badge");
  const members = attribute("members");
  const dtype = attribute("dtype") ?? "";
  if (cell !== null) collected.cell(cell, dtype);
  else if (beadValue !== null) {
    collected.handle(beadValue.slice(0, beadValue.indexOf(":")), false);
    collected.add("cell", `${attribute("reads")} ${dtype}`);
  } else if (attribute("handle") !== null) collected.handle(attribute("handle") ?? "");
  else if (slot !== null) collected.slot(slot);
  else if (counterUid !== null) collected.counter(counterUid);
  else if (attribute("block") !== null) collected.block(attribute("block") ?? "");
  else if (attribute("node") !== null) collected.graphNode(attribute("node") ?? "");
  else if (members !== null) collected.fold(members.split(" "));
  else if (attribute("edge") !== null) {
    for (const end of ["from", "to"]) collected.node(attribute(end) ?? "");
  } else collected.reference(attribute("ref") ?? attribute("to") ?? attribute("object") ?? "");
  return [...collected.keys];
}

/** Gathers keys; what a uid is and whom it shares with come from the state and the index of its step. */
class RelatedKeys {
  entities: Entities;
  index: TraceIndex;
  i: number;
  keys = new Set<string>();

  constructor(opened: OpenTrace, i: number) {
    this.entities = opened.state(i);
    this.index = opened.index;
    this.i = i;
  }

  add(name: string, value: string) {
    this.keys.add(`${name}:${value}`);
  }

  /** A node's mark, or that of the fold that it is in. */
  node(uid: string) {
    this.add("node", uid);
  }

  /** A handle with its counter, the node that made it, its names and, if asked for, its wire and the cells that it
   * reads. */
  handle(uid: string, withCells = true) {
    const handle = this.entities.get(uid);
    this.add("handle", uid);
    if (handle?.kind === "tensor") {
      if (handle.counter) this.add("counter-badge", handle.counter);
      if (handle.grad_fn) this.node(handle.grad_fn);
    }
    for (const name of ["ref", "to", "variable"]) this.add(name, uid);
    if (!isHandle(handle)) return;
    if (handle.storage) this.add("block", handle.storage);
    if (!withCells) return;
    this.add("bead", uid);
    for (const [cell, dtype] of this.cellsOf(handle)) this.add("cell", `${cell} ${dtype}`);
    this.add("wire", uid);
  }

  /** @returns `storage:index` and dtype */
  cellsOf(handle: Handle): [string, string][] {
    const storage = this.entities.get(handle.storage ?? "");
    if (storage?.kind !== "storage") return [];
    const { dtype, reads } = readsDrawnSingly(handle, storage);
    return reads.map(({ cell }) => [`${handle.storage}:${cell}`, dtype]);
  }

  /** The handles that read a cell. @param cell `storage:index` */
  cell(cell: string, dtype: string) {
    this.add("cell", `${cell} ${dtype}`);
    this.add("reads", `${cell} ${dtype}`);
    for (const uid of this.index.handlesOfStorage(cell.slice(0, cell.indexOf(":")), this.i)) {
      const handle = this.entities.get(uid);
      if (
        isHandle(handle) &&
        this.cellsOf(handle).some(([cellKey, cellDtype]) => cellKey === cell && cellDtype === dtype)
      )
        this.handle(uid, false);
    }
  }

  /** A saved slot with its pin, its storage and its node. @param key `node:slot` */
  slot(key: string) {
    for (const name of ["pin", "leader", "slot"]) this.add(name, key);
    const colon = key.indexOf(":");
    const node = this.entities.get(key.slice(0, colon));
    const storageUid = node?.kind === "node" ? node.saved?.[key.slice(colon + 1)]?.storage : null;
    if (storageUid) this.add("storage-strip", storageUid);
    this.node(key.slice(0, colon));
  }

  /** A counter with all that share it. */
  counter(counterUid: string) {
    for (const uid of this.index.handlesSharingCounter(counterUid, this.i)) this.handle(uid, false);
    this.add("counter-badge", counterUid);
  }

  /** A block of the allocator: its storage with all that read it. */
  block(storageUid: string) {
    for (const name of ["block", "storage-strip"]) this.add(name, storageUid);
    for (const uid of this.index.handlesOfStorage(storageUid, this.i)) this.handle(uid);
  }

  /** A node with its edges, its slots, what it made, and the leaf whose gradient it accumulates. */
  graphNode(uid: string) {
    this.node(uid);
    this.add("from", uid);
    this.add("to", uid);
    const node = this.entities.get(uid);
    if (node?.kind !== "node") return;
    for (const slot of Object.keys(node.saved ?? {})) this.slot(`${uid}:${slot}`);
    for (const handleUid of this.index.outputsOfNode(uid, this.i)) this.handle(handleUid);
    if (node.variable) this.handle(node.variable);
  }

  /** The nodes of a fold with what they made and their pins. */
  fold(members: string[]) {
    for (const uid of members) {
      for (const handleUid of this.index.outputsOfNode(uid, this.i)) this.handle(handleUid, false);
      const node = this.entities.get(uid);
      if (node?.kind === "node") for (const slot of Object.keys(node.saved ?? {})) this.add("pin", `${uid}:${slot}`);
    }
  }

  /** What a name, an item or a card refers to. */
  reference(uid: string) {
    const entity = this.entities.get(uid);
    if (isHandle(entity)) this.handle(uid);
    else if (uid) {
      this.add("object", uid);
      this.add("ref", uid);
      this.add("item", uid);
      if (entity?.kind === "object") for (const ref of containedUids(entity)) this.part(ref);
    }
  }

  part(uid: string) {
    if (isHandle(this.entities.get(uid))) this.handle(uid);
    else this.add("object", uid);
  }
}

/** What a container's items and attributes refer to. */
function containedUids(object: Container): string[] {
  const values = (object.items ?? []).slice(0, MAX_LISTED).map((item) => (Array.isArray(item) ? item[1] : item));
  return [...values, ...Object.values(object.attrs ?? {}).slice(0, MAX_LISTED)].flatMap(
    (value) => referencedUid(value) ?? [],
  );
}
