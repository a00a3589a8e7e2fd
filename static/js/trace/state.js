/** The state of the run after any step: reads a trace by its own rules, forwards, with keyframes to jump from. */

import { buildIndex } from "./build_index.js";
import { mergeFields, sameValue } from "./entities.js";
import { areNamesUnchanged, namesAndPaths } from "./names.js";

/** @typedef {import("./wire.js").Trace} Trace */
/** @typedef {import("./wire.js").Step} Step */
/** @typedef {import("./trace_index.js").TraceIndex} TraceIndex */
/** @typedef {import("./entities.js").Cell} Cell */
/** @typedef {import("./entities.js").Entity} Entity */
/** @typedef {import("./entities.js").Storage} Storage */
/**
 * @typedef {Map<string, Entity>} Entities
 * @typedef {{entities: Entities, step: Step | null, fresh: Set<string>, written: Map<string, Set<string>>,
 *   oldValues: Map<string, Cell>, changed: Set<string>, freed: Map<string, Storage>, index: number}} Snapshot
 *   fresh: what the step made. written: by storage, the cells that hold other values, as `dtype:index`; oldValues: by
 *   `storage:dtype:index`. changed: entities with other fields, and `frame/name` for names that mean something else
 * @typedef {{trace: Trace, count: number, index: TraceIndex, at: (i: number) => Snapshot, state: (i: number) => Entities,
 *   names: (i: number) => import("./names.js").Names}} OpenTrace
 */

const KEYFRAME_EVERY = 32;
/** As many states as are kept at a time, and as many sets of names. */
const MAX_CACHED_STEPS = 8;

/**
 * Open a trace. `at(-1)` is the state before the first step, where nothing exists.
 * @param {Trace} trace
 * @returns {OpenTrace} its `index` is built when it is first asked for
 */
export function openTrace(trace) {
  const steps = trace.steps ?? [];
  /** @type {Entities[]} */
  const keyframes = [];
  /** @type {Map<number, Entities>} */
  const recentStates = new Map();
  /** @type {Map<number, import("./names.js").Names>} */
  const recentNames = new Map();
  /** @type {TraceIndex | null} */
  let index = null;
  /** @type {Snapshot | null} */
  let lastSnapshot = null;

  /** @param {number} i @returns {Entities} */
  function state(i) {
    if (i < 0) return new Map();
    i = Math.min(i, steps.length - 1);
    const cached = recentStates.get(i);
    if (cached) return cached;
    const keyframe = Math.min(Math.floor(i / KEYFRAME_EVERY), keyframes.length) - 1;
    /** @type {Entities} */
    let entities = keyframe < 0 ? new Map() : keyframes[keyframe];
    let lastApplied = (keyframe + 1) * KEYFRAME_EVERY - 1;
    for (const [nearStep, nearState] of recentStates)
      if (nearStep <= i && nearStep > lastApplied) [lastApplied, entities] = [nearStep, nearState];
    entities = new Map(entities);
    /** @type {WeakSet<object>} */
    let ownFrames = new WeakSet();
    for (let k = lastApplied + 1; k <= i; k++) {
      applyStep(entities, steps[k], ownFrames);
      if ((k + 1) % KEYFRAME_EVERY === 0 && keyframes.length === (k + 1) / KEYFRAME_EVERY - 1) {
        keyframes.push(new Map(entities));
        ownFrames = new WeakSet();
      }
    }
    cacheRecent(recentStates, i, entities);
    return entities;
  }

  return {
    trace,
    count: steps.length,
    state,
    get index() {
      index ??= buildIndex(trace);
      return index;
    },
    at(i) {
      i = Math.max(-1, Math.min(i, steps.length - 1));
      if (lastSnapshot?.index !== i) lastSnapshot = snapshotOf(state(i - 1), state(i), i < 0 ? null : steps[i], i); // both panes ask for it
      return lastSnapshot;
    },
    names(i) {
      i = Math.max(-1, Math.min(i, steps.length - 1));
      const cached = recentNames.get(i);
      if (cached) return cached;
      const entities = state(i);
      const namesBefore = recentNames.get(i - 1);
      const areSame = namesBefore && areNamesUnchanged(namesBefore, steps[i], state(i - 1), entities);
      const pathNames = areSame ? namesBefore : namesAndPaths(entities, entities);
      cacheRecent(recentNames, i, pathNames);
      return pathNames;
    },
  };
}

