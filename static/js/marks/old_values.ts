/** Values that are not there any more and that a step's picture still tells of: struck out, in their cells. */

import { findEntity, type Cell } from "../trace/entities.ts";
import { cellExtentOfHandle } from "../trace/reads.ts";
import { changedCells, type OpenTrace, type Snapshot } from "../trace/state.ts";
import { firstVisitStepOfStatement } from "../trace/steps/backward_statement.ts";

/** by storage, then as `dtype:index` */
export type OldValues = Map<string, Map<string, Cell>>;

/**
 * What the step wrote over; what a node saved for a backward that does not find it any more; and what a `.grad` held
 * before a backward that is over added to it.
 */
export function oldValuesAt(opened: OpenTrace, snap: Snapshot): OldValues {
  const out: OldValues = new Map();
  const add = (uid: string, from: number, to: number, isTold: (cell: number) => boolean = () => true) => {
    const cells = out.get(uid) ?? new Map<string, Cell>();
    for (const [key, value] of changesBetween(opened, uid, from, to))
      if (!cells.has(key) && isTold(Number(key.slice(key.lastIndexOf(":") + 1)))) cells.set(key, value);
    out.set(uid, cells);
  };
  for (const uid of snap.written.keys()) add(uid, snap.index - 1, snap.index);
  for (const { key, storage, stale, changed, released } of opened.index.slots.values()) {
    const broken = Math.min(stale ?? Infinity, changed ?? Infinity);
    if (broken > snap.index || (released ?? Infinity) <= snap.index || !snap.entities.has(storage)) continue;
    const [node, slot] = [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
    const saved = findEntity(snap.entities, node, "node")?.saved?.[slot];
    const span = saved ? cellExtentOfHandle(saved) : null;
    if (span) add(storage, broken - 1, broken, (cell) => cell >= span[0] && cell <= span[1]);
  }
  const first = firstVisitStepOfStatement(opened.trace.steps, snap.index);
  if (first === null) return out;
  for (const { visit } of opened.trace.steps.slice(first, snap.index)) {
    const grad = findEntity(snap.entities, findEntity(snap.entities, visit?.accumulates, "tensor")?.grad, "tensor");
    if (grad?.storage) add(grad.storage, first - 1, snap.index);
  }
  return out;
}

const changesByPlace = new WeakMap<OpenTrace, Map<string, Map<string, Cell>>>();

/** The cells of a storage that hold another value after a step than after an earlier one, with the earlier value. */
function changesBetween(opened: OpenTrace, uid: string, from: number, to: number): Map<string, Cell> {
  const cache = changesByPlace.get(opened) ?? new Map<string, Map<string, Cell>>();
  const key = `${uid} ${from} ${to}`;
  const [before, after] = cache.has(key) ? [] : [from, to].map((i) => findEntity(opened.state(i), uid, "storage"));
  const cells = cache.get(key) ?? (before && after ? changedCells(before, after) : new Map<string, Cell>());
  changesByPlace.set(opened, cache.set(key, cells));
  return cells;
}
