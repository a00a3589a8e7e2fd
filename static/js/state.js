/** The state of the run after any step: reads a trace by its own rules, forwards, with keyframes to jump from. */

/**
 * @typedef {Record<string, any>} Entity   an entity's fields as merged so far; never changed in place
 * @typedef {Map<string, Entity>} Entities
 * @typedef {{entities: Entities, step: any, fresh: Set<string>, written: Map<string, Set<string>>,
 *   was: Map<string, any>, moved: Set<string>, ghosts: Entities, index: number}} Snapshot
 * @typedef {{trace: any, count: number, at: (i: number) => Snapshot, state: (i: number) => Entities}} Opened
 */

const EVERY = 32;
const KINDS = new Set([
  "storage", "tensor", "array", "counter", "node", "object", "frame", "backward", "mode", "device",
]);

/**
 * Open a trace. `at(-1)` is the state before the first step, where nothing exists.
 * @param {any} trace
 * @returns {Opened}
 */
export function openTrace(trace) {
  const steps = trace.steps ?? [];
  /** @type {Entities[]} */
  const frames = [];
  /** @type {Map<number, Entities>} */
  const recent = new Map();

  /** @param {number} i @returns {Entities} */
  function state(i) {
    if (i < 0) return new Map();
    i = Math.min(i, steps.length - 1);
    const known = recent.get(i);
    if (known) return known;
    const from = Math.min(Math.floor(i / EVERY), frames.length) - 1;
    /** @type {Entities} */
    let entities = from < 0 ? new Map() : frames[from];
    let done = (from + 1) * EVERY - 1;
    for (const [at, near] of recent) if (at <= i && at > done) [done, entities] = [at, near];
    for (let k = done + 1; k <= i; k++) {
      entities = advance(entities, steps[k]);
      if ((k + 1) % EVERY === 0 && frames.length === (k + 1) / EVERY - 1) frames.push(entities);
    }
    recent.delete(i);
    recent.set(i, entities);
    if (recent.size > 8) recent.delete(/** @type {number} */ (recent.keys().next().value));
    return entities;
  }

  return {
    trace,
    count: steps.length,
    state,
    at(i) {
      i = Math.max(-1, Math.min(i, steps.length - 1));
      const before = state(i - 1);
      return compare(before, state(i), i < 0 ? null : steps[i], i);
    },
  };
}

/**
 * The state after one more step; the state before stays as it was.
 * @param {Entities} before @param {any} step @returns {Entities}
 */
export function advance(before, step) {
  return apply(new Map(before), step);
}

/** The state after each step, one after the other, in one map that goes along. @param {any} trace
 * @returns {Generator<Entities>} */
export function* walk(trace) {
  const entities = new Map();
  for (const step of trace.steps ?? []) yield apply(entities, step);
}

/** @param {Entities} entities @param {any} step */
function apply(entities, step) {
  for (const [uid, fields] of Object.entries(step.set ?? {})) {
    const merged = merge(entities.get(uid), fields);
    if (merged) entities.set(uid, merged);
  }
  for (const uid of step.gone ?? []) entities.delete(uid);
  return entities;
}

/**
 * One entity's fields after a `set`; null for an entity of an unknown kind.
 * @param {Entity | undefined} old @param {Record<string, any>} fields @returns {Entity | null}
 */
function merge(old, fields) {
  const kind = fields.kind ?? old?.kind;
  if (!KINDS.has(kind)) return null;
  const next = { ...old };
  for (const [field, value] of Object.entries(fields)) {
    if (field === "vars" || field === "unset") continue;
    if (field === "cells_at" || field === "splice") continue;
    if (value === null) delete next[field];
    else next[field] = value;
  }
  if (kind === "frame") next.vars = names(old?.vars, fields);
  if (fields.cells_at) next.cells = patched(next.cells, fields.cells_at);
  if (fields.splice) next.items = spliced(next.items, fields.splice);
  return next;
}