/** Remember a step's value, and forget the one that was remembered longest ago.
 * @template T @param {Map<number, T>} cache @param {number} i @param {T} value */
function cacheRecent(cache, i, value) {
  cache.delete(i);
  cache.set(i, value);
  if (cache.size > MAX_CACHED_STEPS) cache.delete(/** @type {number} */ (cache.keys().next().value));
}

/** The state after each step, one after the other, in one map that goes along. @param {{steps?: Step[]}} trace
 * @returns {Generator<Entities>} */
export function* statesOf(trace) {
  /** @type {Entities} */
  const entities = new Map();
  for (const traceStep of trace.steps ?? []) yield applyStep(entities, traceStep);
}

/** @param {Entities} entities @param {Step} traceStep @param {WeakSet<object>} [ownFrames] names of frames that nobody else
 * has seen: they are changed in place, or a run of n steps that binds n names would copy n² of them */
function applyStep(entities, traceStep, ownFrames) {
  for (const [uid, fields] of Object.entries(traceStep.set ?? {})) {
    const old = entities.get(uid);
    const names = old?.kind === "frame" ? old.vars : undefined;
    const merged = mergeFields(old, fields, names && ownFrames?.has(names));
    if (merged) entities.set(uid, merged);
    if (merged?.kind === "frame" && merged.vars !== names) ownFrames?.add(merged.vars);
  }
  for (const uid of traceStep.gone ?? []) entities.delete(uid);
  return entities;
}

/**
 * What this step did to what there was; where recording begins, nothing.
 * @param {Entities} before @param {Entities} after @param {Step | null} traceStep @param {number} index @returns {Snapshot}
 */
function snapshotOf(before, after, traceStep, index) {
  /** @type {Snapshot} */
  const snap = {
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
    if (now) addChange(snap, uid, before.get(uid), now);
  }
  for (const uid of traceStep?.gone ?? []) {
    const fields = traceStep?.set?.[uid];
    const old = before.get(uid);
    const last = fields ? mergeFields(old, fields) : old;
    if (last?.kind === "storage") snap.freed.set(uid, last);
  }
  return snap;
}

/** @param {Snapshot} snap @param {string} uid @param {Entity | undefined} old @param {Entity} now */
function addChange({ fresh, written, oldValues, changed }, uid, old, now) {
  if (!old) {
    fresh.add(uid);
    if (now.kind === "frame") for (const name of now.vars.keys()) changed.add(`${uid}/${name}`);
  } else if (now.kind === "storage" && old.kind === "storage") {
    const cells = changedCells(old, now);
    if (cells.size) written.set(uid, new Set(cells.keys()));
    for (const [cell, value] of cells) oldValues.set(`${uid}:${cell}`, value);
  } else if (now.kind === "frame" && old.kind === "frame") {
    for (const [name, value] of now.vars) if (!sameValue(old.vars.get(name), value)) changed.add(`${uid}/${name}`);
  } else changed.add(uid);
}

/** Cells that hold another value than before, with that value; a dtype seen first now is not a write.
 * @param {Storage} old @param {Storage} now @returns {Map<string, Cell>} by `dtype:index` */
export function changedCells(old, now) {
  /** @type {Map<string, Cell>} */
  const oldValues = new Map();
  for (const [dtype, row] of Object.entries(now.cells ?? {})) {
    const oldCells = old.cells?.[dtype];
    if (!oldCells || oldCells === row) continue;
    row.forEach((value, i) => {
      if (i < oldCells.length && !sameValue(oldCells[i], value)) oldValues.set(`${dtype}:${i}`, oldCells[i]);
    });
  }
  for (const [dtype, parts] of Object.entries(now.windows ?? {})) {
    const oldCells = new Map(windowCells(old.windows?.[dtype]));
    for (const [i, value] of windowCells(parts)) {
      const before = oldCells.get(i);
      if (before !== undefined && !sameValue(before, value)) oldValues.set(`${dtype}:${i}`, before);
    }
  }
  return oldValues;
}

/** @param {[number, Cell[]][] | undefined} parts @returns {[number, Cell][]} */
function windowCells(parts) {
  return (parts ?? []).flatMap(([from, values]) =>
    values.map((value, k) => /** @type {[number, Cell]} */ ([from + k, value])),
  );
}
