/**
 * What the steps of a run did, in order: operations, events, backward calls and the names that were given. Each part is
 * made when it is first asked for, from the lists of the trace's index.
 */

import { referencedUid } from "../../trace/names.ts";
import { operationName } from "./operation_name.ts";
import { addToList } from "../../trace/multimap.ts";
import type { TraceIndex } from "../../trace/trace_index.ts";
import type { CodePlace, Delta, Event, Op, Step } from "../../trace/wire.ts";

export type Operation = Op & {
  step: number;
  /** its place in the step's log */
  at: number;
};

/** a name of a frame that came to mean a thing */
export interface NameBinding {
  uid: string;
  name: string;
  frame: string;
  step: number;
}

export interface BackwardCall {
  uid: string;
  stmt: number | null;
  api: "backward" | "grad";
  roots: (string | null)[];
  inputs: string[];
  keepsGraph: boolean;
  createsGraph: boolean;
  /** step, end: its first step and the last at which it runs */
  step: number;
  end: number;
  parent: string | null;
  /** the line without steps that called it */
  place: CodePlace | null;
}

/** an event with its step */
export type EventOccurrence<E extends Event["event"] = Event["event"]> = Extract<Event, { event: E }> & {
  step: number;
  /** its place in the step's log */
  at: number;
};

interface NameHistory {
  /** by what a name came to mean */
  bindings: Map<string, NameBinding[]>;
  /** by `frame/name`, its uid empty where it came to mean no entity */
  meanings: Map<string, NameBinding[]>;
}

/** of an entry of a step's log */
interface LogPlace {
  step: number;
  at: number;
}

/** what one pass over the logs tells of operations, most of which nobody asks for */
interface OperationPlaces {
  /** by the dispatcher's name */
  byName: Map<string, LogPlace[]>;
  /** by tensor, those that took and returned it */
  inPlace: Map<string, Operation[]>;
  /** by tensor, the first operation that made it, where that was at another step than the one at which it appeared */
  lateProducers: Map<string, Operation>;
}

export class RunScan {
  steps: Step[];
  index: TraceIndex;
  /** by step */
  _opsAt = new Map<number, Operation[]>();
  _places: OperationPlaces | null = null;
  _uses: Map<string, LogPlace[]> | null = null;
  _events = new Map<Event["event"], EventOccurrence[]>();
  _writes: Map<string, EventOccurrence<"written">[]> | null = null;
  _names: NameHistory | null = null;
  _backwards: BackwardCall[] | null = null;

  constructor(steps: Step[], index: TraceIndex) {
    this.steps = steps;
    this.index = index;
  }

  /** The operations of a step, in order. */
  opsAt(step: number): Operation[] {
    const cached = this._opsAt.get(step);
    if (cached) return cached;
    const ops: Operation[] = [];
    const log = this.steps[step]?.log ?? [];
    for (let at = 0; at < log.length; at++) {
      const entry = log[at];
      if (entry.kind === "op") ops.push(operationAt(entry, step, at));
    }
    this._opsAt.set(step, ops);
    return ops;
  }

  /** All operations, in order. */
  *allOperations(): Generator<Operation> {
    for (let step = 0; step < this.steps.length; step++) yield* this.opsAt(step);
  }

  /** The operations whose short names fit, in order. */
  operationsNamed(pattern: RegExp): Operation[] {
    const lists = [...this.operationPlaces.byName].flatMap(([name, places]) =>
      pattern.test(operationName(name)) ? [places] : [],
    );
    const places = lists.length === 1 ? lists[0] : lists.flat().sort((a, b) => a.step - b.step || a.at - b.at);
    return places.map(({ step, at }) => operationAt(this.steps[step].log[at] as Op, step, at));
  }

  /** The fields of an entity as the step gave them at which it appeared. */
  initialFields(uid: string | null | undefined): Delta | undefined {
    const life = this.index.lifetimes.get(uid ?? "");
    return life && this.steps[life.birth].set[life.uid];
  }

  /** Every event of a kind, in order. */
  eventsOfKind(event: Event["event"]): EventOccurrence[] {
    const cached = this._events.get(event);
    if (cached) return cached;
    const events: EventOccurrence[] = [];
    for (const { step, at } of this.index.eventPlacesByName.get(event) ?? [])
      events.push({ ...this.steps[step].log[at], step, at } as EventOccurrence);
    this._events.set(event, events);
    return events;
  }

