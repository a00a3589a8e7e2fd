/** What a tensor's numbers were computed from, whether or not gradients go the same way back. */

import { addToList } from "../trace/multimap.js";

/** @typedef {import("./scan.js").Operation} Operation */
/** @typedef {import("./scan.js").Occurrence<"path_cut">} PathCut */
/**
 * @typedef {{from: string, to: string, step: number, op: Operation | null, cut: PathCut | null}} Edge
 *   from: a tensor of which `to` was computed, at that step; cut: the event that says no gradient comes back
 */

/** Operations that take a tensor's shape and none of its values. */
const SHAPE_ONLY_OPERATIONS = /_like$|_like\.|::new_/;

/** @type {WeakMap<object, Dataflow>} */
const cache = new WeakMap();

/** The dataflow of a run, made once. @param {import("./run_facts.js").RunFacts} facts */
export function dataflow(facts) {
  const flow = cache.get(facts.trace) ?? new Dataflow(facts);
  cache.set(facts.trace, flow);
  return flow;
}

class Dataflow {
  /** @param {import("./run_facts.js").RunFacts} facts */
  constructor(facts) {
    /** @type {Map<string, Edge[]>} by the tensor that was computed */
    this.edgesInto = new Map();
    /** @type {Map<string, Edge[]>} by the tensor that was read */
    this.edgesOutOf = new Map();
    const cuts = new Map(facts.events("path_cut").map((cut) => [`${cut.tensor} ${cut.result ?? ""}`, cut]));
    for (const op of facts.scan.ops()) {
      if (SHAPE_ONLY_OPERATIONS.test(op.name) || (facts.steps[op.step].visit && !op.grad_mode)) continue;
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
    const firstOnStorage = new Map();
    for (const { uid, storage, birth } of facts.index.placements.values()) {
      if (!storage) continue;
      const firstUid = firstOnStorage.get(storage);
      if (!firstUid) firstOnStorage.set(storage, uid);
      const from = firstUid ?? (this.edgesInto.has(uid) ? undefined : temporarySharer(facts, uid, storage, birth));
      if (from && from !== uid && !this.edgesInto.has(uid))
        this.add({ from, to: uid, step: birth, op: null, cut: null });
    }
  }

  /** @param {Edge} edge */
  add(edge) {
    addToList(this.edgesInto, edge.to, edge);
    addToList(this.edgesOutOf, edge.from, edge);
  }

  /**
   * A shortest way from a tensor to one that was computed from it.
   * @param {string} from @param {(string | null)[]} roots @param {number} step the last that counts
   * @returns {Edge[] | null} null where none of the roots was computed from it
   */
  shortestPath(from, roots, step) {
    /** @type {Map<string, Edge | null>} by tensor, the edge that leads on towards a root */
    const edgeOnward = new Map();
    const queue = /** @type {string[]} */ (roots.filter(Boolean));
    for (const rootUid of queue) edgeOnward.set(rootUid, null);
    for (let k = 0; k < queue.length && !edgeOnward.has(from); k++) {
      for (const edge of this.edgesInto.get(queue[k]) ?? []) {
        if (edge.step > step || edgeOnward.has(edge.from)) continue;
        edgeOnward.set(edge.from, edge);
        queue.push(edge.from);
      }
    }
    if (!edgeOnward.has(from)) return null;
    const path = [];
    for (let edge = edgeOnward.get(from); edge; edge = edgeOnward.get(edge.to)) path.push(edge);
    return path;
  }

  /** Everything that was computed from a tensor up to a step, itself included. @param {string} from @param {number} step
   * @returns {Set<string>} */
  descendants(from, step) {
    const reached = new Set([from]);
    for (const uid of reached)
      for (const edge of this.edgesOutOf.get(uid) ?? []) if (edge.step <= step) reached.add(edge.to);
    return reached;
  }
}

/** A tensor that lived within the statement that made another, on the same memory: `a - b` of `(a - b).detach()`.
 * @param {import("./run_facts.js").RunFacts} facts @param {string} uid @param {string} storageUid @param {number} step */
function temporarySharer(facts, uid, storageUid, step) {
  const results = facts.opsAt(step).flatMap(({ outputs }) => outputs);
  return results.find((output) => output !== uid && facts.handle(output, step)?.storage === storageUid);
}
