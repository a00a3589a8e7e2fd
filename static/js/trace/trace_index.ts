/** Relations between a trace's entities over the whole run: who shares a storage, a counter or a node, and when. */

import { EVENTS } from "./registry.ts";
import { addToList } from "./multimap.ts";
import type { Delta } from "./wire.ts";

/** what a step set of an entity */
export interface EntityChange {
  uid: string;
  step: number;
  fields: Delta;
}

export interface Lifetime {
  uid: string;
  kind: string;
  /** its rank by first appearance */
  order: number;
  /**
   * birth, death: the first and last step after which the entity is there; death is birth - 1 for what one step both
   * made and freed
   */
  birth: number;
  death: number;
}

/** a handle on one storage with one counter, from the first step to the last that finds it there */
interface Placement {
  key: string;
  uid: string;
  storage: string | null;
  counter: string | null;
  birth: number;
  death: number;
}

export interface NodeFacts {
  uid: string;
  name: string;
  variable: string | null;
  next: ([string, number] | null)[];
  slots: string[];
  /** the key of the first placement of a handle that the node made */
  output: string | null;
}

/** a slot while it keeps one storage */
interface Pin {
  node: string;
  slot: string;
  storage: string;
  birth: number;
  death: number;
  /** its value is at some step not what was saved */
  broken: boolean;
}

/** the steps at which a slot was first kept, stale or detached, changed in silence, let go; null where it never was */
export interface SavedSlot {
  key: string;
  node: string;
  slot: string;
  storage: string;
  counter: string | null;
  expected: number | null;
  tensor: string | null;
  birth: number;
  stale: number | null;
  changed: number | null;
  released: number | null;
}

/** States that say the saved value is no longer what backward needs. */
export const BROKEN_SLOT_STATES = new Set(Object.values(EVENTS).flatMap((row) => row?.state ?? []));

/** One placement of a handle: its place in a picture changes with its storage or counter. */
export function placementKey(uid: string, handle: { storage?: string | null; counter?: string | null }) {
  return `${uid}|${handle.storage ?? ""}|${handle.counter ?? ""}`;
}

/** One stay of a saved slot: the tensor that a node saved may be given other memory. */
export function pinKey(nodeUid: string, slot: string, saved: { storage?: string | null }) {
  return `${nodeUid}:${slot}|${saved.storage ?? ""}`;
}

/**
 * The index of one trace, see `buildTraceIndex`. Its methods take a step and answer for the state after it; uids come
 * in order of appearance.
 */
export class TraceIndex {
  lastStep: number;
  lifetimes = new Map<string, Lifetime>();
  /** what can name others: frames, and tensors that ever have a `.grad`, parts or the like */
  uidsThatNameOthers = new Set<string>();
  /** by entity, the steps after its birth that set something of it */
  laterChanges = new Map<string, number[]>();
  /** of frames, in order */
  frameChanges: EntityChange[] = [];
  /** of objects, in order */
  objectChanges: EntityChange[] = [];
  /** of calls of the engine, in order */
  backwardChanges: EntityChange[] = [];
  /** by `handleKey` */
  placements = new Map<string, Placement>();
  nodes = new Map<string, NodeFacts>();
  /** by `pinKey` */
  pins = new Map<string, Pin>();
  /** by `node:slot` */
  slots = new Map<string, SavedSlot>();
  /** by the storage of a `.grad`, the storage of its tensor */
  gradOwners = new Map<string, string>();
  /** by a tensor, the first module that has it as an attribute */
  moduleOfTensor = new Map<string, string>();
  /** objects by uid, with the first object around each */
  modules = new Map<string, { type: string; within: string | null }>();
  /** by backward, in order */
  visitsByBackward = new Map<string, { node: string; step: number }[]>();
  /** by node, the steps at which it ran */
  visitStepsByNode = new Map<string, number[]>();
  /** by storage, the steps that may have changed elements of it */
  writeStepsByStorage = new Map<string, number[]>();
  /** by event, the places of the logs that hold one */
  eventPlacesByName = new Map<string, { step: number; at: number }[]>();
  /** bytes of the living storages after each step; one that lies within another counts once */
  liveBytesByStep: number[] = [];
  onStorage = new TimedRelation();
  onCounter = new TimedRelation();
  byNode = new TimedRelation();
  byGrad = new TimedRelation();
  byVariable = new TimedRelation();
  intoNode = new TimedRelation();
  slotsIn = new TimedRelation();