/** @param {Map<string, any> | undefined} old @param {Record<string, any>} fields @returns {Map<string, any>} */
function names(old, fields) {
  if (old && !fields.vars && !fields.unset) return old;
  const vars = new Map(old ?? []);
  for (const [name, value] of Object.entries(fields.vars ?? {})) vars.set(name, value);
  for (const name of fields.unset ?? []) vars.delete(name);
  return vars;
}

/** @param {Record<string, any[]> | undefined} cells @param {Record<string, Record<string, any>>} changes */
function patched(cells, changes) {
  const next = { ...cells };
  for (const [dtype, values] of Object.entries(changes)) {
    const row = (next[dtype] ?? []).slice();
    for (const [index, value] of Object.entries(values)) row[Number(index)] = value;
    next[dtype] = row;
  }
  return next;
}

/** @param {any[] | undefined} items @param {[number, number, any[]][]} splices */
function spliced(items, splices) {
  const next = (items ?? []).slice();
  for (const [at, remove, insert] of splices) next.splice(at, remove, ...insert);
  return next;
}

/** Whether two encoded values are the same value. @param {any} a @param {any} b */
export function same(a, b) {
  if (Object.is(a, b)) return true;
  return typeof a === "object" && a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/**
 * What this step did to what there was.
 * @param {Entities} before @param {Entities} after @param {any} step @param {number} index @returns {Snapshot}
 */
function compare(before, after, step, index) {
  const fresh = /** @type {Set<string>} */ (new Set());
  const moved = /** @type {Set<string>} */ (new Set());
  const written = /** @type {Map<string, Set<string>>} */ (new Map());
  const was = /** @type {Map<string, any>} */ (new Map());
  const ghosts = /** @type {Entities} */ (new Map());
  for (const uid of Object.keys(step?.set ?? {})) {
    const old = before.get(uid);
    const now = after.get(uid);
    if (!now) continue;
    if (!old) {
      fresh.add(uid);
    } else if (now.kind === "storage") {
      const cells = changes(old, now);
      if (cells.size) written.set(uid, new Set(cells.keys()));
      for (const [cell, value] of cells) was.set(`${uid}:${cell}`, value);
    } else if (now.kind === "frame") {
      for (const [name, value] of now.vars) if (!same(old.vars.get(name), value)) moved.add(`${uid}/${name}`);
    } else moved.add(uid);
    if (!old && now.kind === "frame") for (const name of now.vars.keys()) moved.add(`${uid}/${name}`);
  }
  for (const uid of step?.gone ?? []) {
    const fields = step.set?.[uid];
    const old = before.get(uid);
    const last = fields ? merge(old, fields) : old;
    if (last?.kind === "storage") ghosts.set(uid, last);
  }
  return { entities: after, step, fresh, written, was, moved, ghosts, index };
}

/** Cells that hold another value than before, with that value; a dtype seen first now is not a write.
 * @param {Entity} old @param {Entity} now @returns {Map<string, any>} */
function changes(old, now) {
  const out = /** @type {Map<string, any>} */ (new Map());
  for (const [dtype, row] of Object.entries(now.cells ?? {})) {
    const past = old.cells?.[dtype];
    if (!past || past === row) continue;
    row.forEach((/** @type {any} */ value, /** @type {number} */ i) => {
      if (i < past.length && !same(past[i], value)) out.set(`${dtype}:${i}`, past[i]);
    });
  }
  for (const [dtype, parts] of Object.entries(now.windows ?? {})) {
    const past = new Map(listed(old.windows?.[dtype]));
    for (const [i, value] of listed(parts))
      if (past.has(i) && !same(past.get(i), value)) out.set(`${dtype}:${i}`, past.get(i));
  }
  return out;
}

/** @param {[number, any[]][] | undefined} parts @returns {[number, any][]} */
function listed(parts) {
  return (parts ?? []).flatMap(([from, values]) => values.map((v, k) => /** @type {[number, any]} */ ([from + k, v])));
}
