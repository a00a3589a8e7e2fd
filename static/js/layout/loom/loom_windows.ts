/**
 * The loom's columns where not all fit beside each other: a group has a place while rows touch it, and gives it to
 * another that is touched sooner. Widths stay within the room, whatever the run.
 */

import { sortInputsFirst } from "./run_rows.ts";
import { StorageColumns } from "./loom_columns.ts";
import { columnsOfGroup, groupWidth, type ColumnGroup } from "./loom_column_groups.ts";
import { MAX_SHELVES_PER_ROW } from "./loom_sizes.ts";
import type { LoomRows, LoomRow } from "./run_row.ts";

interface GroupRequest {
  group: ColumnGroup;
  width: number;
  /** those that touch it */
  rows: number[];
  /** the index of the first that is still to come */
  next: number;
  /** its last row */
  until: number;
  /** where it stood */
  wish: number;
}

/** a group that has its place */
interface PlacedGroup {
  claim: GroupRequest;
  x: number;
  /** its first shelf */
  from: number;
  /** the last that touched it */
  used: number;
}

interface TouchedStorages {
  /** storages that a row made, wrote or read anew */
  required: string[];
  /** those of which it saved the values */
  preferred: string[];
}

/** What each row touches, what matters most first. */
export function storagesTouchedByRow(runRows: LoomRows): TouchedStorages[] {
  const storagesOfCounter = new Map<string, string[]>();
  for (const life of runRows.storages.values())
    for (const counterUid of life.counters)
      storagesOfCounter.set(counterUid, [...(storagesOfCounter.get(counterUid) ?? []), life.uid]);
  const savedByRow: string[][] = runRows.rows.map(() => []);
  for (const pin of runRows.pins.values()) savedByRow[pin.birth].push(pin.storage);
  return runRows.rows.map((row, r) => {
    const required = new Set(row.writes.keys());
    for (const first of [true, false])
      for (const { entity, named, alias } of row.readers)
        if ((named && !alias) === first && entity.storage) required.add(entity.storage);
    const madeUids = new Set(storagesMadeByNodes(row, runRows));
    for (const uid of madeUids) if (required.delete(uid)) required.add(uid);
    for (const counterUid of row.bumps.keys())
      for (const uid of storagesOfCounter.get(counterUid) ?? []) required.add(uid);
    return { required: [...required], preferred: [...new Set(savedByRow[r])].filter((uid) => !required.has(uid)) };
  });
}

/** The storages of what a row's nodes made, inputs first: they stand below each other as their nodes do. */
function storagesMadeByNodes(row: LoomRow, runRows: LoomRows) {
  const storages = new Map<string, string>();
  for (const { entity, alias } of row.readers)
    if (!alias && entity.grad_fn && entity.storage) storages.set(entity.grad_fn, entity.storage);
  return storages.size > 1 ? sortInputsFirst(row.nodes, runRows).flatMap((uid) => storages.get(uid) ?? []) : [];
}

/**
 * The share of rows that have room for all that they and the `rowsBefore` rows before them made, wrote or read anew.
 */
export function shareOfRowsThatFit(
  groups: ColumnGroup[],
  touches: TouchedStorages[],
  maxWidth: number,
  rowsBefore = 0,
): number {
  const groupOf = groupByStorage(groups);
  let fittingRows = 0;
  touches.forEach((_, r) => {
    const needed = new Set<ColumnGroup>();
    for (let k = Math.max(0, r - rowsBefore); k <= r; k++)
      for (const uid of touches[k].required) {
        const group = groupOf.get(uid);
        if (group) needed.add(group);
      }
    let neededWidth = 0;
    for (const group of needed) neededWidth += groupWidth(group);
    if (neededWidth <= maxWidth) fittingRows += 1;
  });
  return touches.length ? fittingRows / touches.length : 1;
}

function groupByStorage(groups: ColumnGroup[]): Map<string, ColumnGroup> {
  const out = new Map<string, ColumnGroup>();
  for (const group of groups)
    for (const { uid } of [...group.values.columns, ...(group.grads?.columns ?? [])]) out.set(uid, group);
  return out;
}

export function timeSharedColumns(
  groups: ColumnGroup[],
  touches: TouchedStorages[],
  left: number,
  maxWidth: number,
): StorageColumns {
  const columns = new StorageColumns(left, touches.length);
  const claims = requestByStorage(groups, touches);
  const windows = new TimeSharedGroups(maxWidth);
  touches.forEach(({ required, preferred }, r) => {
    columns.firstShelfOfRow[r] = windows.shelf;
    const openUids = required.filter((uid) => windows.isGroupPlaced(claims.get(uid)));
    for (const uid of new Set([...openUids, ...required])) {
      const claim = claims.get(uid);
      if (!claim || windows.placeGroup(claim, r)) continue;
      if (windows.shelf - columns.firstShelfOfRow[r] + 1 < MAX_SHELVES_PER_ROW) {
        windows.shelf += 1;
        windows.placeGroup(claim, r);
      } else columns.hidden.set(r, [...(columns.hidden.get(r) ?? []), uid]);
    }
    for (const uid of preferred) {
      const claim = claims.get(uid);
      if (claim) windows.placeGroup(claim, r);
    }
    windows.shelf += 1;
  });
  columns.firstShelfOfRow[touches.length] = windows.shelf;
  for (const placedGroup of windows.open) windows.removeGroup(placedGroup, windows.shelf - 1);
  for (const { group, x, from, to } of windows.closed)
    for (const column of columnsOfGroup(group, left + x, from, to, columns.firstShelfOfRow)) columns.addColumn(column);
  columns.allColumns.sort((a, b) => a.from - b.from);
  columns.right = left + maxWidth;
  return columns;
}

