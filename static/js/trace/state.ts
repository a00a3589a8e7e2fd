/** The state of the run after any step: reads a trace by its own rules, forwards, with keyframes to jump from. */

import { buildTraceIndex } from "./build_index.ts";
import { mergeEntityFields, isSameValue, type Cell, type Entity } from "./entities.ts";
import { mergeNestedStorages } from "./nested_storages.ts";
import { doesStepKeepNames, collectNamesAndPaths, type Names } from "./names.ts";
import type { TraceIndex } from "./trace_index.ts";
import type { Step, Storage, Trace } from "./wire.ts";

export type Entities = Map<string, Entity>;

export interface Snapshot {
  entities: Entities;
  step: Step | null;
  /** what the step made */
  fresh: Set<string>;
  /** by storage, the cells that hold other values, as `dtype:index` */
  written: Map<string, Set<string>>;
  /** by `storage:dtype:index` */
  oldValues: Map<string, Cell>;
  /** entities with other fields, and `frame/name` for names that mean something else */
  changed: Set<string>;
  freed: Map<string, Storage>;
  index: number;
}

export interface OpenTrace {
  trace: Trace;
  count: number;
  index: TraceIndex;
  at: (i: number) => Snapshot;
  state: (i: number) => Entities;
  names: (i: number) => Names;
}

const KEYFRAME_INTERVAL = 32;
/** As many states as are kept at a time, and as many sets of names. */
const MAX_CACHED_STATES = 8;

/**
 * Opens a trace. `at(-1)` is the state before the first step, where nothing exists. `index` is built when it is first
 * asked for.
 */
export function openTrace(recorded: Trace): OpenTrace {
  const steps = mergeNestedStorages(recorded.steps ?? []);
  const trace = steps === recorded.steps ? recorded : { ...recorded, steps };
  const keyframes: Entities[] = [];
  const recentStates = new Map<number, Entities>();
  const recentNames = new Map<number, Names>();
  let index: TraceIndex | null = null;
  let lastSnapshot: Snapshot | null = null;

  function state(i: number): Entities {
    if (i < 0) return new Map();
    i = Math.min(i, steps.length - 1);
    const cached = recentStates.get(i);
    if (cached) return cached;
    const keyframe = Math.min(Math.floor(i / KEYFRAME_INTERVAL), keyframes.length) - 1;
    let entities: Entities = keyframe < 0 ? new Map() : keyframes[keyframe];
    let lastApplied = (keyframe + 1) * KEYFRAME_INTERVAL - 1;
    for (const [nearStep, nearState] of recentStates)
      if (nearStep <= i && nearStep > lastApplied) [lastApplied, entities] = [nearStep, nearState];
    entities = new Map(entities);
    let ownFrames = new WeakSet<object>();
    for (let k = lastApplied + 1; k <= i; k++) {
      applyDelta(entities, steps[k], ownFrames);
      if ((k + 1) % KEYFRAME_INTERVAL === 0 && keyframes.length === (k + 1) / KEYFRAME_INTERVAL - 1) {
        keyframes.push(new Map(entities));
        ownFrames = new WeakSet();
      }
    }
    cacheWithEviction(recentStates, i, entities);
    return entities;
  }

  return {
    trace,
    count: steps.length,
    state,
    get index() {
      index ??= buildTraceIndex(trace);
      return index;
    },
    at(i) {
      i = Math.max(-1, Math.min(i, steps.length - 1));
      // both panes ask for it
      if (lastSnapshot?.index !== i) lastSnapshot = createSnapshot(state(i - 1), state(i), i < 0 ? null : steps[i], i);
      return lastSnapshot;
    },
    names(i) {
      i = Math.max(-1, Math.min(i, steps.length - 1));
      const cached = recentNames.get(i);
      if (cached) return cached;
      const entities = state(i);
      const namesBefore = recentNames.get(i - 1);
      const areSame = namesBefore && doesStepKeepNames(namesBefore, steps[i], state(i - 1), entities);
      const pathNames = areSame ? namesBefore : collectNamesAndPaths(entities, entities);
      cacheWithEviction(recentNames, i, pathNames);
      return pathNames;
    },
  };
}