  /** The writes of each storage, in order. */
  get writesByStorage(): Map<string, EventOccurrence<"written">[]> {
    if (this._writes) return this._writes;
    this._writes = new Map();
    for (const event of this.eventsOfKind("written"))
      if (event.event === "written") addToList(this._writes, event.storage, event);
    return this._writes;
  }

  get bindingsByUid() {
    return this.nameHistory.bindings;
  }

  get meaningsByName() {
    return this.nameHistory.meanings;
  }

  /** The operation that made a tensor. */
  producingOperation(uid: string): Operation | undefined {
    const birth = this.index.lifetimes.get(uid)?.birth;
    const isMaker = (op: Operation) => op.outputs.includes(uid) && !op.inputs.includes(uid);
    const maker = birth === undefined ? undefined : this.opsAt(birth).find(isMaker);
    // of a tensor that torch gave the program later than it was first seen
    return maker ?? this.operationPlaces.lateProducers.get(uid);
  }

  get inPlaceOperationsByTensor() {
    return this.operationPlaces.inPlace;
  }

  /** The operations that took a tensor, in order. */
  usesOf(uid: string): Operation[] {
    this._uses ??= usesByTensor(this.steps);
    const places = this._uses.get(uid) ?? [];
    return places.map(({ step, at }) => operationAt(this.steps[step].log[at] as Op, step, at));
  }

  get nameHistory() {
    this._names ??= nameHistoryOf(this.index);
    return this._names;
  }

  get operationPlaces() {
    this._places ??= operationPlacesOf(this.steps, this.index);
    return this._places;
  }

  /** Calls of the engine, in order. */
  get backwardCalls() {
    this._backwards ??= backwardCallsOf(this.index, this.steps.length);
    return this._backwards;
  }
}

function nameHistoryOf({ frameChanges }: TraceIndex): NameHistory {
  const names: NameHistory = { bindings: new Map(), meanings: new Map() };
  for (const { uid: frame, step, fields } of frameChanges) {
    if (!fields.vars) continue;
    for (const [name, value] of Object.entries(fields.vars)) {
      const uid = referencedUid(value) ?? "";
      const binding = { uid, name, frame, step };
      if (uid) addToList(names.bindings, uid, binding);
      addToList(names.meanings, `${frame}/${name}`, binding);
    }
  }
  return names;
}

/** Field by field, as copies of objects of many shapes cost more than all else here. */
function operationAt(
  { name, inputs, outputs, requires_grad, grad_mode, call, expression, direct, args, failed, place }: Op,
  step: number,
  at: number,
): Operation {
  return {
    kind: "op",
    name,
    inputs,
    outputs,
    requires_grad,
    grad_mode,
    call,
    expression,
    direct,
    args,
    failed,
    place,
    step,
    at,
  };
}

function operationPlacesOf(steps: Step[], { lifetimes }: TraceIndex): OperationPlaces {
  const places: OperationPlaces = { byName: new Map(), inPlace: new Map(), lateProducers: new Map() };
  for (let step = 0; step < steps.length; step++) {
    const { log = [] } = steps[step];
    for (let at = 0; at < log.length; at++) {
      const entry = log[at];
      if (entry.kind !== "op") continue;
      addToList(places.byName, entry.name, { step, at });
      for (const uid of entry.outputs) {
        if (entry.inputs.includes(uid)) addToList(places.inPlace, uid, operationAt(entry, step, at));
        else if (lifetimes.get(uid)?.birth !== step && !places.lateProducers.has(uid))
          places.lateProducers.set(uid, operationAt(entry, step, at));
      }
    }
  }
  return places;
}

function usesByTensor(steps: Step[]) {
  const uses = new Map<string, LogPlace[]>();
  for (const [step, { log = [] }] of steps.entries())
    for (const [at, entry] of log.entries())
      if (entry.kind === "op") for (const uid of new Set(entry.inputs)) addToList(uses, uid, { step, at });
  return uses;
}

/** `count` is the number of steps. */
function backwardCallsOf({ backwardChanges, lifetimes: lives }: TraceIndex, count: number): BackwardCall[] {
  return backwardChanges.flatMap(({ uid, step, fields }) => {
    if (!fields.kind) return [];
    const { stmt = null, api, roots, inputs, keep_graph, create_graph, parent = null, place = null } = fields;
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
      place,
    };
  });
}
