/**
 * Memory that NumPy and torch share is one storage: a trace tells the one that torch made of an array's memory apart,
 * and where it lies within the array's.
 */

import { itemsize } from "./reads.ts";
import type { Delta, Event, Slot, Step } from "./wire.ts";

interface OuterStorage {
  outer: string;
  /** bytes from its beginning */
  at: number;
}

/** The steps as if all that lies within another storage, under its dtypes, were read from that one. */
export function joinMemory(steps: Step[]): Step[] {
  const joined = joinableStorages(steps);
  if (!joined.size) return steps;
  /** handles that read a joined storage */
  const moved = new Set<string>();
  return steps.map((step) => ({
    ...step,
    set: joinedSet(step.set, joined, moved),
    gone: step.gone?.filter((uid) => !joined.has(uid)),
    log: joinedLog(step.log, joined),
  }));
}

/** Storages that lie within another from their first step to their last. */
function joinableStorages(steps: Step[]): Map<string, OuterStorage> {
  const joined = new Map<string, OuterStorage>();
  const dtypes = new Map<string, Set<string>>();
  const livingInner = new Set<string>();
  for (const { set = {}, gone = [] } of steps) {
    for (const [uid, fields] of Object.entries(set)) {
      if (fields.kind === "storage") dtypes.set(uid, new Set());
      if (uid[0] === "s") for (const dtype in fields.cells) dtypes.get(uid)?.add(dtype);
      if (fields.within === undefined) continue;
      joined.delete(uid);
      if (!fields.kind || !fields.within) continue;
      joined.set(uid, { outer: fields.within.storage, at: fields.within.at });
      livingInner.add(uid);
    }
    for (const uid of gone) livingInner.delete(uid);
    for (const inner of livingInner) if (gone.includes(joined.get(inner)?.outer ?? "")) joined.delete(inner);
  }
  for (const [uid, { outer, at }] of joined) {
    const own = [...(dtypes.get(uid) ?? [])];
    const isReadable = own.every((dtype) => dtypes.get(outer)?.has(dtype) && at % itemsize(dtype) === 0);
    if (!own.length || !isReadable || joined.has(outer)) joined.delete(uid);
  }
  return joined;
}

function joinedSet(set: Step["set"], joined: Map<string, OuterStorage>, moved: Set<string>): Step["set"] {
  const out: Record<string, Delta> = {};
  for (const [uid, fields] of Object.entries(set)) {
    const place = joined.get(fields.storage ?? "");
    if (joined.has(uid)) continue;
    if (place) moved.add(uid);
    if (place) out[uid] = { ...fields, storage: place.outer, shift: place.at } as Delta;
    else if (fields.storage !== undefined && moved.delete(uid)) out[uid] = { ...fields, shift: null } as Delta;
    else if (fields.saved) out[uid] = { ...fields, saved: joinedSlots(fields.saved, joined) };
    else out[uid] = fields;
  }
  return out;
}

function joinedSlots(saved: Record<string, Slot>, joined: Map<string, OuterStorage>): Record<string, Slot> {
  return Object.fromEntries(
    Object.entries(saved).map(([name, slot]) => {
      const place = joined.get(slot.storage ?? "");
      return [name, place ? { ...slot, storage: place.outer, shift: place.at } : slot];
    }),
  );
}

/** A write is told once: as that of the tensor that wrote, else as that of the whole memory. */
function joinedLog(log: Step["log"], joined: Map<string, OuterStorage>): Step["log"] {
  const outerOf = (event: Event) => ("storage" in event ? joined.get(event.storage ?? "") : undefined);
  const writtenBy = new Set<string>();
  const told = new Set<string>();
  for (const entry of log ?? []) {
    if (entry.kind !== "event" || entry.event !== "written") continue;
    const storage = outerOf(entry)?.outer ?? entry.storage;
    if (entry.by) writtenBy.add(storage);
    if (storage === entry.storage) told.add(storage);
  }
  const kept: number[] = [];
  (log ?? []).forEach((entry, k) => {
    const place = entry.kind === "event" ? outerOf(entry) : undefined;
    if (entry.kind === "event" && entry.event === "written") {
      const storage = place?.outer ?? entry.storage;
      if (entry.by || (!writtenBy.has(storage) && (!place || !told.has(storage)))) kept.push(k);
      if (!entry.by) told.add(storage);
    } else if (!place) kept.push(k);
  });
  return kept.map((k) => {
    const entry = log[k];
    if (entry.kind !== "event") return entry;
    const op = "op" in entry && typeof entry.op === "number" ? { op: kept.indexOf(entry.op) } : {};
    const place = outerOf(entry);
    if (!place || entry.event !== "written") return { ...entry, ...op } as typeof entry;
    const region = entry.region && {
      ...entry.region,
      offset: entry.region.offset + place.at / itemsize(entry.region.dtype),
    };
    return { ...entry, ...op, storage: place.outer, region };
  });
}
