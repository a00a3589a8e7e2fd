/** Relations between a trace's entities over the whole run: who shares a storage, a counter or a node, and when. */

import { EVENTS } from "./registry.js";
import { Relation } from "./relation.js";

/**
 * @typedef {{uid: string, step: number, fields: import("./wire.js").Delta}} Change   what a step set of an entity
 * @typedef {{uid: string, kind: string, order: number, birth: number, death: number}} Life
 *   birth, death: the first and last step after which the entity is there; death is birth - 1 for what one step both made
 *   and freed. order: its rank by first appearance
 * @typedef {{key: string, uid: string, storage: string | null, counter: string | null, birth: number, death: number}} Placement
 *   a handle on one storage with one counter, from the first step to the last that finds it there
 * @typedef {{uid: string, name: string, variable: string | null, next: ([string, number] | null)[], slots: string[],
 *   output: string | null}} NodeFacts   output: the key of the first placement of a handle that the node made
 * @typedef {{node: string, slot: string, storage: string, birth: number, death: number, broken: boolean}} Pin
 *   a slot while it keeps one storage; broken: its value is at some step not what was saved
 * @typedef {{key: string, node: string, slot: string, storage: string, counter: string | null, expected: number | null,
 *   tensor: string | null, birth: number, stale: number | null, changed: number | null, released: number | null}} SavedSlot
 *   the steps at which a slot was first kept, stale or detached, changed in silence, let go; null where it never was
 */

/** States that say the saved value is no longer what backward needs. */
export const BROKEN_STATES = new Set(Object.values(EVENTS).flatMap((row) => row?.state ?? []));

/** One placement of a handle: its place in a picture changes with its storage or counter.
 * @param {string} uid @param {{storage?: string | null, counter?: string | null}} handle */
export function handleKey(uid, handle) {
  return `${uid}|${handle.storage ?? ""}|${handle.counter ?? ""}`;
}

/** One stay of a saved slot: the tensor that a node saved may be given other memory.
 * @param {string} nodeUid @param {string} slot @param {{storage?: string | null}} saved */
export function pinKey(nodeUid, slot, saved) {
  return `${nodeUid}:${slot}|${saved.storage ?? ""}`;
}

/** The index of one trace, see `buildIndex`. Its methods take a step and answer for the state after it; uids come in order of appearance. */
export class TraceIndex {
  /** @param {number} count of steps */
  constructor(count) {
    this.end = Math.max(0, count - 1);
    /** @type {Map<string, Life>} */
    this.lives = new Map();
    /** @type {Set<string>} what can name others: frames, and tensors that ever have a `.grad`, parts or the like */
    this.namers = new Set();
    /** @type {Map<string, number[]>} by entity, the steps after its birth that set something of it */
    this.laterChanges = new Map();
    /** @type {Change[]} of frames, in order */
    this.frameChanges = [];
    /** @type {Change[]} of objects, in order */
    this.objectChanges = [];
    /** @type {Change[]} of calls of the engine, in order */
    this.backwardChanges = [];
    /** @type {Map<string, Placement>} by `handleKey` */
    this.placements = new Map();
    /** @type {Map<string, NodeFacts>} */
    this.nodes = new Map();
    /** @type {Map<string, Pin>} by `pinKey` */
    this.pins = new Map();
    /** @type {Map<string, SavedSlot>} by `node:slot` */
    this.slots = new Map();
    /** @type {Map<string, string>} by the storage of a `.grad`, the storage of its tensor */
    this.gradOwners = new Map();
    /** @type {Map<string, string>} by a tensor, the first module that has it as an attribute */
    this.moduleOf = new Map();
    /** @type {Map<string, {type: string, within: string | null}>} objects by uid, with the first object around each */
    this.modules = new Map();
    /** @type {Map<string, {node: string, step: number}[]>} by backward, in order */
    this.visits = new Map();
    /** @type {Map<string, number[]>} by node, the steps at which it ran */
    this.visitsOf = new Map();
    /** @type {Map<string, number[]>} by storage, the steps that may have changed elements of it */
    this.writes = new Map();
    /** @type {Map<string, {step: number, at: number}[]>} by event, the places of the logs that hold one */
    this.events = new Map();
    /** @type {number[]} bytes of the living storages after each step; one that lies within another counts once */
    this.bytes = [];
    this.onStorage = new Relation();
    this.onCounter = new Relation();
    this.byNode = new Relation();
    this.byGrad = new Relation();
    this.byVariable = new Relation();
    this.intoNode = new Relation();
    this.slotsIn = new Relation();
  }

  /** Whether an entity is there after a step. @param {string} uid @param {number} step */
  isAlive(uid, step) {
    const life = this.lives.get(uid);
    return life !== undefined && life.birth <= step && step <= life.death;
  }

  /** The steps that set something of an entity, the first its birth. @param {string} uid @returns {number[]} */
  changesOf(uid) {
    const life = this.lives.get(uid);
    return life ? [life.birth, ...(this.laterChanges.get(uid) ?? [])] : [];
  }

  /** The handles that read a storage. @param {string | null | undefined} storageUid @param {number} step */
  handlesOf(storageUid, step) {
    return this.sortByAppearance(this.onStorage.uidsAt(storageUid ?? "", step));
  }

  /** The handles that share a version counter. @param {string} counterUid @param {number} step */
  sharersOf(counterUid, step) {
    return this.sortByAppearance(this.onCounter.uidsAt(counterUid, step));
  }

  /** The handles whose grad_fn a node is. @param {string} nodeUid @param {number} step */
  outputsOf(nodeUid, step) {
    return this.sortByAppearance(this.byNode.uidsAt(nodeUid, step));
  }

  /** The tensors whose `.grad` a handle is. @param {string} handleUid @param {number} step */
  gradOwnersOf(handleUid, step) {
    return this.sortByAppearance(this.byGrad.uidsAt(handleUid, step));
  }

  /** The nodes that accumulate into a tensor. @param {string} tensorUid @param {number} step */
  accumulatorsOf(tensorUid, step) {
    return this.sortByAppearance(this.byVariable.uidsAt(tensorUid, step));
  }

  /** The edges that lead to a node, as the node they leave and its how manieth edge it is. @param {string} nodeUid @param {number} step */
  edgesInto(nodeUid, step) {
    return this.intoNode.uidsAt(nodeUid, step).map((key) => {
      const colon = key.lastIndexOf(":");
      return { node: key.slice(0, colon), edge: Number(key.slice(colon + 1)) };
    });
  }

  /** The saved slots that keep a storage, as `node:slot`. @param {string} storageUid @param {number} step */
  slotsOf(storageUid, step) {
    return this.slotsIn.uidsAt(storageUid, step);
  }

  /** The step before `step` at which a node last ran in a backward; -1 where it did not.
   * @param {string} backwardUid @param {string} nodeUid @param {number} step */
  visitBefore(backwardUid, nodeUid, step) {
    const visits = this.visits.get(backwardUid) ?? [];
    return visits.findLast((visit) => visit.node === nodeUid && visit.step < step)?.step ?? -1;
  }

  /** @param {string[]} uids */
  sortByAppearance(uids) {
    const orderOf = (/** @type {string} */ uid) => this.lives.get(uid)?.order ?? 0;
    return uids.length > 1 ? uids.sort((a, b) => orderOf(a) - orderOf(b)) : uids;
  }
}
