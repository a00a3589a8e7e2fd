/** Folds of the graph: stretches of nodes, by module and by repetition, that one card may stand for. */

import { push } from "../multimap.js";
import { foldTitle } from "./fold_names.js";
import { BESIDE, FoldTree } from "./fold_tree.js";

/** @typedef {import("./lifetimes.js").Lifetimes} Lives */
/** @typedef {import("./lifetimes.js").NodeLifetime} NodeLife */

/**
 * @typedef {{uid: string, key: string, label: string, count: number, members: string[], parts: Part[], graph: number,
 *   birth: number, death: number}} Fold
 *   uid: its box's name. key: the same for graphs of the same shape, so that an opened fold is open in every iteration.
 *   count: how often its label stands in it. graph: whose it is; a leaf can be a member in several
 * @typedef {string | Fold} Part   a node, or nodes folded
 */

/** The room for a gradient's shape, which is all of it that is said at a fold. */
const SHAPE = 52;

/** Everything that can be folded, innermost in outermost: the parts of each of the trace's graphs.
 * @param {Lives} lives @param {number} [most] parts of a graph that may stand side by side @returns {Part[][]} */
export function folds(lives, most = BESIDE) {
  return connectedGraphs(lives).map((uids, graph) => {
    const tree = new FoldTree(lives, uids, graph);
    return tree.limitParts(tree.group(tree.sequence(), ""), "", most);
  });
}

/**
 * @typedef {{cards: Fold[], rims: Fold[], unfolded: Map<string, number>}} Frontier
 *   cards: the closed folds; rims: the open ones around what is drawn; unfolded: nodes in no closed fold, and whose graph's
 */

/** The parts that are drawn: a closed fold is one, of an open one its parts.
 * @param {Part[][]} graphs @param {(fold: Fold) => boolean} open @returns {Frontier} */
export function frontier(graphs, open) {
  /** @type {Frontier} */
  const parts0 = { cards: [], rims: [], unfolded: new Map() };
  graphs.forEach((parts, graph) => {
    const stack = [...parts].reverse();
    for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
      if (typeof part === "string") parts0.unfolded.set(part, graph);
      else if (!open(part)) parts0.cards.push(part);
      else {
        parts0.rims.push(part);
        stack.push(...[...part.parts].reverse());
      }
    }
  });
  return parts0;
}

/**
 * The nodes with each closed fold in the place of its members.
 * @param {Lives} lives @param {Frontier} front
 * @returns {{nodes: Map<string, NodeLife>, inside: Map<string, Fold[]>, carries: Map<string, string>}}
 *   inside: the folds that a node is in, a leaf in one of each graph. carries: by a node's edge, the edge drawn for it
 */
export function folded(lives, { cards, unfolded }) {
  /** @type {Map<string, Fold[]>} */
  const inside = new Map();
  for (const fold of cards) for (const uid of fold.members) push(inside, uid, fold);
  const partOf = (/** @type {string} */ uid, /** @type {number | undefined} */ graph) =>
    inside.get(uid)?.find((fold) => fold.graph === graph)?.uid ?? uid;
  /** @type {Map<string, NodeLife>} */
  const nodes = new Map();
  /** @type {Map<string, string>} */
  const carries = new Map();
  for (const [uid, life] of lives.nodes)
    if (unfolded.has(uid) || !inside.has(uid))
      nodes.set(uid, { ...life, next: life.next.map((edge) => edge && [partOf(edge[0], unfolded.get(uid)), edge[1]]) });
  for (const fold of cards) {
    /** @type {Map<string, number>} */
    const inputs = new Map();
    let chip = 0;
    for (const uid of fold.members) {
      const life = /** @type {NodeLife} */ (lives.nodes.get(uid));
      life.next.forEach((edge, i) => {
        const to = edge && partOf(edge[0], fold.graph);
        if (!to || to === fold.uid) return;
        if (!inputs.has(to)) inputs.set(to, inputs.size);
        carries.set(`${uid}:${i}`, `${fold.uid}:${inputs.get(to)}`);
        if (life.chip) chip = SHAPE;
      });
    }
    nodes.set(fold.uid, {
      uid: fold.uid,
      name: foldTitle(fold),
      birth: fold.birth,
      death: fold.death,
      slots: [],
      slotW: 0,
      output: null,
      variable: null,
      chip,
      next: [...inputs.keys()].map((to) => [to, 0]),
      fold,
    });
  }
  for (const uid of unfolded.keys()) inside.delete(uid);
  return { nodes, inside, carries };
}

/** The folds to open so that as much is open as fits: small ones first, each tried by itself.
 * @param {Part[][]} graphs @param {(front: Frontier) => boolean} fits @returns {Set<string>} their keys */
export function openFitting(graphs, fits) {
  /** @type {Set<string>} */
  const keys = new Set();
  /** @type {Set<string>} */
  const refused = new Set();
  for (;;) {
    const shut = frontier(graphs, (fold) => keys.has(fold.key)).cards.filter((fold) => !refused.has(fold.key));
    const [next] = shut.sort((a, b) => a.members.length - b.members.length);
    if (!next) return keys;
    keys.add(next.key);
    if (fits(frontier(graphs, (fold) => keys.has(fold.key)))) continue;
    keys.delete(next.key);
    refused.add(next.key);
  }
}

/** The nodes of each graph; a leaf that several share is in each, and joins none of them. @param {Lives} lives @returns {string[][]} */
function connectedGraphs(lives) {
  /** @type {Map<string, string>} */
  const parent = new Map();
  const root = (/** @type {string} */ uid) => {
    let at = uid;
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) {
      parent.set(at, parent.get(up) ?? up);
      at = up;
    }
    return at;
  };
  for (const [uid, life] of lives.nodes)
    for (const edge of life.next) {
      const to = edge && lives.nodes.get(edge[0]);
      if (to?.next.some(Boolean)) parent.set(root(uid), root(to.uid));
    }
  /** @type {Map<string, Set<string>>} */
  const out = new Map();
  for (const [uid, life] of lives.nodes) {
    if (!life.next.some(Boolean)) continue;
    const own = out.get(root(uid)) ?? new Set();
    out.set(root(uid), own.add(uid));
    for (const edge of life.next) {
      const to = edge && lives.nodes.get(edge[0]);
      if (to && !to.next.some(Boolean)) own.add(to.uid);
    }
  }
  return [...out.values()].map((own) => [...own]);
}
