/** An entity of the state: how a step's delta changes its fields, and when two encoded values are the same. */

import type {
  Number as Cell,
  Object as Container,
  Delta,
  Tensor,
  Value,
  Array as WireArray,
  Entity as WireEntity,
  Frame as WireFrame,
} from "./wire.ts";

/** with none of the fields that only tensors have */
type NumpyArray = WireArray & { [F in keyof Omit<Tensor, keyof WireArray>]?: undefined };
export type Handle = Tensor | NumpyArray;
export type { Cell, Container };
export type Frame = Omit<WireFrame, "vars" | "unset"> & { vars: Map<string, Value> };
/** its fields as merged so far; never changed in place */
export type Entity = Exclude<WireEntity, { kind: "frame" | "array" }> | NumpyArray | Frame;

interface CellRows {
  [dtype: string]: Cell[];
}

const ENTITY_KINDS = new Set([
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
 * One entity's fields after a `set`; null for an entity of an unknown kind. `reuseOld`: the names of a frame may be
 * changed in place.
 */
export function mergeEntityFields(old: Entity | undefined, fields: Delta, reuseOld = false): Entity | null {
  const kind = fields.kind ?? old?.kind;
  if (!kind || !ENTITY_KINDS.has(kind)) return null;
  const next: Record<string, unknown> = { ...old };
  for (const [field, value] of Object.entries(fields)) {
    if (field === "vars" || field === "unset") continue;
    if (field === "cells_at" || field === "splice") continue;
    if (value === null) delete next[field];
    else next[field] = value;
  }
  if (kind === "frame") next.vars = mergeFrameNames(old?.kind === "frame" ? old.vars : undefined, fields, reuseOld);
  if (fields.cells_at) next.cells = applyCellChanges(next.cells as CellRows | undefined, fields.cells_at);
  if (fields.splice) {
    const list = kind === "device" ? "blocks" : "items";
    next[list] = applySplices(next[list] as unknown[] | undefined, fields.splice);
  }
  return next as unknown as Entity;
}

function mergeFrameNames(old: Map<string, Value> | undefined, fields: Delta, reuseOld: boolean): Map<string, Value> {
  if (old && !fields.vars && !fields.unset) return old;
  const vars = old && reuseOld ? old : new Map(old ?? []);
  for (const [name, value] of Object.entries(fields.vars ?? {})) vars.set(name, value);
  for (const name of fields.unset ?? []) vars.delete(name);
  return vars;
}

function applyCellChanges(
  cells: CellRows | undefined,
  changes: { [dtype: string]: { [index: string]: Cell } },
): CellRows {
  const next = { ...cells };
  for (const [dtype, values] of Object.entries(changes)) {
    const row = (next[dtype] ?? []).slice();
    for (const [index, value] of Object.entries(values)) row[Number(index)] = value;
    next[dtype] = row;
  }
  return next;
}

function applySplices(items: unknown[] | undefined, splices: [number, number, unknown[]][]) {
  const next = (items ?? []).slice();
  for (const [start, remove, insert] of splices) next.splice(start, remove, ...insert);
  return next;
}

/** Whether two encoded values are the same value. */
export function isSameValue(a: unknown, b: unknown) {
  if (Object.is(a, b)) return true;
  return typeof a === "object" && a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** The entity of a uid, where it is of a kind. */
export function findEntity<K extends Entity["kind"]>(
  entities: EntityLookup,
  uid: string | null | undefined,
  kind: K,
): Extract<Entity, { kind: K }> | undefined {
  const entity = entities.get(uid ?? "");
  return entity?.kind === kind ? (entity as Extract<Entity, { kind: K }>) : undefined;
}

/** The tensor or array of a uid. */
export function findHandle(entities: EntityLookup, uid: string | null | undefined): Handle | undefined {
  const entity = entities.get(uid ?? "");
  return isHandle(entity) ? entity : undefined;
}

/** Whether an entity is a tensor or an array. */
export function isHandle(entity: Entity | undefined): entity is Handle {
  return entity?.kind === "tensor" || entity?.kind === "array";
}

/** a state that can be asked for entities by their uids */
export interface EntityLookup {
  get: (uid: string) => Entity | undefined;
}
