/**
 * The loom's columns where not all fit beside each other: a home has a place while rows touch it, and gives it to
 * another that is touched sooner. Widths stay within the room, whatever the run.
 */

import { sortInputsFirst } from "./run_rows.ts";
import { StorageColumns } from "./loom_columns.ts";
import { homeColumns, homeWidth, type LoomHome } from "./loom_homes.ts";
import { MAX_SHELVES_PER_ROW } from "./loom_sizes.ts";
import type { LoomRows, LoomRow } from "./run_row.ts";

interface Claim {
  home: LoomHome;
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

/** a home that has its place */
interface OpenHome {
  claim: Claim;
  x: number;
  /** its first shelf */
  from: number;
  /** the last that touched it */
  used: number;
}

interface Touches {
  /** storages that a row made, wrote or read anew */
  required: string[];
  /** those of which it saved the values */
  preferred: string[];
}

/** What each row touches, what matters most first. */
export function storagesTouchedByRow(runRows: LoomRows): Touches[] {
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
export function shareOfRowsThatFit(homes: LoomHome[], touches: Touches[], maxWidth: number, rowsBefore = 0): number {
  const homeOf = homeByStorage(homes);
  let fittingRows = 0;
  touches.forEach((_, r) => {
    const needed = new Set<LoomHome>();
    for (let k = Math.max(0, r - rowsBefore); k <= r; k++)
      for (const uid of touches[k].required) {
        const home = homeOf.get(uid);
        if (home) needed.add(home);
      }
    let neededWidth = 0;
    for (const home of needed) neededWidth += homeWidth(home);
    if (neededWidth <= maxWidth) fittingRows += 1;
  });
  return touches.length ? fittingRows / touches.length : 1;
}

function homeByStorage(homes: LoomHome[]): Map<string, LoomHome> {
  const out = new Map<string, LoomHome>();
  for (const home of homes)
    for (const { uid } of [...home.values.columns, ...(home.grads?.columns ?? [])]) out.set(uid, home);
  return out;
}

export function timeSharedColumns(
  homes: LoomHome[],
  touches: Touches[],
  left: number,
  maxWidth: number,
): StorageColumns {
  const columns = new StorageColumns(left, touches.length);
  const claims = claimsByStorage(homes, touches);
  const windows = new TimeSharedHomes(maxWidth);
  touches.forEach(({ required, preferred }, r) => {
    columns.firstShelfOfRow[r] = windows.shelf;
    const openUids = required.filter((uid) => windows.isHomeOpen(claims.get(uid)));
    for (const uid of new Set([...openUids, ...required])) {
      const claim = claims.get(uid);
      if (!claim || windows.placeHome(claim, r)) continue;
      if (windows.shelf - columns.firstShelfOfRow[r] + 1 < MAX_SHELVES_PER_ROW) {
        windows.shelf += 1;
        windows.placeHome(claim, r);
      } else columns.hidden.set(r, [...(columns.hidden.get(r) ?? []), uid]);
    }
    for (const uid of preferred) {
      const claim = claims.get(uid);
      if (claim) windows.placeHome(claim, r);
    }
    windows.shelf += 1;
  });
  columns.firstShelfOfRow[touches.length] = windows.shelf;
  for (const openHome of windows.open) windows.closeHome(openHome, windows.shelf - 1);
  for (const { home, x, from, to } of windows.closed)
    for (const column of homeColumns(home, left + x, from, to, columns.firstShelfOfRow)) columns.addColumn(column);
  columns.allColumns.sort((a, b) => a.from - b.from);
  columns.right = left + maxWidth;
  return columns;
}

/** Who stands where, from shelf to shelf. */
class TimeSharedHomes {
  maxWidth: number;
  shelf = 0;
  open: OpenHome[] = [];
  /** stays that are over */
  closed: { home: LoomHome; x: number; from: number; to: number }[] = [];

  constructor(maxWidth: number) {
    this.maxWidth = maxWidth;
  }

  isHomeOpen(claim: Claim | undefined) {
    return this.open.some((openHome) => openHome.claim === claim);
  }

  /** Make a home stand on this shelf of row r; false where there is no room beside what stands on it already. */
  placeHome(claim: Claim, r: number) {
    const standingHome = this.open.find((openHome) => openHome.claim === claim);
    if (standingHome) {
      standingHome.used = this.shelf;
      return true;
    }
    const x = cheapestHomeX(this.open, claim, this.maxWidth, (openHome) =>
      openHome.used === this.shelf ? Infinity : homeDisplacementCost(openHome, r, this.shelf),
    );
    if (x === null) return false;
    const displaced = this.open.filter((openHome) => overlapsOpenHome(openHome, x, claim.width));
    for (const openHome of displaced) this.closeHome(openHome, this.shelf - 1);
    this.open = [
      ...this.open.filter((openHome) => !displaced.includes(openHome)),
      { claim, x, from: this.shelf, used: this.shelf },
    ];
    return true;
  }

  /** `to` is its last shelf. */
  closeHome({ claim, x, from }: OpenHome, to: number) {
    claim.wish = x;
    this.closed.push({ home: claim.home, x, from, to });
  }
}

/** By storage, what its home asks for. */
function claimsByStorage(homes: LoomHome[], touches: Touches[]): Map<string, Claim> {
  const claims = new Map<string, Claim>();
  for (const home of homes) {
    const list = [...home.values.columns, ...(home.grads?.columns ?? [])];
    const until = Math.max(...list.map(({ to }) => to));
    const claim = { home, width: homeWidth(home), rows: [], next: 0, until, wish: -1 };
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

function overlapsOpenHome({ x: from, claim }: OpenHome, x: number, width: number) {
  return from < x + width && x < from + claim.width;
}

/** Where nobody stands, else where those stand that it costs least to send away; null where none may be. */
function cheapestHomeX(
  openHomes: OpenHome[],
  { width, wish }: Claim,
  maxWidth: number,
  cost: (held: OpenHome) => number,
): number | null {
  let best: { x: number; cost: number } | null = null;
  const costs = openHomes.map(cost);
  const candidates = [wish, 0, ...openHomes.flatMap((openHome) => [openHome.x + openHome.claim.width, openHome.x])];
  for (const x of candidates) {
    if (x < 0 || x + width > maxWidth) continue;
    let totalCost = 0;
    for (const [k, openHome] of openHomes.entries()) if (overlapsOpenHome(openHome, x, width)) totalCost += costs[k];
    const isCheaper = !best || totalCost < best.cost || (totalCost === best.cost && best.x !== wish && x < best.x);
    if (totalCost < Infinity && isCheaper) best = { x, cost: totalCost };
  }
  return best?.x ?? null;
}

/** What it costs that a home has to go in row r: more, the sooner it is touched again, or the less long ago it was. */
function homeDisplacementCost({ claim, used }: OpenHome, r: number, shelf: number) {
  if (claim.until < r) return 0;
  const { rows } = claim;
  while (rows[claim.next] < r) claim.next += 1;
  const next = rows[claim.next];
  if (next === r) return 2;
  return next === undefined ? 0.001 * (1 + used / (1 + shelf)) : 0.002 + 1 / (next - r);
}
