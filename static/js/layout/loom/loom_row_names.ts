/**
 * How the program reaches the few things that a row is about: as `collectNamesAndPaths` tells it, asked of no more than
 * leads to them.
 */

import { isHandle, type Container, type Entity } from "../../trace/entities.ts";
import { collectNamesAndPaths, keyValuePairs, referencedUid, type Names } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";

/**
 * Remembers what has ever led to what. That may lead there no longer: it says where to look, `collectNamesAndPaths`
 * says what is so.
 */
export class RowNames {
  entities: Map<string, Entity>;
  /** by what it meant, by frame: names */
  namesByUidAndFrame = new Map<string, Map<string, Set<string>>>();
  /** by frame, its names with their rank */
  nameOrder = new Map<string, Map<string, number>>();
  /** by frame, names that meant an object */
  objectNames = new Map<string, Set<string>>();
  /** what is or was in an object */
  containedUids = new Set<string>();
  /** what is or was a key of a dict, and so is written in a path */
  keyUids = new Set<string>();
  /** by what a tensor has as its .grad or carries otherwise, such tensors */
  carriersOf = new Map<string, Set<string>>();
  /** frames, in order */
  frames = new Set<string>();
  bindCount = 0;

  /** `entities` is the state, which goes along. */
  constructor(entities: Map<string, Entity>) {
    this.entities = entities;
  }

  /** A frame's name means something. */
  addBinding(frameUid: string, name: string, ref: string) {
    const order = this.nameOrder.get(frameUid) ?? new Map();
    this.nameOrder.set(frameUid, order);
    if (!order.has(name)) order.set(name, this.bindCount++);
    if (ref[0] === "o") getOrAddSet(this.objectNames, frameUid).add(name);
    const frames = this.namesByUidAndFrame.get(ref) ?? new Map();
    this.namesByUidAndFrame.set(ref, frames);
    getOrAddSet(frames, frameUid).add(name);
  }

  /** A frame's name means nothing any more. */
  removeBinding(frameUid: string, name: string) {
    this.nameOrder.get(frameUid)?.delete(name);
  }

  /** An entity has other fields. */
  recordEntity(uid: string, entity: Entity) {
    if (entity.kind === "frame") this.frames.add(uid);
    else if (entity.kind === "tensor") {
      const { grad, parts, tangent, wraps } = entity;
      for (const ref of [grad, tangent, referencedUid(wraps?.value), ...Object.values(parts ?? {})])
        if (ref) getOrAddSet(this.carriersOf, ref).add(uid);
    } else if (entity.kind === "object") this.recordContainer(entity);
  }

  recordContainer(object: Container) {
    const pairs = keyValuePairs(object);
    const values = (pairs ? pairs.map(([, value]) => value) : (object.items ?? [])) as Value[];
    for (const value of [...values, ...Object.values(object.attrs ?? {})]) {
      const ref = referencedUid(value);
      if (ref) this.containedUids.add(ref);
    }
    for (const [key] of pairs ?? []) {
      const ref = referencedUid(key);
      if (ref) this.keyUids.add(ref);
    }
  }

  /** The names and paths of these handles now. */
  namesAndPathsOf(uids: Iterable<string>): Names {
    const wantedUids = this.withCarryingTensors(uids);
    const isContained = [...wantedUids].some((uid) => this.containedUids.has(uid));
    if (isContained) for (const uid of this.withCarryingTensors(this.keyUids)) wantedUids.add(uid);
    const namesByFrame = new Map<string, Set<string>>();
    if (isContained)
      for (const [frame, list] of this.objectNames) for (const name of list) getOrAddSet(namesByFrame, frame).add(name);
    for (const uid of wantedUids)
      for (const [frame, list] of this.namesByUidAndFrame.get(uid) ?? [])
        for (const name of list) if (this.isFrameNameOf(frame, name, uid)) getOrAddSet(namesByFrame, frame).add(name);
    return collectNamesAndPaths(this.entities, this.nameSources(namesByFrame, wantedUids));
  }

  /** These, and the tensors that carry them. */
  withCarryingTensors(uids: Iterable<string>) {
    const out = new Set(uids);
    for (const uid of out) for (const carrier of this.carriersOf.get(uid) ?? []) out.add(carrier);
    return out;
  }

  isFrameNameOf(frameUid: string, name: string, uid: string) {
    const entity = this.entities.get(frameUid);
    return entity?.kind === "frame" && referencedUid(entity.vars.get(name)) === uid;
  }

  /** What names can begin at: the frames with only these names, and the tensors of these. */
  nameSources(namesByFrame: Map<string, Set<string>>, wantedUids: Set<string>) {
    const out = new Map<string, Entity>();
    for (const uid of this.frames) {
      const frame = this.entities.get(uid);
      if (frame?.kind !== "frame") this.frames.delete(uid);
      const list = namesByFrame.get(uid);
      if (frame?.kind !== "frame" || !list) continue;
      const rank = this.nameOrder.get(uid) as Map<string, number>;
      const ordered = [...list].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
      out.set(uid, {
        ...frame,
        vars: new Map(ordered.map((name) => [name, (frame.vars.get(name) ?? null) as Value])),
      });
    }
    for (const uid of wantedUids) {
      const tensor = this.entities.get(uid);
      if (isHandle(tensor)) out.set(uid, tensor);
    }
    return out;
  }
}

function getOrAddSet<K>(map: Map<K, Set<string>>, key: K): Set<string> {
  const existing = map.get(key);
  if (existing) return existing;
  const created = new Set<string>();
  map.set(key, created);
  return created;
}
