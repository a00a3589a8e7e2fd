/**
 * Memory that NumPy and torch share is one storage: a trace tells the one that torch made of an array's memory apart,
 * and where it lies within the array's.
 */

import { itemsize } from "./reads.ts";
import type { Cell } from "./entities.ts";
import type { Delta, Event, Slot, Step } from "./wire.ts";

interface OuterStorage {
  outer: string;
  /** bytes from its beginning */
  at: number;
}

/** The steps as if all that lies within another storage, under its dtypes, were read from that one. */
export function mergeNestedStorages(steps: Step[]): Step[] {
  const joined = joinableStorages(steps);
  if (!joined.size) return steps;
  /** handles that read a joined storage */
  const moved = new Set<string>();
  const windows = new JoinedMemoryWindows(joined);
  return steps.map((step) => ({
    ...step,
    set: { ...joinedSet(step.set, joined, moved), ...windows.after(step) },
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
      if (uid[0] === "s") for (const dtype in { ...fields.cells, ...fields.summary }) dtypes.get(uid)?.add(dtype);
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

/** What is known of a storage that is too large to list: its own windows, and those of what lies within it. */
class JoinedMemoryWindows {
  places: Map<string, OuterStorage>;
  large = new Set<string>();
  /** by storage and dtype, from where in the outer one */
  known = new Map<string, Record<string, [number, Cell[]][]>>();

  constructor(joined: Map<string, OuterStorage>) {
    this.places = new Map([...joined.values()].map(({ outer }) => [outer, { outer, at: 0 }]));
    for (const [uid, place] of joined) this.places.set(uid, place);
  }

  /** Of the large storages of which, or of what lies within which, a step says more. */
  after({ set, gone = [] }: Step): Record<string, Delta> {
    const told = new Set<string>();
    for (const [uid, { summary, cells, cells_at: changes, windows }] of Object.entries(set)) {
      const { outer, at } = this.places.get(uid) ?? { outer: "", at: 0 };
      if (summary && uid === outer) this.large.add(uid);
      if (!this.large.has(outer) || !(cells || changes || windows)) continue;
      const own = { ...this.known.get(uid) };
      for (const dtype in windows)
        own[dtype] = windows[dtype].map(([from, values]) => [from + at / itemsize(dtype), values]);
      for (const dtype in cells) own[dtype] = [[at / itemsize(dtype), cells[dtype]]];
      for (const dtype in changes)
        own[dtype] = own[dtype].map(([from, row]) => [from, row.map((cell, k) => changes[dtype][k] ?? cell)]);
      this.known.set(uid, own);
      told.add(outer);
    }
    for (const uid of gone) this.known.delete(uid);
    return Object.fromEntries([...told].map((uid) => [uid, { ...set[uid], windows: this.windowsOf(uid) }]));
  }

  windowsOf(storage: string): Record<string, [number, Cell[]][]> {
    const all: Record<string, [number, Cell[]][]> = {};
    for (const [uid, own] of this.known)
      for (const dtype in this.places.get(uid)?.outer === storage ? own : {})
        all[dtype] = [...(all[dtype] ?? []), ...own[dtype]];
    for (const dtype in all) {
      const cells = new Map(all[dtype].flatMap(([from, row]) => row.map((cell, k) => [from + k, cell] as const)));
      all[dtype] = [];
      for (const [at, cell] of [...cells].sort(([a], [b]) => a - b)) {
        const [from, row] = all[dtype].at(-1) ?? [at, []];
        if (from + row.length === at && row.length) row.push(cell);
        else all[dtype].push([at, [cell]]);
      }
    }
    return all;
  }
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
