/** A trace's plan: the place of everything that is ever drawn, computed once, so that nothing moves between steps. */

import { DENSE, ROOMY } from "./metrics.js";
import { graph } from "./graph.js";
import { lifetimes, stay } from "./lifetimes.js";
import { memory } from "./memory.js";

/** Pictures with more storages than this at a time are drawn dense. */
const ROOM = 8;

/**
 * @typedef {{metrics: import("./metrics.js").Metrics, lives: import("./lifetimes.js").Lives,
 *   memory: import("./memory.js").Memory, graph: import("./graph.js").Graph, stacked: boolean}} Plan
 */

/**
 * @param {import("../state.js").Opened} opened
 * @param {{stacked?: boolean}} [options] stacked: the graph stands below the memory, not beside it
 * @returns {Plan}
 */
export function plan(opened, { stacked = false } = {}) {
  const lives = lifetimes(opened);
  const metrics = lives.crowd > ROOM || stacked ? DENSE : ROOMY;
  const mem = memory(lives, metrics, stacked ? 110 : 300);
  /** @type {Map<string, string>} */
  const leaves = new Map();
  for (const life of lives.handles.values()) if (!leaves.has(life.uid)) leaves.set(life.uid, life.key);
  const wish = (/** @type {import("./lifetimes.js").NodeLife} */ node) => {
    if (stacked) return null;
    const key = node.variable ? leaves.get(node.variable) : node.handle;
    // What never had a name soon leaves its row: its node stands by its inputs instead.
    const uid = node.variable ?? (key && lives.handles.get(key)?.uid);
    return (key && uid && lives.named.has(uid) && mem.rows.get(key)?.cy) || null;
  };
  const side = graph(lives, metrics, wish, stacked ? { x: 0, pins: new Map() } : { x: mem.width, pins: mem.pins });
  return { metrics, lives, memory: mem, graph: side, stacked };
}

/** The heights at which a step did something. @param {Plan} plan @param {import("../state.js").Snapshot} snap */
export function news(plan, snap) {
  const { memory, graph } = plan;
  /** @type {number[]} */
  const out = [];
  for (const uid of [...snap.written.keys(), ...snap.fresh, ...snap.moved]) {
    const entity = snap.entities.get(uid);
    const at = memory.shelves.get(uid)?.stripY ?? (entity && rowOf(plan, uid, entity)?.cy) ?? memory.cards.get(uid)?.y ?? graph.boxes.get(uid)?.cy;
    if (at !== undefined) out.push(at);
  }
  const running = snap.step?.visit?.node;
  if (running && graph.boxes.has(running)) out.unshift(/** @type {any} */ (graph.boxes.get(running)).cy);
  return out;
}

/** The row a handle stands in at this moment. @param {Plan} plan @param {string} uid @param {any} handle */
export function rowOf(plan, uid, handle) {
  return plan.memory.rows.get(stay(uid, handle));
}
