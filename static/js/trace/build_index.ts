/** Builds a trace's index in one pass over its steps, from the fields of relations alone. */

import { addToList } from "./multimap.ts";
import { BROKEN_SLOT_STATES, placementKey, pinKey, TraceIndex, type EntityChange } from "./trace_index.ts";
import type { Delta, Slot, Step } from "./wire.ts";

const NO_ENTITIES = new Set<string>();

export function buildTraceIndex(trace: { steps?: Step[] }): TraceIndex {
  const steps = trace.steps ?? [];
  const index = new TraceIndex(steps.length);
  new TraceIndexBuilder(index).addSteps(steps);
  return index;
}

/** Fills an index step by step, with the fields of relations as they are so far. */
class TraceIndexBuilder {
  index: TraceIndex;
  handles = new Map<
    string,
    { storage?: string | null; counter?: string | null; grad?: string | null; grad_fn?: string | null }
  >();
  nodes = new Map<string, { saved: Record<string, Slot>; released: boolean; edges: number; kept: Set<string> }>();
  /** by handle, the key of its placement now */
  placementKeys = new Map<string, string>();
  /** by `node:slot`, the key of its pin now */
  pinKeys = new Map<string, string>();
  storageSizes = new Map<string, number>();
  /** by node, the first placement of its output, where the node itself comes later */
  outputKeys = new Map<string, string>();
  aliveBytes = 0;

  constructor(index: TraceIndex) {
    this.index = index;
  }

  addSteps(steps: Step[]) {
    for (let i = 0; i < steps.length; i++) {
      const { set = {}, gone = [] } = steps[i];
      const uids = Object.keys(set);
      const ended = gone.length ? new Set(gone) : NO_ENTITIES;
      for (const uid of uids) this.addLifetime(uid, set[uid], i, ended.has(uid));
      for (const uid of gone) this.endLifetime(uid, i);
      for (const uid of uids) if (uid[0] === "t") this.recordGradientOwner(uid);
      for (const uid of gone) this.subtractAliveBytes(uid);
      this.index.liveBytesByStep.push(this.aliveBytes);
      this.addEvents(steps[i], i);
    }
  }

  /** `isGone`: it is, by the end of the step. */
  addLifetime(uid: string, fields: Delta, i: number, isGone: boolean) {
    const { lifetimes: lives, lastStep: end } = this.index;
    let life = lives.get(uid);
    if (!life) {
      if (!fields.kind) return;
      life = { uid, kind: fields.kind, order: lives.size, birth: i, death: end };
      lives.set(uid, life);
    }
    if (life.birth < i) addToList(this.index.laterChanges, uid, i);
    this.addEntityChange(life.kind, { uid, step: i, fields });
    if (life.kind === "storage") this.updateAliveBytes(uid, fields);
    if (isGone) return;
    if (life.kind === "tensor" || life.kind === "array") this.updateHandleRelations(uid, fields, i);
    else if (life.kind === "node") this.updateNodeRelations(uid, fields, i);
    else if (life.kind === "storage") {
      if (fields.cells || fields.cells_at || fields.windows || life.birth === i)
        addToList(this.index.writeStepsByStorage, uid, i);
    } else if (life.kind === "object" && (fields.attrs || fields.type)) this.recordModuleMembers(uid, fields);
  }

  addEntityChange(kind: string, change: EntityChange) {
    if (kind === "frame") {
      this.index.frameChanges.push(change);
      this.index.uidsThatNameOthers.add(change.uid);
    } else if (kind === "object") this.index.objectChanges.push(change);
    else if (kind === "backward") this.index.backwardChanges.push(change);
  }

