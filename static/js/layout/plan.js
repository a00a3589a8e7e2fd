/** A trace's plan: the place of everything that is ever drawn, computed once, so that nothing moves between steps. */

import { findHandle } from "../entities.js";
import { DENSE, ROOMY } from "./metrics.js";
import { openFitting, folds, frontier } from "./fold.js";
import { graphWidth, graphLayout } from "./graph.js";
import { handleKey } from "../trace_index.js";
import { lifetimes } from "./lifetimes.js";
import { memoryLayout } from "./memory.js";

/** Pictures with more storages than this at a time are drawn dense. */
const MOST_ROOMY = 8;

/** Graphs of no more nodes than this are never folded. */
const NEVER_FOLDED = 12;
/** The least share of the pane that is the graph's, and the most height of a memory that its nodes stand beside. */
const GRAPH_SHARE = 0.55;
const LOW_MEMORY = 1600;
/** The most room for name tags; beside a graph that is folded they are tucked sooner. */
const NAME_WIDTHS = { roomy: 300, narrow: 200, stacked: 110 };
/** About what a fold and its way to the next take. */
const FOLD_WIDTH = 270;

/**
 * @typedef {{metrics: import("./metrics.js").Metrics, lives: import("./lifetimes.js").Lifetimes,
 *   memory: import("./memory.js").Memory, graph: import("./graph.js").Graph, stacked: boolean,
 *   parts: import("./fold.js").Part[][], open: Set<string> | null}} Plan
 *   parts: what of the graph can be folded; open: the folds that are not, null where nothing is folded
 */

/**
 * @param {import("../state.js").OpenTrace} opened
 * @param {{stacked?: boolean, room?: number}} [options] stacked: the graph stands below the memory, not beside it.
 *   room: the width in which a graph has to be readable; one that is wider is folded
 * @returns {Plan}
 */
export function plan(opened, { stacked = false, room = Infinity } = {}) {
  const lives = lifetimes(opened);
  const metrics = lives.crowd > MOST_ROOMY || stacked ? DENSE : ROOMY;
  const whole =
    lives.nodes.size > NEVER_FOLDED
      ? graphWidth(
          lives,
          metrics,
          frontier([], () => true),
        )
      : 0;
  const roomy = memoryLayout(lives, metrics, stacked ? NAME_WIDTHS.stacked : NAME_WIDTHS.roomy);
  const wide = whole > (stacked ? room : Math.max(room - roomy.width, room * GRAPH_SHARE));
  const mem = wide && !stacked ? memoryLayout(lives, metrics, NAME_WIDTHS.narrow) : roomy;
  const left = stacked ? room : room - mem.width > 1.6 * FOLD_WIDTH ? room - mem.width : room * GRAPH_SHARE;
  const parts = wide ? folds(lives, Math.max(2, Math.floor(left / FOLD_WIDTH))) : [];
  const open = parts.length ? openFitting(parts, (front) => graphWidth(lives, metrics, front) <= left) : null;
  return {
    metrics,
    lives,
    memory: mem,
    graph: graphSide(lives, metrics, mem, stacked, parts, open),
    stacked,
    parts,
    open,
  };
}

/** The same plan with a fold opened or closed. @param {Plan} plan @param {string} key @returns {Plan} */
export function toggleFold(plan, key) {
  const open = new Set(plan.open);
  if (!open.delete(key)) open.add(key);
  return { ...plan, open, graph: graphSide(plan.lives, plan.metrics, plan.memory, plan.stacked, plan.parts, open) };
}

/** @param {import("./lifetimes.js").Lifetimes} lives @param {import("./metrics.js").Metrics} metrics
 * @param {import("./memory.js").Memory} mem @param {boolean} stacked @param {import("./fold.js").Part[][]} parts
 * @param {Set<string> | null} open */
function graphSide(lives, metrics, mem, stacked, parts, open) {
  /** @type {Map<string, string>} */
  const leaves = new Map();
  for (const life of lives.handles.values()) if (!leaves.has(life.uid)) leaves.set(life.uid, life.key);
  const apart = stacked || (open !== null && mem.height > LOW_MEMORY);
  const wish = (/** @type {import("./lifetimes.js").NodeLifetime} */ node) => {
    if (apart) return null;
    const key = node.variable ? leaves.get(node.variable) : node.output;
    // What never had a name soon leaves its row: its node stands by its inputs instead.
    const uid = node.variable ?? (key && lives.handles.get(key)?.uid);
    return (key && uid && lives.named.has(uid) && mem.rows.get(key)?.cy) || null;
  };
  const front = open ? frontier(parts, (fold) => open.has(fold.key)) : undefined;
  return graphLayout(
    lives,
    metrics,
    wish,
    stacked ? { x: 0, pins: new Map() } : { x: mem.width, pins: mem.pins },
    front,
  );
}

/** The heights at which a step did something. @param {Plan} plan @param {import("../state.js").Snapshot} snap */
export function changedHeights(plan, snap) {
  const { memory } = plan;
  /** @type {number[]} */
  const out = [];
  for (const uid of [...snap.written.keys(), ...snap.fresh, ...snap.changed]) {
    const handle = findHandle(snap.entities, uid);
    const at =
      memory.storages.get(uid)?.stripY ??
      (handle && handleRow(plan, uid, handle)?.cy) ??
      memory.cards.get(uid)?.y ??
      nodeBox(plan, uid, snap.index)?.cy;
    if (at !== undefined) out.push(at);
  }
  const running = nodeBox(plan, snap.step?.visit?.node, snap.index);
  if (running) out.unshift(running.cy);
  return out;
}

/** The row a handle stands in at this moment. @param {Plan} plan @param {string} uid @param {import("../entities.js").Handle} handle */
export function handleRow(plan, uid, handle) {
  return plan.memory.rows.get(handleKey(uid, handle));
}

/** The box of a node, or of the fold that it is in at a step. @param {Plan} plan @param {string | undefined} uid @param {number} i */
export function nodeBox({ graph }, uid = "", i = 0) {
  return graph.boxes.get(closedFold(graph, uid, i)?.uid ?? uid);
}

/** @param {import("./graph.js").Graph} graph @param {string} uid @param {number} i */
export function closedFold(graph, uid, i) {
  return graph.inside.get(uid)?.find((fold) => fold.birth <= i && i <= fold.death);
}
