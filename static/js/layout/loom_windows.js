/**
 * The loom's columns where not all fit beside each other: a home has a place while rows touch it, and gives it to
 * another that is touched sooner. Widths stay within the room, whatever the run.
 */

import { Columns } from "./loom_columns.js";
import { homeColumns, homeWidth } from "./loom_homes.js";

/** @typedef {import("./loom_homes.js").Home} Home */
/** @typedef {import("./run_story.js").RunStory} RunStory */
/** @typedef {{home: Home, width: number, rows: number[], next: number, until: number, wish: number}} Claim
 *   rows: those that touch it, next: the index of the first that is still to come; until: its last row; wish: where it stood */
/** @typedef {{claim: Claim, x: number, from: number, used: number}} Open   a home that has its place; used: the last row that touched it */
/** @typedef {{needs: string[], likes: string[]}} Touches   needs: storages that a row made, wrote or read anew;
 *   likes: those of which it saved the values */

/** What each row touches, what matters most first. @param {RunStory} run @returns {Touches[]} */
export function touchesOf(run) {
  /** @type {Map<string, string[]>} */
  const wearing = new Map();
  for (const life of run.storages.values())
    for (const counter of life.counters) wearing.set(counter, [...(wearing.get(counter) ?? []), life.uid]);
  /** @type {string[][]} */
  const saved = run.rows.map(() => []);
  for (const pin of run.pins.values()) saved[pin.birth].push(pin.storage);
  return run.rows.map((row, r) => {
    const needs = new Set(row.writes.keys());
    for (const first of [true, false])
      for (const { entity, named, alias } of row.readers)
        if ((named && !alias) === first && entity.storage) needs.add(entity.storage);
    for (const counter of row.bumps.keys()) for (const uid of wearing.get(counter) ?? []) needs.add(uid);
    return { needs: [...needs], likes: [...new Set(saved[r])].filter((uid) => !needs.has(uid)) };
  });
}

/** Whether every row has room for all that it made, wrote or read anew. @param {Home[]} homes @param {Touches[]} touches
 * @param {number} room @returns {number} the share of rows that have */
export function shareThatFits(homes, touches, room) {
  const homeOf = homeByStorage(homes);
  let fits = 0;
  for (const { needs } of touches) {
    const needed = new Set(needs.map((uid) => homeOf.get(uid)));
    let wide = 0;
    for (const home of needed) if (home) wide += homeWidth(home);
    if (wide <= room) fits += 1;
  }
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
  const columns = new Columns(left);
  const claims = claimsOf(homes, touches);
  /** @type {Open[]} from left to right */
  let open = [];
  const close = (/** @type {Open} */ { claim, x, from }, /** @type {number} */ to) => {
    claim.wish = x;
    for (const column of homeColumns(claim.home, left + x, from, to)) columns.add(column);
  };
  touches.forEach(({ needs, likes }, r) => {
    const needing = new Set(needs.map((uid) => claims.get(uid)));
    for (const [list, needed] of /** @type {[string[], boolean][]} */ ([
      [needs, true],
      [likes, false],
    ]))
      for (const uid of list) {
        const claim = claims.get(uid);
        if (!claim) continue;
        const stands = open.find((held) => held.claim === claim);
        if (stands) {
          stands.used = r;
          continue;
        }
        const x = bestPlace(open, claim, room, (held) => costOf(held, r, needing));
        if (x === null) {
          if (needed) columns.hidden.set(r, [...(columns.hidden.get(r) ?? []), uid]);
          continue;
        }
        const gives = open.filter((held) => overlaps(held, x, claim.width));
        for (const held of gives) close(held, r - 1);
        open = [...open.filter((held) => !gives.includes(held)), { claim, x, from: r, used: r }];
      }
  });
  for (const held of open) close(held, touches.length - 1);
  columns.list.sort((a, b) => a.from - b.from);
  columns.right = left + room;
  return columns;
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
  touches.forEach(({ needs, likes }, r) => {
    for (const uid of [...needs, ...likes]) {
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

/** What it costs that a home has to go in row r: more, the sooner it is touched again; one that the row needs never goes.
 * @param {Open} held @param {number} r @param {Set<Claim | undefined>} needing */
function costOf({ claim, used }, r, needing) {
  if (used === r || needing.has(claim)) return Infinity;
  if (claim.until < r) return 0;
  const { rows } = claim;
  while (rows[claim.next] < r) claim.next += 1;
  const next = rows[claim.next];
  if (next === r) return 2;
  return next === undefined ? 0.001 + 0.001 / (1 + r - used) : 1 / (next - r);
}