  updateHandleRelations(uid: string, fields: Delta, i: number) {
    const { index } = this;
    const handle = this.handles.get(uid) ?? {};
    const { storage, counter, grad, grad_fn } = fields;
    if (storage !== undefined) index.onStorage.setTarget(uid, (handle.storage = storage), i);
    if (counter !== undefined) index.onCounter.setTarget(uid, (handle.counter = counter), i);
    if (grad_fn !== undefined) index.byNode.setTarget(uid, (handle.grad_fn = grad_fn), i);
    // a mode's is a boolean
    if (grad !== undefined) index.byGrad.setTarget(uid, (handle.grad = grad as string | null), i);
    const isNew = !this.handles.has(uid);
    if (isNew) this.handles.set(uid, handle);
    if (isNew || storage !== undefined || counter !== undefined) this.startPlacement(uid, handle, i);
    if (grad || fields.parts || fields.tangent || fields.wraps) index.uidsThatNameOthers.add(uid);
    if (!handle.grad_fn) return;
    const placementKey = this.placementKeys.get(uid) ?? "";
    const node = index.nodes.get(handle.grad_fn);
    if (node) node.output ??= placementKey;
    else this.outputKeys.set(handle.grad_fn, placementKey);
  }

  /** Where a handle is from a step on. */
  startPlacement(uid: string, handle: { storage?: string | null; counter?: string | null }, i: number) {
    const { placements, lastStep: end } = this.index;
    const key = placementKey(uid, handle);
    if (this.placementKeys.get(uid) === key) return;
    this.endPlacement(uid, i);
    // A handle that comes back to where it was keeps the place for all the time between.
    const { storage = null, counter = null } = handle;
    const placement = placements.get(key) ?? { key, uid, storage, counter, birth: i, death: end };
    placement.death = end;
    placements.set(key, placement);
    this.placementKeys.set(uid, key);
  }

  /** A handle's placement ends. */
  endPlacement(uid: string, i: number) {
    const placement = this.index.placements.get(this.placementKeys.get(uid) ?? "");
    if (placement) placement.death = i - 1;
    this.placementKeys.delete(uid);
  }

  updateNodeRelations(uid: string, fields: Delta, i: number) {
    const { index } = this;
    const state = this.nodes.get(uid) ?? { saved: {}, released: false, edges: 0, kept: new Set() };
    this.nodes.set(uid, state);
    const output = this.outputKeys.get(uid) ?? null;
    const facts = index.nodes.get(uid) ?? { uid, name: "", variable: null, next: [], slots: [], output };
    index.nodes.set(uid, facts);
    facts.name = fields.name ?? facts.name;
    facts.variable = fields.variable ?? facts.variable;
    if (fields.variable !== undefined) index.byVariable.setTarget(uid, fields.variable, i);
    if (fields.next?.length) facts.next = fields.next;
    if (fields.next !== undefined) {
      const next = fields.next ?? [];
      for (let k = 0; k < Math.max(next.length, state.edges); k++)
        index.intoNode.setTarget(`${uid}:${k}`, next[k]?.[0] ?? null, i);
      state.edges = next.length;
    }
    if (fields.saved !== undefined) state.saved = fields.saved ?? {};
    if (fields.released !== undefined) state.released = Boolean(fields.released);
    for (const [slot, saved] of Object.entries(state.saved)) {
      if (!facts.slots.includes(slot)) facts.slots.push(slot);
      this.recordSlotState(uid, slot, saved, state.released, i);
      state.kept.add(slot);
    }
  }

  recordSlotState(nodeUid: string, slot: string, saved: Slot, released: boolean, i: number) {
    const { index } = this;
    const key = `${nodeUid}:${slot}`;
    const storageUid = saved.state === "freed" ? null : (saved.storage ?? null);
    index.slotsIn.setTarget(key, released ? null : storageUid, i);
    this.updatePin(nodeUid, slot, saved, storageUid, i);
    let entry = index.slots.get(key);
    if (!entry && storageUid && !released) {
      const { counter = null, expected = null, tensor = null } = saved;
      const notYet = { stale: null, changed: null, released: null };
      entry = { key, node: nodeUid, slot, storage: storageUid, counter, expected, tensor, birth: i, ...notYet };
      index.slots.set(key, entry);
    }
    if (!entry) return;
    if (saved.state === "stale" || saved.state === "detached") entry.stale ??= i;
    if (saved.state === "changed") entry.changed ??= i;
    if (!storageUid || released) entry.released ??= i;
  }