  /** `count` is the number of steps. */
  constructor(count: number) {
    this.lastStep = Math.max(0, count - 1);
  }

  /** Whether an entity is there after a step. */
  isAlive(uid: string, step: number) {
    const life = this.lifetimes.get(uid);
    return life !== undefined && life.birth <= step && step <= life.death;
  }

  /** The steps that set something of an entity, the first its birth. */
  changeStepsOf(uid: string): number[] {
    const life = this.lifetimes.get(uid);
    return life ? [life.birth, ...(this.laterChanges.get(uid) ?? [])] : [];
  }

  /** The handles that read a storage. */
  handlesOfStorage(storageUid: string | null | undefined, step: number) {
    return this.sortUidsByAppearance(this.onStorage.uidsAt(storageUid ?? "", step));
  }

  /** The handles that share a version counter. */
  handlesSharingCounter(counterUid: string, step: number) {
    return this.sortUidsByAppearance(this.onCounter.uidsAt(counterUid, step));
  }

  /** The handles whose grad_fn a node is. */
  outputsOfNode(nodeUid: string, step: number) {
    return this.sortUidsByAppearance(this.byNode.uidsAt(nodeUid, step));
  }

  /** The tensors whose `.grad` a handle is. */
  tensorsWithGrad(handleUid: string, step: number) {
    return this.sortUidsByAppearance(this.byGrad.uidsAt(handleUid, step));
  }

  /** The nodes that accumulate into a tensor. */
  accumulatorsOfTensor(tensorUid: string, step: number) {
    return this.sortUidsByAppearance(this.byVariable.uidsAt(tensorUid, step));
  }

  /** The edges that lead to a node, as the node they leave and its how manieth edge it is. */
  edgesLeadingTo(nodeUid: string, step: number) {
    return this.intoNode.uidsAt(nodeUid, step).map((key) => {
      const colon = key.lastIndexOf(":");
      return { node: key.slice(0, colon), edge: Number(key.slice(colon + 1)) };
    });
  }

  /** The saved slots that keep a storage, as `node:slot`. */
  slotsKeepingStorage(storageUid: string, step: number) {
    return this.slotsIn.uidsAt(storageUid, step);
  }

  /** The step before `step` at which a node last ran in a backward; -1 where it did not. */
  lastVisitBefore(backwardUid: string, nodeUid: string, step: number) {
    const visits = this.visitsByBackward.get(backwardUid) ?? [];
    return visits.findLast((visit) => visit.node === nodeUid && visit.step < step)?.step ?? -1;
  }

  sortUidsByAppearance(uids: string[]) {
    const orderOf = (uid: string) => this.lifetimes.get(uid)?.order ?? 0;
    return uids.length > 1 ? uids.sort((a, b) => orderOf(a) - orderOf(b)) : uids;
  }
}

interface Stretch {
  uid: string;
  /** from, to: the first and last step */
  from: number;
  to: number;
}

/**
 * A relation that changes from step to step: which things are at which other thing, for stretches of steps. Each is at
 * no more than one other at a time.
 */
class TimedRelation {
  stretches = new Map<string, Stretch[]>();
  current = new Map<string, { target: string; stretch: Stretch }>();

  /** `target` is null where it is at none any more. */
  setTarget(uid: string, target: string | null | undefined, step: number) {
    const open = this.current.get(uid);
    if (open?.target === target) return;
    if (open) {
      open.stretch.to = step - 1;
      this.current.delete(uid);
    }
    if (!target) return;
    const stretch = { uid, from: step, to: Infinity };
    addToList(this.stretches, target, stretch);
    this.current.set(uid, { target, stretch });
  }

  uidsAt(target: string, step: number): string[] {
    const out = [];
    for (const { uid, from, to } of this.stretches.get(target) ?? []) if (from <= step && step <= to) out.push(uid);
    return out;
  }
}
