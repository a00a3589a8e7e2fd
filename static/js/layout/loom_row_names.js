/** How the program reaches the few things that a row is about: as `namesAndPaths` tells it, asked of no more than leads to them. */

import { isHandle } from "../trace/entities.js";
import { namesAndPaths, pairsOf, refOf } from "../trace/names.js";

/** @typedef {import("../trace/entities.js").Entity} Entity */
/** @typedef {import("../trace/entities.js").Value} Value */
/** @typedef {import("../trace/names.js").Names} Names */

/** Remembers what has ever led to what. That may lead there no longer: it says where to look, `namesAndPaths` says what is so. */
export class RowNames {
  /** @param {Map<string, Entity>} entities the state, which goes along */
  constructor(entities) {
    this.entities = entities;
    /** @type {Map<string, Map<string, Set<string>>>} by what it meant, by frame: names */
    this.boundTo = new Map();
    /** @type {Map<string, Map<string, number>>} by frame, its names with their rank */
    this.nameOrder = new Map();
    /** @type {Map<string, Set<string>>} by frame, names that meant an object */
    this.objectNames = new Map();
    /** @type {Set<string>} what is or was in an object */
    this.containedUids = new Set();
    /** @type {Set<string>} what is or was a key of a dict, and so is written in a path */
    this.keyUids = new Set();
    /** @type {Map<string, Set<string>>} by what a tensor has as its .grad or carries otherwise, such tensors */
    this.carriersOf = new Map();
    /** @type {Set<string>} frames, in order */
    this.frames = new Set();
    this.bindCount = 0;
  }

  /** A frame's name means something. @param {string} frameUid @param {string} name @param {string} ref */
  noteBinding(frameUid, name, ref) {
    const order = this.nameOrder.get(frameUid) ?? new Map();
    this.nameOrder.set(frameUid, order);
    if (!order.has(name)) order.set(name, this.bindCount++);
    if (ref[0] === "o") setAtKey(this.objectNames, frameUid).add(name);
    const frames = this.boundTo.get(ref) ?? new Map();
    this.boundTo.set(ref, frames);
    setAtKey(frames, frameUid).add(name);
  }

  /** A frame's name means nothing any more. @param {string} frameUid @param {string} name */
  noteUnbinding(frameUid, name) {
    this.nameOrder.get(frameUid)?.delete(name);
  }

  /** An entity has other fields. @param {string} uid @param {Entity} entity */
  noteFields(uid, entity) {
    if (entity.kind === "frame") this.frames.add(uid);
    else if (entity.kind === "tensor") {
      const { grad, parts, tangent, wraps } = entity;
      for (const ref of [grad, tangent, refOf(wraps?.value), ...Object.values(parts ?? {})])
        if (ref) setAtKey(this.carriersOf, ref).add(uid);
    } else if (entity.kind === "object") this.noteObject(entity);
  }

  /** @param {import("../trace/entities.js").Container} object */
  noteObject(object) {
    const pairs = pairsOf(object);
    const values = /** @type {Value[]} */ (pairs ? pairs.map(([, value]) => value) : (object.items ?? []));
    for (const value of [...values, ...Object.values(object.attrs ?? {})]) {
      const ref = refOf(value);
      if (ref) this.containedUids.add(ref);
    }
    for (const [key] of pairs ?? []) {
      const ref = refOf(key);
      if (ref) this.keyUids.add(ref);
    }
  }

  /** The names and paths of these handles now. @param {Iterable<string>} uids @returns {Names} */
  namesOf(uids) {
    const wantedUids = this.withCarriers(uids);
    const isContained = [...wantedUids].some((uid) => this.containedUids.has(uid));
    if (isContained) for (const uid of this.withCarriers(this.keyUids)) wantedUids.add(uid);
    /** @type {Map<string, Set<string>>} */
    const namesByFrame = new Map();
    if (isContained)
      for (const [frame, list] of this.objectNames) for (const name of list) setAtKey(namesByFrame, frame).add(name);
    for (const uid of wantedUids)
      for (const [frame, list] of this.boundTo.get(uid) ?? [])
        for (const name of list) if (this.isNameOf(frame, name, uid)) setAtKey(namesByFrame, frame).add(name);
    return namesAndPaths(this.entities, this.nameSources(namesByFrame, wantedUids));
  }

  /** These, and the tensors that carry them. @param {Iterable<string>} uids */
  withCarriers(uids) {
    const out = new Set(uids);
    for (const uid of out) for (const carrier of this.carriersOf.get(uid) ?? []) out.add(carrier);
    return out;
  }

  /** @param {string} frameUid @param {string} name @param {string} uid */
  isNameOf(frameUid, name, uid) {
    const entity = this.entities.get(frameUid);
    return entity?.kind === "frame" && refOf(entity.vars.get(name)) === uid;
  }

  /** What names can begin at: the frames with only these names, and the tensors of these. @param {Map<string, Set<string>>} namesByFrame
   * @param {Set<string>} wantedUids */
  nameSources(namesByFrame, wantedUids) {
    /** @type {Map<string, Entity>} */
    const out = new Map();
    for (const uid of this.frames) {
      const frame = this.entities.get(uid);
      if (frame?.kind !== "frame") this.frames.delete(uid);
      const list = namesByFrame.get(uid);
      if (frame?.kind !== "frame" || !list) continue;
      const rank = /** @type {Map<string, number>} */ (this.nameOrder.get(uid));
      const ordered = [...list].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
      out.set(uid, {
        ...frame,
        vars: new Map(ordered.map((name) => [name, /** @type {Value} */ (frame.vars.get(name) ?? null)])),
      });
    }
    for (const uid of wantedUids) {
      const tensor = this.entities.get(uid);
      if (isHandle(tensor)) out.set(uid, tensor);
    }
    return out;
  }
}

/** @template K @param {Map<K, Set<string>>} map @param {K} key @returns {Set<string>} */
function setAtKey(map, key) {
  const existing = map.get(key);
  if (existing) return existing;
  /** @type {Set<string>} */
  const created = new Set();
  map.set(key, created);
  return created;
}
