/**
 * The loom's columns where not all fit beside each other: a home has a place while rows touch it, and gives it to
 * another that is touched sooner. Widths stay within the room, whatever the run.
 */

import { inputsFirst } from "./run_rows.js";
import { Columns } from "./loom_columns.js";
import { homeColumns, homeWidth } from "./loom_homes.js";
import { MAX_SHELVES } from "./loom_sizes.js";

/** @typedef {import("./loom_homes.js").Home} Home */
/** @typedef {import("./run_rows.js").RunRows} RunRows */
/** @typedef {{home: Home, width: number, rows: number[], next: number, until: number, wish: number}} Claim
 *   rows: those that touch it, next: the index of the first that is still to come; until: its last row; wish: where it stood */
/** @typedef {{claim: Claim, x: number, from: number, used: number}} OpenHome   a home that has its place; from: its first shelf,
 *   used: the last that touched it */
/** @typedef {{required: string[], preferred: string[]}} Touches   required: storages that a row made, wrote or read anew;
 *   preferred: those of which it saved the values */

/** What each row touches, what matters most first. @param {RunRows} runRows @returns {Touches[]} */
export function storagesTouchedByRow(runRows) {
  /** @type {Map<string, string[]>} */
  const storagesOfCounter = new Map();
  for (const life of runRows.storages.values())
    for (const counterUid of life.counters)
      storagesOfCounter.set(counterUid, [...(storagesOfCounter.get(counterUid) ?? []), life.uid]);
  /** @type {string[][]} */
  const savedByRow = runRows.rows.map(() => []);
  for (const pin of runRows.pins.values()) savedByRow[pin.birth].push(pin.storage);
  return runRows.rows.map((row, r) => {
    const required = new Set(row.writes.keys());
    for (const first of [true, false])
      for (const { entity, named, alias } of row.readers)
        if ((named && !alias) === first && entity.storage) required.add(entity.storage);
    const madeUids = new Set(madeStorages(row, runRows));
    for (const uid of madeUids) if (required.delete(uid)) required.add(uid);
    for (const counterUid of row.bumps.keys())
      for (const uid of storagesOfCounter.get(counterUid) ?? []) required.add(uid);
    return { required: [...required], preferred: [...new Set(savedByRow[r])].filter((uid) => !required.has(uid)) };
  });
}

/** The storages of what a row's nodes made, inputs first: they stand below each other as their nodes do.
 * @param {import("./run_rows.js").Row} row @param {RunRows} runRows */
function madeStorages(row, runRows) {
  /** @type {Map<string, string>} */
  const storages = new Map();
  for (const { entity, alias } of row.readers)
    if (!alias && entity.grad_fn && entity.storage) storages.set(entity.grad_fn, entity.storage);
  return storages.size > 1 ? inputsFirst(row.nodes, runRows).flatMap((uid) => storages.get(uid) ?? []) : [];
}

/** The share of rows that have room for all that they and those just before them made, wrote or read anew.
 * @param {Home[]} homes @param {Touches[]} touches @param {number} maxWidth @param {number} [rowsBefore] how many rows before
 * @returns {number} */
