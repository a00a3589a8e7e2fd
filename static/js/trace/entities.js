/** An entity of the state: how a step's delta changes its fields, and when two encoded values are the same. */

/** @typedef {import("./wire.js").Value} Value */
/** @typedef {import("./wire.js").Delta} Delta */
/** @typedef {import("./wire.js").Storage} Storage */
/** @typedef {import("./wire.js").Tensor} Tensor */
/**
 * @typedef {import("./wire.js").Array & {[F in keyof Omit<Tensor, keyof import("./wire.js").Array>]?: undefined}} NumpyArray
 *   with none of the fields that only tensors have
 */
/** @typedef {Tensor | NumpyArray} Handle */
/** @typedef {import("./wire.js").Node} Node */
/** @typedef {import("./wire.js").Slot} Slot */
/** @typedef {import("./wire.js").Object} Container */
/** @typedef {import("./wire.js").Item} Item */
/** @typedef {import("./wire.js").Number} Cell */
/** @typedef {Omit<import("./wire.js").Frame, "vars" | "unset"> & {vars: Map<string, Value>}} Frame */
/** @typedef {Exclude<import("./wire.js").Entity, {kind: "frame" | "array"}> | NumpyArray | Frame} Entity   its fields as merged so far; never changed in place */
/** @typedef {{[dtype: string]: Cell[]}} CellRows */
/** @typedef {import("./entity_history.js").Lookup} Lookup */

const KINDS = new Set([
  "storage",
  "tensor",
  "array",
  "counter",
  "node",
  "object",
  "frame",
  "backward",
  "mode",
  "device",
]);

/**
 * One entity's fields after a `set`; null for an entity of an unknown kind.
 * @param {Entity | undefined} old @param {Delta} fields @param {boolean} [reuseOld] whether the names of a frame may be changed
 *   in place @returns {Entity | null}
 */
export function mergeFields(old, fields, reuseOld = false) {
  const kind = fields.kind ?? old?.kind;
  if (!kind || !KINDS.has(kind)) return null;
  /** @type {Record<string, unknown>} */
  const next = { ...old };
  for (const [field, value] of Object.entries(fields)) {
    if (field === "vars" || field === "unset") continue;
    if (field === "cells_at" || field === "splice") continue;
    if (value === null) delete next[field];
    else next[field] = value;
  }
  if (kind === "frame") next.vars = mergeNames(old?.kind === "frame" ? old.vars : undefined, fields, reuseOld);
  if (fields.cells_at) next.cells = patchCells(/** @type {CellRows | undefined} */ (next.cells), fields.cells_at);
  if (fields.splice) {
    const list = kind === "device" ? "blocks" : "items";
    next[list] = spliceList(/** @type {unknown[] | undefined} */ (next[list]), fields.splice);
  }
  return /** @type {Entity} */ (/** @type {unknown} */ (next));
}

/** @param {Map<string, Value> | undefined} old @param {Delta} fields @param {boolean} reuseOld @returns {Map<string, Value>} */
function mergeNames(old, fields, reuseOld) {
  if (old && !fields.vars && !fields.unset) return old;
  const vars = old && reuseOld ? old : new Map(old ?? []);
  for (const [name, value] of Object.entries(fields.vars ?? {})) vars.set(name, value);
  for (const name of fields.unset ?? []) vars.delete(name);
  return vars;
}

/** @param {CellRows | undefined} cells @param {{[dtype: string]: {[index: string]: Cell}}} changes @returns {CellRows} */
function patchCells(cells, changes) {
  const next = { ...cells };
  for (const [dtype, values] of Object.entries(changes)) {
    const row = (next[dtype] ?? []).slice();
    for (const [index, value] of Object.entries(values)) row[Number(index)] = value;
    next[dtype] = row;
  }
  return next;
}

/** @param {unknown[] | undefined} items @param {[number, number, unknown[]][]} splices */
function spliceList(items, splices) {
  const next = (items ?? []).slice();
  for (const [start, remove, insert] of splices) next.splice(start, remove, ...insert);
  return next;
}

/** Whether two encoded values are the same value. @param {unknown} a @param {unknown} b */
export function sameValue(a, b) {
  if (Object.is(a, b)) return true;
  return typeof a === "object" && a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The entity of a uid, where it is of a kind.
 * @template {Entity["kind"]} K
 * @param {Lookup} entities @param {string | null | undefined} uid @param {K} kind
 * @returns {Extract<Entity, {kind: K}> | undefined}
 */
export function find(entities, uid, kind) {
  const entity = entities.get(uid ?? "");
  return entity?.kind === kind ? /** @type {Extract<Entity, {kind: K}>} */ (entity) : undefined;
}

/** The tensor or array of a uid. @param {Lookup} entities @param {string | null | undefined} uid
 * @returns {Handle | undefined} */
export function findHandle(entities, uid) {
  const entity = entities.get(uid ?? "");
  return isHandle(entity) ? entity : undefined;
}

/** Whether an entity is a tensor or an array. @param {Entity | undefined} entity @returns {entity is Handle} */
export function isHandle(entity) {
  return entity?.kind === "tensor" || entity?.kind === "array";
}