/** Remember a step's value, and forget the one that was remembered longest ago. */
function cacheWithEviction<T>(cache: Map<number, T>, i: number, value: T) {
  cache.delete(i);
  cache.set(i, value);
  if (cache.size > MAX_CACHED_STATES) cache.delete(cache.keys().next().value as number);
}

/** The state after each step, one after the other, in one map that goes along. */
export function* iterateStates(trace: { steps?: Step[] }): Generator<Entities> {
  const entities: Entities = new Map();
  for (const traceStep of trace.steps ?? []) yield applyDelta(entities, traceStep);
}

/**
 * `ownFrames` are names of frames that nobody else has seen: they are changed in place, or a run of n steps that binds
 * n names would copy n² of them.
 */
function applyDelta(entities: Entities, traceStep: Step, ownFrames?: WeakSet<object>) {
  for (const [uid, fields] of Object.entries(traceStep.set ?? {})) {
    const old = entities.get(uid);
    const names = old?.kind === "frame" ? old.vars : undefined;
    const merged = mergeEntityFields(old, fields, names && ownFrames?.has(names));
    if (merged) entities.set(uid, merged);
    if (merged?.kind === "frame" && merged.vars !== names) ownFrames?.add(merged.vars);
  }
  for (const uid of traceStep.gone ?? []) entities.delete(uid);
  return entities;
}

/** What this step did to what there was; where recording begins, nothing. */
function createSnapshot(before: Entities, after: Entities, traceStep: Step | null, index: number): Snapshot {
  const snap: Snapshot = {
    entities: after,
    step: traceStep,
    fresh: new Set(),
    written: new Map(),
    oldValues: new Map(),
    changed: new Set(),
    freed: new Map(),
    index,
  };
  for (const uid of Object.keys((traceStep?.kind !== "begin" && traceStep?.set) || {})) {
    const now = after.get(uid);
    if (now) addChangeToSnapshot(snap, uid, before.get(uid), now);
  }
  for (const uid of traceStep?.gone ?? []) {
    const fields = traceStep?.set?.[uid];
    const old = before.get(uid);
    const last = fields ? mergeEntityFields(old, fields) : old;
    if (last?.kind === "storage") snap.freed.set(uid, last);
  }
  return snap;
}

function addChangeToSnapshot(
  { fresh, written, oldValues, changed }: Snapshot,
  uid: string,
  old: Entity | undefined,
  now: Entity,
) {
  if (!old) {
    fresh.add(uid);
    if (now.kind === "frame") for (const name of now.vars.keys()) changed.add(`${uid}/${name}`);
  } else if (now.kind === "storage" && old.kind === "storage") {
    const cells = changedCells(old, now);
    if (cells.size) written.set(uid, new Set(cells.keys()));
    for (const [cell, value] of cells) oldValues.set(`${uid}:${cell}`, value);
  } else if (now.kind === "frame" && old.kind === "frame") {
    for (const [name, value] of now.vars) if (!isSameValue(old.vars.get(name), value)) changed.add(`${uid}/${name}`);
  } else changed.add(uid);
}

/**
 * Cells that hold another value than before, with that value, by `dtype:index`; a dtype seen first now is not a write.
 */
export function changedCells(old: Storage, now: Storage): Map<string, Cell> {
  const oldValues = new Map<string, Cell>();
  for (const [dtype, row] of Object.entries(now.cells ?? {})) {
    const oldCells = old.cells?.[dtype];
    if (!oldCells || oldCells === row) continue;
    row.forEach((value, i) => {
      if (i < oldCells.length && !isSameValue(oldCells[i], value)) oldValues.set(`${dtype}:${i}`, oldCells[i]);
    });
  }
  for (const [dtype, parts] of Object.entries(now.windows ?? {})) {
    const oldCells = new Map(indexedWindowCells(old.windows?.[dtype]));
    for (const [i, value] of indexedWindowCells(parts)) {
      const before = oldCells.get(i);
      if (before !== undefined && !isSameValue(before, value)) oldValues.set(`${dtype}:${i}`, before);
    }
  }
  return oldValues;
}

function indexedWindowCells(parts: [number, Cell[]][] | undefined): [number, Cell][] {
  return (parts ?? []).flatMap(([from, values]) => values.map((value, k) => [from + k, value] as [number, Cell]));
}