export function shareOfRowsThatFit(homes, touches, maxWidth, rowsBefore = 0) {
  const homeOf = homeByStorage(homes);
  let fittingRows = 0;
  touches.forEach((_, r) => {
    /** @type {Set<Home>} */
    const needed = new Set();
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

/** @param {Home[]} homes @returns {Map<string, Home>} */
function homeByStorage(homes) {
  /** @type {Map<string, Home>} */
  const out = new Map();
  for (const home of homes)
    for (const { uid } of [...home.values.columns, ...(home.grads?.columns ?? [])]) out.set(uid, home);
  return out;
}

/** @param {Home[]} homes @param {Touches[]} touches @param {number} left @param {number} maxWidth @returns {Columns} */
export function windowColumns(homes, touches, left, maxWidth) {
  const columns = new Columns(left, touches.length);
  const claims = claimsOf(homes, touches);
  const windows = new HomeWindows(maxWidth);
  touches.forEach(({ required, preferred }, r) => {
    columns.firstShelfOfRow[r] = windows.shelf;
    const openUids = required.filter((uid) => windows.isOpen(claims.get(uid)));
    for (const uid of new Set([...openUids, ...required])) {
      const claim = claims.get(uid);
      if (!claim || windows.placeHome(claim, r)) continue;
      if (windows.shelf - columns.firstShelfOfRow[r] + 1 < MAX_SHELVES) {
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
  for (const openHome of windows.open) windows.close(openHome, windows.shelf - 1);
  for (const { home, x, from, to } of windows.closed)
    for (const column of homeColumns(home, left + x, from, to, columns.firstShelfOfRow)) columns.add(column);
  columns.all.sort((a, b) => a.from - b.from);
  columns.right = left + maxWidth;
  return columns;
}

/** Who stands where, from shelf to shelf. */
class HomeWindows {
  /** @param {number} maxWidth */
  constructor(maxWidth) {
    this.maxWidth = maxWidth;
    this.shelf = 0;
    /** @type {OpenHome[]} */
    this.open = [];
    /** @type {{home: Home, x: number, from: number, to: number}[]} stays that are over */
    this.closed = [];
  }

  /** @param {Claim | undefined} claim */
  isOpen(claim) {
    return this.open.some((openHome) => openHome.claim === claim);
  }

  /** Make a home stand on this shelf of row r; false where there is no room beside what stands on it already.
   * @param {Claim} claim @param {number} r */
  placeHome(claim, r) {
    const standingHome = this.open.find((openHome) => openHome.claim === claim);
    if (standingHome) {
      standingHome.used = this.shelf;
      return true;
    }
    const x = cheapestX(this.open, claim, this.maxWidth, (openHome) =>
      openHome.used === this.shelf ? Infinity : displacementCost(openHome, r, this.shelf),
    );
    if (x === null) return false;
    const displaced = this.open.filter((openHome) => overlapsPlace(openHome, x, claim.width));
    for (const openHome of displaced) this.close(openHome, this.shelf - 1);
    this.open = [
      ...this.open.filter((openHome) => !displaced.includes(openHome)),
      { claim, x, from: this.shelf, used: this.shelf },
    ];
    return true;
  }

  /** @param {OpenHome} held @param {number} to its last shelf */
  close({ claim, x, from }, to) {
    claim.wish = x;
    this.closed.push({ home: claim.home, x, from, to });
  }
}

/** By storage, what its home asks for. @param {Home[]} homes @param {Touches[]} touches @returns {Map<string, Claim>} */
function claimsOf(homes, touches) {
  /** @type {Map<string, Claim>} */
  const claims = new Map();
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

/** @param {OpenHome} held @param {number} x @param {number} width */
function overlapsPlace({ x: from, claim }, x, width) {
  return from < x + width && x < from + claim.width;
}

/**
 * Where nobody stands, else where those stand that it costs least to send away; null where none may be.
 * @param {OpenHome[]} openHomes @param {Claim} claim @param {number} maxWidth @param {(held: OpenHome) => number} cost @returns {number | null}
 */
function cheapestX(openHomes, { width, wish }, maxWidth, cost) {
  /** @type {{x: number, cost: number} | null} */
  let best = null;
  const costs = openHomes.map(cost);
  const candidates = [wish, 0, ...openHomes.flatMap((openHome) => [openHome.x + openHome.claim.width, openHome.x])];
  for (const x of candidates) {
    if (x < 0 || x + width > maxWidth) continue;
    let totalCost = 0;
    for (const [k, openHome] of openHomes.entries()) if (overlapsPlace(openHome, x, width)) totalCost += costs[k];
    const isCheaper = !best || totalCost < best.cost || (totalCost === best.cost && best.x !== wish && x < best.x);
    if (totalCost < Infinity && isCheaper) best = { x, cost: totalCost };
  }
  return best?.x ?? null;
}

/** What it costs that a home has to go in row r: more, the sooner it is touched again, or the less long ago it was.
 * @param {OpenHome} held @param {number} r @param {number} shelf */
function displacementCost({ claim, used }, r, shelf) {
  if (claim.until < r) return 0;
  const { rows } = claim;
  while (rows[claim.next] < r) claim.next += 1;
  const next = rows[claim.next];
  if (next === r) return 2;
  return next === undefined ? 0.001 * (1 + used / (1 + shelf)) : 0.002 + 1 / (next - r);
}
