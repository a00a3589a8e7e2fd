/** The loom's columns: a place across for the cells of every storage, with a rail for each of its counters. */

import { MOST_KEPT, PIN_PITCH, RAIL } from "./loom_sizes.js";
import { textWidth } from "./metrics.js";
import { Packer } from "./packing.js";
import { itemsize } from "./reads.js";

/** @typedef {import("./loom.js").Column} Column */

/** How many pins hold a rail at once. @param {import("./run_story.js").RunStory} run @returns {Map<string, number>} */
export function pinCounts(run) {
  /** @type {Map<string, number>} */
  const most = new Map();
  /** @type {Map<string, Packer>} */
  const slots = new Map();
  for (const pin of run.pins.values()) {
    const key = `${pin.storage}|${pin.counter ?? ""}`;
    const lane = slots.get(key) ?? new Packer();
    slots.set(key, lane);
    lane.allocate(pin.birth, pin.death, 1);
    most.set(key, lane.height);
  }
  return most;
}

/** How wide the ticks of a counter are written. @param {import("./run_story.js").RunStory} run @returns {Map<string, number>} */
export function bumpWidths(run) {
  /** @type {Map<string, number>} */
  const most = new Map();
  for (const { bumps } of run.rows)
    for (const [counter, bump] of bumps)
      most.set(counter, Math.max(most.get(counter) ?? 0, textWidth(bump.join("→"), 10.5) + 10));
  return most;
}

/** @param {import("./run_story.js").RunStory} run @param {{pins: Map<string, number>, bumps: Map<string, number>}} margins @param {number} left @param {number} cell
 * @param {number} most @returns {{columns: Map<string, Column>, right: number}} */
export function layoutColumns(run, margins, left, cell, most) {
  const lives = [...run.storages.values()].filter((life) => life.death > life.birth || !life.freed);
  /** @type {Map<string, Column>} */
  const columns = new Map();
  const reuses = lives.length > MOST_KEPT;
  const track = new Packer();
  const order = reuses ? lives : ownersFirst(lives);
  let x = left + 14;
  let right = x;
  for (const life of order) {
    const shape = columnShape(life, cell, most);
    let railX = 7;
    /** @type {[string, number][]} */
    const rails = [];
    for (const counter of life.counters.length ? life.counters : [""]) {
      rails.push([counter, shape.w + railX + 13]);
      railX +=
        RAIL +
        4 +
        Math.max(
          0,
          ((margins.pins.get(`${life.uid}|${counter}`) ?? 0) - 1) * PIN_PITCH,
          (margins.bumps.get(counter) ?? 0) - 38,
        );
    }
    const width = Math.ceil(shape.w + railX + 9);
    const owner = life.owner ? columns.get(life.owner) : undefined;
    const at = reuses
      ? left + 14 + track.allocateNear(life.birth, life.death, width, owner ? owner.right - left - 14 : 0)
      : x;
    columns.set(life.uid, {
      uid: life.uid,
      x: at,
      ...shape,
      rails: new Map(rails.map(([counter, by]) => [counter, at + by])),
      right: at + width,
    });
    x = at + width;
    right = Math.max(right, x);
  }
  return { columns, right };
}

/** By birth, with a .grad right of its owner. @param {import("./run_story.js").StorageLife[]} lives */
function ownersFirst(lives) {
  const known = new Set(lives.map((life) => life.uid));
  const first = lives.filter((life) => !life.owner || !known.has(life.owner));
  const gradsOf = (/** @type {string} */ uid) => lives.filter((life) => life.owner === uid && life.uid !== uid);
  /** @type {Set<import("./run_story.js").StorageLife>} */
  const out = new Set();
  const add = (/** @type {import("./run_story.js").StorageLife} */ life) => {
    if (out.has(life)) return;
    out.add(life);
    gradsOf(life.uid).forEach(add);
  };
  first.forEach(add);
  lives.forEach(add);
  return [...out];
}

/** @param {import("./run_story.js").StorageLife} life @param {number} cell @param {number} most */
function columnShape(life, cell, most) {
  if (life.summary) return { w: 150, cell: 150 / Math.max(1, life.nbytes), least: 1, heat: true };
  if (!life.cells.size) return { w: 56, cell: 0, least: 1, heat: false };
  const sizes = [...life.cells].map(([dtype, n]) => ({ n, size: itemsize(dtype) }));
  const least = Math.min(...sizes.map((s) => s.size));
  const n = Math.max(1, ...sizes.map((s) => Math.ceil((s.n * s.size) / least)));
  if (n <= most) return { w: Math.max(n * cell, 26), cell: n === 1 ? Math.max(cell, 26) : cell, least, heat: false };
  const each = Math.max(0.3, Math.min(most < 24 ? 7 : 10, (most < 24 ? 200 : 300) / n));
  return { w: n * each, cell: each, least, heat: true };
}

/** Where element i of a dtype lies. @param {Column} column @param {string} dtype @param {number} i */
export function elementBox(column, dtype, i) {
  const w = column.cell * (itemsize(dtype) / column.least);
  return { x: column.x + i * w, w };
}
