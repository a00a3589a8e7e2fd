/** What a tensor's numbers were computed from, whether or not gradients go the same way back. */

import { addToList } from "../multimap.js";

/** @typedef {import("./scan.js").Operation} Operation */
/** @typedef {import("./scan.js").Occurrence<"path_cut">} PathCut */
/**
 * @typedef {{from: string, to: string, step: number, op: Operation | null, cut: PathCut | null}} Edge
 *   from: a tensor of which `to` was computed, at that step; cut: the event that says no gradient comes back
 */

/** Operations that take a tensor's shape and none of its values. */
const VALUELESS = /_like$|_like\.|::new_/;

/** @type {WeakMap<object, Dataflow>} */
const cache = new WeakMap();

/** The dataflow of a run, made once. @param {import("./run_facts.js").RunFacts} facts */
export function dataflow(facts) {
  const flow = cache.get(facts.trace) ?? new Dataflow(facts);
  cache.set(facts.trace, flow);
  return flow;
}

export class Dataflow {
  /** @param {import("./run_facts.js").RunFacts} facts */
  constructor(facts) {
    /** @type {Map<string, Edge[]>} by the tensor that was computed */
    this.into = new Map();
    /** @type {Map<string, Edge[]>} by the tensor that was read */
    this.outOf = new Map();
    const cuts = new Map(facts.events("path_cut").map((cut) => [`${cut.tensor} ${cut.result ?? ""}`, cut]));
    for (const op of facts.scan.ops()) {
      if (VALUELESS.test(op.name) || (facts.steps[op.step].visit && !op.grad_mode)) continue;
      for (const to of op.outputs)
        for (const from of op.inputs)
          if (from !== to) this.add({ from, to, step: op.step, op, cut: cuts.get(`${from} ${to}`) ?? null });
    }
    for (const cut of facts.events("path_cut"))
      if (cut.result && !facts.producer(cut.result))
        this.add({ from: cut.tensor, to: cut.result, step: cut.step, op: null, cut });
    this.addSharers(facts);
  }

  /** Handles that no operation made read the memory of an earlier one: `detach()`, `from_numpy`, `state_dict`.
   * @param {import("./run_facts.js").RunFacts} facts */
  addSharers(facts) {
    /** @type {Map<string, string>} by storage, its first handle */
    const first = new Map();
    for (const { uid, storage, birth } of facts.index.placements.values()) {
      if (!storage) continue;
      const earlier = first.get(storage);
      if (!earlier) first.set(storage, uid);
      const from = earlier ?? (this.into.has(uid) ? undefined : briefSharer(facts, uid, storage, birth));
      if (from && from !== uid && !this.into.has(uid)) this.add({ from, to: uid, step: birth, op: null, cut: null });
    }
  }

  /** @param {Edge} edge */
  add(edge) {
    addToList(this.into, edge.to, edge);
    addToList(this.outOf, edge.from, edge);
  }

  /**
   * A shortest way from a tensor to one that was computed from it.
   * @param {string} from @param {(string | null)[]} roots @param {number} step the last that counts
   * @returns {Edge[] | null} null where none of the roots was computed from it
   */
  shortestPath(from, roots, step) {
    /** @type {Map<string, Edge | null>} by tensor, the edge that leads on towards a root */
    const onward = new Map();
    const queue = /** @type {string[]} */ (roots.filter(Boolean));
    for (const rootUid of queue) onward.set(rootUid, null);
    for (let k = 0; k < queue.length && !onward.has(from); k++) {
      for (const edge of this.into.get(queue[k]) ?? []) {
        if (edge.step > step || onward.has(edge.from)) continue;
        onward.set(edge.from, edge);
        queue.push(edge.from);
      }
    }
    if (!onward.has(from)) return null;
    const way = [];
    for (let edge = onward.get(from); edge; edge = onward.get(edge.to)) way.push(edge);
    return way;
  }

  /** Everything that was computed from a tensor up to a step, itself included. @param {string} from @param {number} step
   * @returns {Set<string>} */
  descendants(from, step) {
    const out = new Set([from]);
    for (const uid of out) for (const edge of this.outOf.get(uid) ?? []) if (edge.step <= step) out.add(edge.to);
    return out;
  }
}

/** A tensor that lived within the statement that made another, on the same memory: `a - b` of `(a - b).detach()`.
 * @param {import("./run_facts.js").RunFacts} facts @param {string} uid @param {string} storageUid @param {number} step */
function briefSharer(facts, uid, storageUid, step) {
  const results = facts.opsAt(step).flatMap(({ outputs }) => outputs);
  return results.find((output) => output !== uid && facts.handle(output, step)?.storage === storageUid);
}