/** Who stands where, from shelf to shelf. */
class TimeSharedGroups {
  maxWidth: number;
  shelf = 0;
  open: PlacedGroup[] = [];
  /** stays that are over */
  closed: { group: ColumnGroup; x: number; from: number; to: number }[] = [];

  constructor(maxWidth: number) {
    this.maxWidth = maxWidth;
  }

  isGroupPlaced(claim: GroupRequest | undefined) {
    return this.open.some((placedGroup) => placedGroup.claim === claim);
  }

  /** Make a group stand on this shelf of row r; false where there is no room beside what stands on it already. */
  placeGroup(claim: GroupRequest, r: number) {
    const earlierGroup = this.open.find((placedGroup) => placedGroup.claim === claim);
    if (earlierGroup) {
      earlierGroup.used = this.shelf;
      return true;
    }
    const x = cheapestGroupX(this.open, claim, this.maxWidth, (placedGroup) =>
      placedGroup.used === this.shelf ? Infinity : displacementCost(placedGroup, r, this.shelf),
    );
    if (x === null) return false;
    const displaced = this.open.filter((placedGroup) => overlapsGroup(placedGroup, x, claim.width));
    for (const placedGroup of displaced) this.removeGroup(placedGroup, this.shelf - 1);
    this.open = [
      ...this.open.filter((placedGroup) => !displaced.includes(placedGroup)),
      { claim, x, from: this.shelf, used: this.shelf },
    ];
    return true;
  }

  /** `to` is its last shelf. */
  removeGroup({ claim, x, from }: PlacedGroup, to: number) {
    claim.wish = x;
    this.closed.push({ group: claim.group, x, from, to });
  }
}

/** By storage, what its group asks for. */
function requestByStorage(groups: ColumnGroup[], touches: TouchedStorages[]): Map<string, GroupRequest> {
  const claims = new Map<string, GroupRequest>();
  for (const group of groups) {
    const list = [...group.values.columns, ...(group.grads?.columns ?? [])];
    const until = Math.max(...list.map(({ to }) => to));
    const claim = { group, width: groupWidth(group), rows: [], next: 0, until, wish: -1 };
    for (const { uid } of list) claims.set(uid, claim);
  }
  touches.forEach(({ required, preferred }, r) => {
    for (const uid of [...required, ...preferred]) {
      const rows = claims.get(uid)?.rows;
      if (rows && rows.at(-1) !== r) rows.push(r);
    }
  });
  return claims;
}

function overlapsGroup({ x: from, claim }: PlacedGroup, x: number, width: number) {
  return from < x + width && x < from + claim.width;
}

/** Where nobody stands, else where those stand that it costs least to send away; null where none may be. */
function cheapestGroupX(
  placedGroups: PlacedGroup[],
  { width, wish }: GroupRequest,
  maxWidth: number,
  cost: (held: PlacedGroup) => number,
): number | null {
  let best: { x: number; cost: number } | null = null;
  const costs = placedGroups.map(cost);
  const candidates = [
    wish,
    0,
    ...placedGroups.flatMap((placedGroup) => [placedGroup.x + placedGroup.claim.width, placedGroup.x]),
  ];
  for (const x of candidates) {
    if (x < 0 || x + width > maxWidth) continue;
    let totalCost = 0;
    for (const [k, placedGroup] of placedGroups.entries())
      if (overlapsGroup(placedGroup, x, width)) totalCost += costs[k];
    const isCheaper = !best || totalCost < best.cost || (totalCost === best.cost && best.x !== wish && x < best.x);
    if (totalCost < Infinity && isCheaper) best = { x, cost: totalCost };
  }
  return best?.x ?? null;
}

/** What it costs that a group has to go in row r: more, the sooner it is touched again, or the less long ago it was. */
function displacementCost({ claim, used }: PlacedGroup, r: number, shelf: number) {
  if (claim.until < r) return 0;
  const { rows } = claim;
  while (rows[claim.next] < r) claim.next += 1;
  const next = rows[claim.next];
  if (next === r) return 2;
  return next === undefined ? 0.001 * (1 + used / (1 + shelf)) : 0.002 + 1 / (next - r);
}
