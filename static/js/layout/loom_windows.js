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
/** @typedef {{claim: Claim, x: number, from: number, used: number}} Open   a home that has its place; from: its first shelf,
 *   used: the last that touched it */
/** @typedef {{required: string[], preferred: string[]}} Touches   required: storages that a row made, wrote or read anew;
 *   preferred: those of which it saved the values */

/** What each row touches, what matters most first. @param {RunRows} runRows @returns {Touches[]} */
export function storagesTouchedByRow(runRows) {
  /** @type {Map<string, string[]>} */
  const wearing = new Map();
  for (const life of runRows.storages.values())
    for (const counterUid of life.counters) wearing.set(counterUid, [...(wearing.get(counterUid) ?? []), life.uid]);
  /** @type {string[][]} */
  const saved = runRows.rows.map(() => []);
  for (const pin of runRows.pins.values()) saved[pin.birth].push(pin.storage);
  return runRows.rows.map((row, r) => {
    const required = new Set(row.writes.keys());
    for (const first of [true, false])
      for (const { entity, named, alias } of row.readers)
        if ((named && !alias) === first && entity.storage) required.add(entity.storage);
    const last = new Set(madeStorages(row, runRows));
    for (const uid of last) if (required.delete(uid)) required.add(uid);
    for (const counterUid of row.bumps.keys()) for (const uid of wearing.get(counterUid) ?? []) required.add(uid);
    return { required: [...required], preferred: [...new Set(saved[r])].filter((uid) => !required.has(uid)) };
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
 * @param {Home[]} homes @param {Touches[]} touches @param {number} room @param {number} [back] how many rows before
 * @returns {number} */
export function shareThatFits(homes, touches, room, back = 0) {
  const homeOf = homeByStorage(homes);
  let fits = 0;
  touches.forEach((_, r) => {
    /** @type {Set<Home>} */
    const needed = new Set();
    for (let k = Math.max(0, r - back); k <= r; k++)
      for (const uid of touches[k].required) {
        const home = homeOf.get(uid);
        if (home) needed.add(home);
      }
    let wide = 0;
    for (const home of needed) wide += homeWidth(home);
    if (wide <= room) fits += 1;
  });
  return touches.length ? fits / touches.length : 1;
}

/** @param {Home[]} homes @returns {Map<string, Home>} */
function homeByStorage(homes) {
  /** @type {Map<string, Home>} */
  const out = new Map();
  for (const home of homes)
    for (const { uid } of [...home.values.columns, ...(home.grads?.columns ?? [])]) out.set(uid, home);
  return out;
}

/** @param {Home[]} homes @param {Touches[]} touches @param {number} left @param {number} room @returns {Columns} */
export function windowColumns(homes, touches, left, room) {
  const columns = new Columns(left, touches.length);
  const claims = claimsOf(homes, touches);
  const windows = new Windows(room);
  touches.forEach(({ required, preferred }, r) => {
    columns.shelves[r] = windows.shelf;
    const open = required.filter((uid) => windows.isOpen(claims.get(uid)));
    for (const uid of new Set([...open, ...required])) {
      const claim = claims.get(uid);
      if (!claim || windows.place(claim, r)) continue;
      if (windows.shelf - columns.shelves[r] + 1 < MAX_SHELVES) {
        windows.shelf += 1;
        windows.place(claim, r);
      } else columns.hidden.set(r, [...(columns.hidden.get(r) ?? []), uid]);
    }
    for (const uid of preferred) {
      const claim = claims.get(uid);
      if (claim) windows.place(claim, r);
    }
    windows.shelf += 1;
  });
  columns.shelves[touches.length] = windows.shelf;
  for (const held of windows.open) windows.close(held, windows.shelf - 1);
  for (const { home, x, from, to } of windows.closed)
    for (const column of homeColumns(home, left + x, from, to, columns.shelves)) columns.add(column);
  columns.list.sort((a, b) => a.from - b.from);
  columns.right = left + room;
  return columns;
}

/** Who stands where, from shelf to shelf. */
class Windows {
  /** @param {number} room */
  constructor(room) {
    this.room = room;
    this.shelf = 0;
    /** @type {Open[]} */
    this.open = [];
    /** @type {{home: Home, x: number, from: number, to: number}[]} stays that are over */
    this.closed = [];
  }

  /** @param {Claim | undefined} claim */
  isOpen(claim) {
    return this.open.some((held) => held.claim === claim);
  }

  /** Make a home stand on this shelf of row r; false where there is no room beside what stands on it already.
   * @param {Claim} claim @param {number} r */
  place(claim, r) {
    const stands = this.open.find((held) => held.claim === claim);
    if (stands) {
      stands.used = this.shelf;
      return true;
    }
    const x = bestPlace(this.open, claim, this.room, (held) =>
      held.used === this.shelf ? Infinity : costOf(held, r, this.shelf),
    );
    if (x === null) return false;
    const gives = this.open.filter((held) => overlaps(held, x, claim.width));
    for (const held of gives) this.close(held, this.shelf - 1);
    this.open = [
      ...this.open.filter((held) => !gives.includes(held)),
      { claim, x, from: this.shelf, used: this.shelf },
    ];
    return true;
  }

  /** @param {Open} held @param {number} to its last shelf */
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

/** @param {Open} held @param {number} x @param {number} width */
function overlaps({ x: from, claim }, x, width) {
  return from < x + width && x < from + claim.width;
}

/**
 * Where nobody stands, else where those stand that it costs least to send away; null where none may be.
 * @param {Open[]} open @param {Claim} claim @param {number} room @param {(held: Open) => number} cost @returns {number | null}
 */
function bestPlace(open, { width, wish }, room, cost) {
  /** @type {{x: number, cost: number} | null} */
  let best = null;
  const costs = open.map(cost);
  const tries = [wish, 0, ...open.flatMap((held) => [held.x + held.claim.width, held.x])];
  for (const x of tries) {
    if (x < 0 || x + width > room) continue;
    let sum = 0;
    for (const [k, held] of open.entries()) if (overlaps(held, x, width)) sum += costs[k];
    const better = !best || sum < best.cost || (sum === best.cost && best.x !== wish && x < best.x);
    if (sum < Infinity && better) best = { x, cost: sum };
  }
  return best?.x ?? null;
}

/** What it costs that a home has to go in row r: more, the sooner it is touched again, or the less long ago it was.
 * @param {Open} held @param {number} r @param {number} shelf */
function costOf({ claim, used }, r, shelf) {
  if (claim.until < r) return 0;
  const { rows } = claim;
  while (rows[claim.next] < r) claim.next += 1;
  const next = rows[claim.next];
  if (next === r) return 2;
  return next === undefined ? 0.001 * (1 + used / (1 + shelf)) : 0.002 + 1 / (next - r);
}