  updatePin(nodeUid: string, slot: string, saved: Slot, storageUid: string | null, i: number) {
    const { pins, lastStep: end } = this.index;
    const slotKey = `${nodeUid}:${slot}`;
    const key = pinKey(nodeUid, slot, saved);
    const keyBefore = this.pinKeys.get(slotKey);
    if (keyBefore && (!storageUid || keyBefore !== key)) this.endPin(keyBefore, i);
    if (!storageUid) return;
    const pin = pins.get(key) ?? { node: nodeUid, slot, storage: storageUid, birth: i, death: end, broken: false };
    pin.death = end;
    pin.broken ||= BROKEN_SLOT_STATES.has(saved.state);
    this.pinKeys.set(slotKey, key);
    pins.set(key, pin);
  }

  /** From this step on a pin is not there any more. */
  endPin(key: string, i: number) {
    const pin = this.index.pins.get(key);
    if (pin && pin.death >= i) pin.death = i - 1;
  }

  /** Whose parameters and modules an object's attributes are. */
  recordModuleMembers(uid: string, fields: Delta) {
    const { modules, moduleOfTensor: moduleOf } = this.index;
    const module = modules.get(uid) ?? { type: "", within: null };
    modules.set(uid, module);
    module.type = fields.type ?? module.type;
    for (const value of Object.values(fields.attrs ?? {})) {
      const ref = value && typeof value === "object" && "ref" in value ? value.ref : null;
      if (ref?.[0] === "t" && !moduleOf.has(ref)) moduleOf.set(ref, uid);
      if (ref?.[0] !== "o" || ref === uid) continue;
      const innerModule = modules.get(ref) ?? { type: "", within: null };
      modules.set(ref, innerModule);
      innerModule.within ??= uid;
    }
  }

  endLifetime(uid: string, i: number) {
    const { index } = this;
    const life = index.lifetimes.get(uid);
    if (!life || life.death < i) return;
    life.death = i - 1;
    if (this.handles.delete(uid)) {
      for (const relation of [index.onStorage, index.onCounter, index.byNode, index.byGrad])
        relation.setTarget(uid, null, i);
      this.endPlacement(uid, i);
    }
    const node = life.kind === "node" ? this.nodes.get(uid) : undefined;
    if (!node) return;
    index.byVariable.setTarget(uid, null, i);
    for (let k = 0; k < node.edges; k++) index.intoNode.setTarget(`${uid}:${k}`, null, i);
    for (const slot of node.kept) {
      const key = `${uid}:${slot}`;
      index.slotsIn.setTarget(key, null, i);
      this.endPin(this.pinKeys.get(key) ?? "", i);
      const entry = index.slots.get(key);
      if (entry) entry.released ??= i;
    }
  }

  /** Of whose tensor a storage is the gradient's. */
  recordGradientOwner(uid: string) {
    const { gradOwners } = this.index;
    const handleLinks = this.handles.get(uid);
    const storageUid = handleLinks?.grad ? this.handles.get(handleLinks.grad)?.storage : null;
    if (storageUid && handleLinks?.storage && !gradOwners.has(storageUid))
      gradOwners.set(storageUid, handleLinks.storage);
  }

  updateAliveBytes(storageUid: string, fields: Delta) {
    const before = this.storageSizes.get(storageUid) ?? 0;
    const size = fields.within ? 0 : (fields.nbytes ?? before);
    this.aliveBytes += size - before;
    this.storageSizes.set(storageUid, size);
  }

  subtractAliveBytes(uid: string) {
    if (uid[0] !== "s") return;
    this.aliveBytes -= this.storageSizes.get(uid) ?? 0;
    this.storageSizes.delete(uid);
  }

  addEvents(traceStep: Step, i: number) {
    const { eventPlacesByName: events, visitsByBackward: visits, visitStepsByNode: visitsOf } = this.index;
    const { log = [] } = traceStep;
    for (let logIndex = 0; logIndex < log.length; logIndex++) {
      const entry = log[logIndex];
      if (entry.kind === "event") addToList(events, entry.event, { step: i, at: logIndex });
    }
    if (!traceStep.visit) return;
    addToList(visits, traceStep.visit.backward, { node: traceStep.visit.node, step: i });
    addToList(visitsOf, traceStep.visit.node, i);
  }
}
