/** What the steps of a run did, in order: operations, events, backward calls and the names that were given. Each part is made
 * when it is first asked for, from the lists of the trace's index. */

import { refOf } from "../trace/names.js";
import { addToList } from "../trace/multimap.js";

/** @typedef {import("../trace/wire.js").Step} Step */
/** @typedef {import("../trace/wire.js").Delta} Delta */
/** @typedef {import("../trace/wire.js").Op} Op */
/** @typedef {import("../trace/wire.js").Event} Event */
/** @typedef {import("../trace/trace_index.js").TraceIndex} TraceIndex */
/**
 * @typedef {Op & {step: number, at: number}} Operation   at: its place in the step's log
 * @typedef {{uid: string, name: string, frame: string, step: number}} Binding   a name of a frame that came to mean a thing
 * @typedef {{uid: string, stmt: number | null, api: "backward" | "grad", roots: (string | null)[], inputs: string[],
 *   keepsGraph: boolean, createsGraph: boolean, step: number, end: number, parent: string | null}} BackwardCall
 *   step, end: its first step and the last at which it runs
 */
/**
 * @template {Event["event"]} [E=Event["event"]]
 * @typedef {Extract<Event, {event: E}> & {step: number, at: number}} Occurrence   an event with its step; at: its place in
 *   the step's log
 */
/** @typedef {{bindings: Map<string, Binding[]>, meanings: Map<string, Binding[]>}} Names
 *   bindings: by what a name came to mean; meanings: by `frame/name`, its uid empty where it came to mean no entity */
/** @typedef {{producers: Map<string, Operation>, inPlace: Map<string, Operation[]>, read: Set<string>}} TensorMakers
 *   producers and inPlace: by tensor, the operation that made it, and those that took and returned it; read: tensors that an
 *   operation took */

export class Scan {
  /** @param {Step[]} steps @param {TraceIndex} index */
  constructor(steps, index) {
    this.steps = steps;
    this.index = index;
    /** @type {Map<number, Operation[]>} by step */
    this._opsAt = new Map();
    /** @type {Map<Event["event"], Occurrence[]>} */
    this._events = new Map();
    /** @type {Map<string, Occurrence<"written">[]> | null} */
    this._writes = null;
    /** @type {Names | null} */
    this._names = null;
    /** @type {TensorMakers | null} */
    this._makers = null;
    /** @type {BackwardCall[] | null} */
    this._backwards = null;
  }

  /** The operations of a step, in order. @param {number} step @returns {Operation[]} */
  opsAt(step) {
    const cached = this._opsAt.get(step);
    if (cached) return cached;
    /** @type {Operation[]} */
    const ops = [];
    (this.steps[step]?.log ?? []).forEach((entry, logIndex) => {
      if (entry.kind === "op") ops.push({ ...entry, step, at: logIndex });
    });
    this._opsAt.set(step, ops);
    return ops;
  }

  /** All operations, in order. @returns {Generator<Operation>} */
  *ops() {
    for (let step = 0; step < this.steps.length; step++) yield* this.opsAt(step);
  }

  /** The fields of an entity as the step gave them at which it appeared. @param {string | null | undefined} uid
   * @returns {Delta | undefined} */
  initialFields(uid) {
    const life = this.index.lives.get(uid ?? "");
    return life && this.steps[life.birth].set[life.uid];
  }

  /** Every event of a kind, in order. @param {Event["event"]} event @returns {Occurrence[]} */
  events(event) {
    const cached = this._events.get(event);
    if (cached) return cached;
    /** @type {Occurrence[]} */
    const events = [];
    for (const { step, at } of this.index.events.get(event) ?? [])
      events.push(/** @type {Occurrence} */ ({ ...this.steps[step].log[at], step, at }));
    this._events.set(event, events);
    return events;
  }

  /** The writes of each storage, in order. @returns {Map<string, Occurrence<"written">[]>} */
  get writes() {
    if (this._writes) return this._writes;
    this._writes = new Map();
    for (const event of this.events("written"))
      if (event.event === "written") addToList(this._writes, event.storage, event);
    return this._writes;
  }

  get bindings() {
    return this.names.bindings;
  }

  get meanings() {
    return this.names.meanings;
  }

  /** The operation that made a tensor. @param {string} uid @returns {Operation | undefined} */
  producer(uid) {
    const birth = this.index.lives.get(uid)?.birth;
    const isMaker = (/** @type {Operation} */ op) => op.outputs.includes(uid) && !op.inputs.includes(uid);
    const maker = birth === undefined ? undefined : this.opsAt(birth).find(isMaker);
    return maker ?? this.makers.producers.get(uid); // of a tensor that torch gave the program later than it was first seen
  }

  get inPlace() {
    return this.makers.inPlace;
  }

  get read() {
    return this.makers.read;
  }

  get names() {
    this._names ??= namesGivenBySteps(this.index);
    return this._names;
  }

  get makers() {
    this._makers ??= tensorMakers(this.ops());
    return this._makers;
  }

  /** Calls of the engine, in order. */
  get backwards() {
    this._backwards ??= backwardCalls(this.index, this.steps.length);
    return this._backwards;
  }
}

/** @param {TraceIndex} index @returns {Names} */
function namesGivenBySteps({ frameChanges }) {
  /** @type {Names} */
  const names = { bindings: new Map(), meanings: new Map() };
  for (const { uid: frame, step, fields } of frameChanges) {
    if (!fields.vars) continue;
    for (const [name, value] of Object.entries(fields.vars)) {
      const uid = refOf(value) ?? "";
      const binding = { uid, name, frame, step };
      if (uid) addToList(names.bindings, uid, binding);
      addToList(names.meanings, `${frame}/${name}`, binding);
    }
  }
  return names;
}

/** @param {Iterable<Operation>} ops @returns {TensorMakers} */
function tensorMakers(ops) {
  /** @type {TensorMakers} */
  const makers = { producers: new Map(), inPlace: new Map(), read: new Set() };
  for (const op of ops) {
    for (const uid of op.inputs) makers.read.add(uid);
    for (const uid of op.outputs) {
      if (op.inputs.includes(uid)) addToList(makers.inPlace, uid, op);
      else if (!makers.producers.has(uid)) makers.producers.set(uid, op);
    }
  }
  return makers;
}

/** @param {TraceIndex} index @param {number} count of steps @returns {BackwardCall[]} */
function backwardCalls({ backwardChanges, lives }, count) {
  return backwardChanges.flatMap(({ uid, step, fields }) => {
    if (!fields.kind) return [];
    const { stmt = null, api, roots, inputs, keep_graph, create_graph, parent = null } = fields;
    return {
      uid,
      stmt,
      api: api ?? "backward",
      roots: roots ?? [],
      inputs: inputs ?? [],
      keepsGraph: keep_graph === true,
      createsGraph: create_graph === true,
      step,
      end: Math.min((lives.get(uid)?.death ?? count) + 1, count - 1),
      parent,
    };
  });
}
