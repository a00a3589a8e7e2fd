/** A trace's plan: the place of everything that is ever drawn, computed once, so that nothing moves between steps. */

import { DENSE, ROOMY } from "./metrics.js";
import { fitting, folds, frontier } from "./fold.js";
import { breadth, graph } from "./graph.js";
import { lifetimes, stay } from "./lifetimes.js";
import { memory } from "./memory.js";

/** Pictures with more storages than this at a time are drawn dense. */
const ROOM = 8;

/** Graphs of no more nodes than this are never folded. */
const FEW = 12;
/** The least share of the pane that is the graph's, and the most height of a memory that its nodes stand beside. */
const SHARE = 0.55;
const LOW = 1600;
/** The most room for name tags; beside a graph that is folded they are tucked sooner. */
const NAMES = { roomy: 300, narrow: 200, stacked: 110 };
/** About what a fold and its way to the next take. */
const CARD = 270;

/**
 * @typedef {{metrics: import("./metrics.js").Metrics, lives: import("./lifetimes.js").Lives,
 *   memory: import("./memory.js").Memory, graph: import("./graph.js").Graph, stacked: boolean,
 *   parts: import("./fold.js").Part[][], open: Set<string> | null}} Plan
 *   parts: what of the graph can be folded; open: the folds that are not, null where nothing is folded
 */

/**
 * @param {import("../state.js").Opened} opened
 * @param {{stacked?: boolean, room?: number}} [options] stacked: the graph stands below the memory, not beside it.
 *   room: the width in which a graph has to be readable; one that is wider is folded
 * @returns {Plan}
 */
export function plan(opened, { stacked = false, room = Infinity } = {}) {
  const lives = lifetimes(opened);
  const metrics = lives.crowd > ROOM || stacked ? DENSE : ROOMY;
  const whole =
    lives.nodes.size > FEW
      ? breadth(
          lives,
          metrics,
          frontier([], () => true),
        )
      : 0;
  const roomy = memory(lives, metrics, stacked ? NAMES.stacked : NAMES.roomy);
  const wide = whole > (stacked ? room : Math.max(room - roomy.width, room * SHARE));
  const mem = wide && !stacked ? memory(lives, metrics, NAMES.narrow) : roomy;
  const left = stacked ? room : room - mem.width > 1.6 * CARD ? room - mem.width : room * SHARE;
  const parts = wide ? folds(lives, Math.max(2, Math.floor(left / CARD))) : [];
  const open = parts.length ? fitting(parts, (front) => breadth(lives, metrics, front) <= left) : null;
  return { metrics, lives, memory: mem, graph: side(lives, metrics, mem, stacked, parts, open), stacked, parts, open };
}

/** The same plan with a fold opened or closed. @param {Plan} plan @param {string} key @returns {Plan} */
export function turned(plan, key) {
  const open = new Set(plan.open);
  if (!open.delete(key)) open.add(key);
  return { ...plan, open, graph: side(plan.lives, plan.metrics, plan.memory, plan.stacked, plan.parts, open) };
}

/** @param {import("./lifetimes.js").Lives} lives @param {import("./metrics.js").Metrics} metrics
 * @param {import("./memory.js").Memory} mem @param {boolean} stacked @param {import("./fold.js").Part[][]} parts
 * @param {Set<string> | null} open */
function side(lives, metrics, mem, stacked, parts, open) {
  /** @type {Map<string, string>} */
  const leaves = new Map();
  for (const life of lives.handles.values()) if (!leaves.has(life.uid)) leaves.set(life.uid, life.key);
  const apart = stacked || (open !== null && mem.height > LOW);
  const wish = (/** @type {import("./lifetimes.js").NodeLife} */ node) => {
    if (apart) return null;
    const key = node.variable ? leaves.get(node.variable) : node.handle;
    // What never had a name soon leaves its row: its node stands by its inputs instead.
    const uid = node.variable ?? (key && lives.handles.get(key)?.uid);
    return (key && uid && lives.named.has(uid) && mem.rows.get(key)?.cy) || null;
  };
  const front = open ? frontier(parts, (fold) => open.has(fold.key)) : undefined;
  return graph(lives, metrics, wish, stacked ? { x: 0, pins: new Map() } : { x: mem.width, pins: mem.pins }, front);
}

/** The heights at which a step did something. @param {Plan} plan @param {import("../state.js").Snapshot} snap */
export function news(plan, snap) {
  const { memory } = plan;
  /** @type {number[]} */
  const out = [];
  for (const uid of [...snap.written.keys(), ...snap.fresh, ...snap.moved]) {
    const entity = snap.entities.get(uid);
    const at =
      memory.shelves.get(uid)?.stripY ??
      (entity && rowOf(plan, uid, entity)?.cy) ??
      memory.cards.get(uid)?.y ??
      boxOf(plan, uid, snap.index)?.cy;
    if (at !== undefined) out.push(at);
  }
  const running = boxOf(plan, snap.step?.visit?.node, snap.index);
  if (running) out.unshift(running.cy);
  return out;
}

/** The row a handle stands in at this moment. @param {Plan} plan @param {string} uid @param {any} handle */
export function rowOf(plan, uid, handle) {
  return plan.memory.rows.get(stay(uid, handle));
}

/** The box of a node, or of the fold that it is in at a step. @param {Plan} plan @param {string | undefined} uid @param {number} i */
export function boxOf({ graph }, uid = "", i = 0) {
  return graph.boxes.get(foldOf(graph, uid, i)?.uid ?? uid);
}

/** @param {import("./graph.js").Graph} graph @param {string} uid @param {number} i */
export function foldOf(graph, uid, i) {
  return graph.inside.get(uid)?.find((fold) => fold.birth <= i && i <= fold.death);
}
