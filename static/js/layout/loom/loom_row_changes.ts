/**
 * What a row of the run left other than it was: handles made and named, cells written, counters, and what its events
 * say.
 */

import { changedCells, type Entities, type OpenTrace } from "../../trace/state.ts";
import { findEntity, isHandle, isSameValue, type Entity, type Frame, type Handle } from "../../trace/entities.ts";
import { placementKey } from "../../trace/trace_index.ts";
import { referencedUid, type Names } from "../../trace/names.ts";
import { cellExtentOfHandle, unqualifiedDtype } from "../../trace/reads.ts";
import type { Counter, Step, Storage, Written } from "../../trace/wire.ts";
import type { LoomRows, LoomRow, StorageReader, StorageWrite } from "./run_row.ts";

/** what there was before a row and after it */
interface RowStates {
  before: Entities;
  after: Entities;
  /** after it */
  names: Names;
  /** the first step of the row that says something of each entity */
  touched: Map<string, number>;
  /** the last step of the row that gives a storage cells */
  written: Map<string, number>;
}

/** Fills the row `r` with its readers, writes and bumps, and the run with what the row tells of storages. */
export function recordRowChanges(runRows: LoomRows, r: number, opened: OpenTrace) {
  const row = runRows.rows[r];
  const { steps } = opened.trace;
  const states = rowStates(opened, row);
  const { after, names } = states;
  for (const uid of states.touched.keys()) {
    const entityNow = after.get(uid);
    if (uid[0] === "s") recordStorageChange(runRows, row, r, uid, states);
    else if (entityNow?.kind === "counter") recordVersionBump(row, uid, states.before.get(uid), entityNow);
    else if (isHandle(entityNow)) recordHandleChange(row, uid, entityNow, states);
    else if (entityNow?.kind === "frame") recordNewNames(row, uid, entityNow, states, steps);
  }
  for (const reader of row.readers) recordNameAndCounter(runRows, reader, r);
  for (const uid of states.touched.keys()) recordGradientOwner(runRows, after, uid);
  for (const write of row.writes.values()) write.step = states.written.get(write.storage) ?? row.last;
  recordRowEvents(row, states, names, steps);
}

function rowStates(opened: OpenTrace, { first, last }: LoomRow): RowStates {
  const touched = new Map<string, number>();
  const written = new Map<string, number>();
  for (let k = first; k <= last; k++) {
    const { set = {}, gone = [] } = opened.trace.steps[k];
    for (const uid of [...Object.keys(set), ...gone]) if (!touched.has(uid)) touched.set(uid, k);
    for (const [uid, { cells, cells_at }] of Object.entries(set)) if (cells || cells_at) written.set(uid, k);
  }
  return { before: opened.state(first - 1), after: opened.state(last), names: opened.names(last), touched, written };
}

function recordVersionBump(row: LoomRow, uid: string, old: Entity | undefined, counterAfter: Counter) {
  if (old?.kind === "counter" && old.value !== counterAfter.value)
    row.bumps.set(uid, [old.value ?? 0, counterAfter.value ?? 0]);
}

/** A handle that is new, or reads other memory than before. */
function recordHandleChange(
  row: LoomRow,
  uid: string,
  entityNow: Handle,
  { before, names: naming, touched }: RowStates,
) {
  const old = before.get(uid);
  if (isHandle(old) && placementKey(uid, old) === placementKey(uid, entityNow)) return;
  const isGrad = (naming.tags.get(uid) ?? []).some((tag) => tag.kind === "grad");
  const step = touched.get(uid) ?? row.last;
  row.readers.push(createStorageReader(uid, entityNow, naming, { alias: false, grad: isGrad, step }));
}

/** Names of a frame that now mean a handle which was there before. */
function recordNewNames(
  row: LoomRow,
  uid: string,
  frame: Frame,
  { before, after, names: naming, touched }: RowStates,
  steps: Step[],
) {
  const step = touched.get(uid) ?? row.last;
  const frameBefore = findEntity(before, uid, "frame");
  const bound = steps.slice(row.first, row.last + 1).flatMap(({ set }) => Object.keys(set?.[uid]?.vars ?? {}));
  for (const name of new Set(bound)) {
    const value = frame.vars.get(name);
    const ref = referencedUid(value);
    const handle = ref && before.has(ref) ? after.get(ref) : undefined;
    if (!ref || !isHandle(handle) || !handle.storage || isSameValue(frameBefore?.vars.get(name), value)) continue;
    const reader = createStorageReader(ref, handle, naming, { alias: true, grad: false, step });
    row.readers.push({ ...reader, key: `${ref}|${uid}|${name}`, title: name });
  }
}

