/**
 * What belongs together: from one drawn thing to the keys of all that it is related to at a step. No document here.
 *
 * A key names what an element stands for, or refers to: `handle:t1`, `ref:t1`, `cell:s1:0 float32`, `slot:n2:self`. It
 * is compared with others and never taken apart.
 */

import { isHandle, type Container, type Handle } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { individuallyDrawnReads } from "../trace/reads.ts";
import type { Target } from "../browser/targets.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { TraceIndex } from "../trace/trace_index.ts";

/** As many parts of a container as its card lists. */
const MAX_LISTED = 16;
/** The keys by which what stands for an entity itself is found, by the letter of its uid. */
const OWN_KEYS: Record<string, readonly string[]> = {
  t: ["handle", "ref"],
  a: ["handle", "ref"],
  s: ["strip", "block"],
  n: ["node"],
  c: ["counter"],
  o: ["object", "ref"],
};

/** The keys of what stands for entities and a saved slot (`node:slot`) themselves, without what is related to them. */
export function highlightKeysOfEntities(uids: string[], slot?: string): string[] {
  const keys = uids.flatMap((uid) => (OWN_KEYS[uid[0]] ?? []).map((name) => `${name}:${uid}`));
  return slot ? [...keys, `pin:${slot}`, `slot:${slot}`] : keys;
}

/** The keys of a drawn element. */
export function highlightKeysOfTarget(target: Target): string[] {
  switch (target.kind) {
    case "handle":
    case "counter":
    case "object":
      return [`${target.kind}:${target.uid}`];
    case "wire":
      return [`wire:${target.handle}`];
    case "strip":
    case "block":
      return [`${target.kind}:${target.storage}`];
    case "slot":
    case "pin":
      return [`${target.kind}:${target.node}:${target.slot}`];
    case "cell":
      return [`cell:${cellKey(target.storage, target.index, target.dtype)}`];
    case "bead":
      return [`bead:${target.handle}`, `reads:${cellKey(target.storage, target.cell, target.dtype)}`];
    case "node":
      return [`node:${target.uid}`, ...variableKeys(target.variable)];
    case "node again":
      return variableKeys(target.variable);
    case "edge":
      return [`from:${target.from}`, `to:${target.to}`];
    case "item":
      return [`item:${target.object}`, ...(target.ref === null ? [] : [`to:${target.ref}`])];
    case "name":
      return target.ref === null ? [] : [`ref:${target.ref}`];
    case "path":
      return [`ref:${target.ref}`];
    case "gradient elsewhere":
      return [`to:${target.ref}`];
    case "fold":
      return target.members.map((uid) => `node:${uid}`);
    default:
      return [];
  }
}

function variableKeys(variable: string | null) {
  return variable === null ? [] : [`variable:${variable}`];
}

function cellKey(storage: string, index: number, dtype: string) {
  return `${storage}:${index} ${dtype}`;
}

/** The keys of everything that the thing pointed at belongs to, each once, in the order in which it is to light up. */
export function relatedHighlightKeys(opened: OpenTrace, i: number, target: Target): string[] {
  const related = new RelatedKeys(opened, i);
  related.target(target);
  return [...related.keys];
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

  target(target: Target) {
    switch (target.kind) {
      case "cell":
        return this.cell(target.storage, target.index, target.dtype);
      case "bead":
        this.handle(target.handle, false);
        return this.add("cell", cellKey(target.storage, target.cell, target.dtype));
      case "handle":
        return this.handle(target.uid);
      case "slot":
      case "pin":
        return this.slot(target.node, target.slot);
      case "counter":
        return this.counter(target.uid);
      case "block":
        return this.block(target.storage);
      case "node":
        return this.graphNode(target.uid);
      case "fold":
        return this.fold(target.members);
      case "edge":
        this.node(target.from);
        return this.node(target.to);
      case "object":
        return this.reference(target.uid);
      case "name":
      case "path":
      case "item":
        return this.reference(target.ref ?? "");
    }
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
      if (handle.counter) this.add("counter", handle.counter);
      if (handle.grad_fn) this.node(handle.grad_fn);
    }
    for (const name of ["ref", "to", "variable"]) this.add(name, uid);
    if (!isHandle(handle)) return;
    if (handle.storage) this.add("block", handle.storage);
    if (!withCells) return;
    this.add("bead", uid);
    for (const cell of this.cellsOf(handle)) this.add("cell", cell);
    this.add("wire", uid);
  }

  /** The keys of the cells that a handle reads. */
  cellsOf(handle: Handle): string[] {
    const storage = this.entities.get(handle.storage ?? "");
    if (storage?.kind !== "storage") return [];
    const { dtype, reads } = individuallyDrawnReads(handle, storage);
    return reads.map(({ cell }) => cellKey(handle.storage ?? "", cell, dtype));
  }

  /** The handles that read a cell. */
  cell(storage: string, index: number, dtype: string) {
    const key = cellKey(storage, index, dtype);
    this.add("cell", key);
    this.add("reads", key);
    for (const uid of this.index.handlesOfStorage(storage, this.i)) {
      const handle = this.entities.get(uid);
      if (isHandle(handle) && this.cellsOf(handle).includes(key)) this.handle(uid, false);
    }
  }

  /** A saved slot with its pin, its storage and its node. */
  slot(nodeUid: string, slot: string) {
    for (const name of ["pin", "slot"]) this.add(name, `${nodeUid}:${slot}`);
    const node = this.entities.get(nodeUid);
    const storageUid = node?.kind === "node" ? node.saved?.[slot]?.storage : null;
    if (storageUid) this.add("strip", storageUid);
    this.node(nodeUid);
  }

  /** A counter with all that share it. */
  counter(counterUid: string) {
    for (const uid of this.index.handlesSharingCounter(counterUid, this.i)) this.handle(uid, false);
    this.add("counter", counterUid);
  }

  /** A block of the allocator: its storage with all that read it. */
  block(storageUid: string) {
    for (const name of ["block", "strip"]) this.add(name, storageUid);
    for (const uid of this.index.handlesOfStorage(storageUid, this.i)) this.handle(uid);
  }

  /** A node with its edges, its slots, what it made, and the leaf whose gradient it accumulates. */
  graphNode(uid: string) {
    this.node(uid);
    this.add("from", uid);
    this.add("to", uid);
    const node = this.entities.get(uid);
    if (node?.kind !== "node") return;
    for (const slot of Object.keys(node.saved ?? {})) this.slot(uid, slot);
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