function createStorageReader(
  uid: string,
  entity: Handle,
  naming: Names,
  { alias, grad: isGrad, step }: { alias: boolean; grad: boolean; step: number },
): StorageReader {
  const tags = (naming.tags.get(uid) ?? []).map((tag) => tag.text);
  const title = tags.slice(0, 3).join(" ");
  return {
    uid,
    key: placementKey(uid, entity),
    entity,
    title,
    alias,
    grad: isGrad,
    named: tags.length > 0,
    cut: null,
    step,
  };
}

/** A storage's first name, and its counters, at row `r`. */
function recordNameAndCounter(
  { storages, storageNames }: LoomRows,
  { entity, title, named }: StorageReader,
  r: number,
) {
  const storage = entity.storage ?? "";
  if (named && storage && !storageNames.has(storage)) storageNames.set(storage, title.split(" ")[0]);
  const life = storages.get(storage);
  if (life && named) life.named = Math.min(life.named, r);
  const counter = entity.kind === "tensor" ? entity.counter : undefined;
  if (life && counter && !life.counters.includes(counter)) life.counters.push(counter);
}

function recordGradientOwner({ storages }: LoomRows, after: Entities, uid: string) {
  const tensor = after.get(uid);
  if (tensor?.kind !== "tensor" || !tensor.grad || !tensor.storage) return;
  const grad = after.get(tensor.grad);
  const life = isHandle(grad) ? storages.get(grad.storage ?? "") : undefined;
  if (life && life.uid !== tensor.storage) life.owner ??= tensor.storage;
}

function recordStorageChange(
  { storages }: LoomRows,
  row: LoomRow,
  r: number,
  uid: string,
  { before, after }: RowStates,
) {
  const old = before.get(uid);
  const entityNow = after.get(uid);
  const known = storages.get(uid);
  if (entityNow?.kind !== "storage") {
    if (known) Object.assign(known, { death: r, freed: true });
    else row.freed += 1;
    return;
  }
  const life = known ?? {
    uid,
    birth: r,
    death: r,
    freed: false,
    cells: new Map(),
    summary: false,
    nbytes: entityNow.nbytes ?? 0,
    owner: null,
    named: Infinity,
    counters: [],
  };
  storages.set(uid, life);
  for (const [dtype, cells] of Object.entries(entityNow.cells ?? {}))
    life.cells.set(dtype, Math.max(life.cells.get(dtype) ?? 0, cells.length));
  life.summary ||= !entityNow.cells && Boolean(entityNow.summary || entityNow.windows);
  if (old?.kind !== "storage") return;
  const cells: StorageWrite["cells"] = new Map();
  for (const [key, valueBefore] of changedCells({ ...old, windows: undefined }, { ...entityNow, windows: undefined })) {
    const colon = key.lastIndexOf(":");
    const value = entityNow.cells?.[key.slice(0, colon)][Number(key.slice(colon + 1))];
    if (value !== undefined) cells.set(key, { was: valueBefore, now: value });
  }
  if (cells.size) row.writes.set(uid, { ...emptyStorageWrite(uid, row.last), cells });
}

function emptyStorageWrite(storageUid: string, step: number): StorageWrite {
  return { storage: storageUid, by: null, silent: false, cells: new Map(), step, span: null };
}

/** Who wrote, what it broke, and what was cut. */
function recordRowEvents(row: LoomRow, { before, after }: RowStates, naming: Names, steps: Step[]) {
  for (let k = row.first; k <= row.last; k++)
    for (const entry of steps[k].log ?? []) {
      if (entry.kind !== "event") continue;
      if (entry.event === "written") {
        const entityNow = after.get(entry.storage);
        if (before.has(entry.storage) && entityNow?.kind === "storage")
          recordWriteEvent(row, k, entry, entityNow, naming);
      } else if (entry.event === "saved_changed_silently") {
        const node = after.get(entry.node);
        const saved = node?.kind === "node" ? node.saved?.[entry.slot] : undefined;
        const write = row.writes.get(saved?.storage ?? "");
        if (write) write.silent = true;
      } else if (entry.event === "path_cut" && entry.result) {
        const result = row.readers.find((reader) => reader.uid === entry.result);
        if (result) result.cut = entry.name;
      }
    }
}

/** `k` is the step. */
function recordWriteEvent(row: LoomRow, k: number, event: Written, entityNow: Storage, naming: Names) {
  const write = row.writes.get(event.storage) ?? emptyStorageWrite(event.storage, k);
  const changed = write.cells.size > 0 || (event.changed !== 0 && !entityNow.cells);
  if (changed) row.writes.set(event.storage, write);
  const span = event.region && cellExtentOfHandle({ kind: "tensor", storage: event.storage, ...event.region });
  if (span)
    write.span = [
      unqualifiedDtype(event.region?.dtype),
      Math.min(span[0], write.span?.[1] ?? span[0]),
      Math.max(span[1], write.span?.[2] ?? span[1]),
    ];
  if (event.by) write.by = naming.paths.get(event.by) ?? null;
}
