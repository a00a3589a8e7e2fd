/** What a tensor's numbers were computed from, whether or not gradients go the same way back. */

import { memoizePerRun } from "./memoize_per_run.ts";
import { addToList } from "../../trace/multimap.ts";
import type { RecordedRun } from "./recorded_run.ts";
import type { EventOccurrence, Operation } from "./scan.ts";

export type PathCutEvent = EventOccurrence<"path_cut">;

export interface DataflowEdge {
  /** a tensor of which `to` was computed, at that step */
  from: string;
  to: string;
  step: number;
  op: Operation | null;
  /** the event that says no gradient comes back */
  cut: PathCutEvent | null;
}

/** Operations that take a tensor's shape and none of its values. */
export const SHAPE_ONLY_OPERATIONS = /_like$|_like\.|::new_|::resize_as_/;

/** An operation that gives each of its inputs back, in one shape. */
const MEETS_NOTHING = /::broadcast_tensors\b/;

/** The dataflow of a run. */
export const dataflowOf = memoizePerRun((facts: RecordedRun) => new Dataflow(facts));

class Dataflow {
  /** by the tensor that was computed */
  edgesInto = new Map<string, DataflowEdge[]>();
  /** by the tensor that was read */
  edgesOutOf = new Map<string, DataflowEdge[]>();

  constructor(facts: RecordedRun) {
    const cuts = new Map(facts.eventsOfKind("path_cut").map((cut) => [`${cut.tensor} ${cut.result ?? ""}`, cut]));
    for (const op of facts.scan.allOperations()) {
      if (SHAPE_ONLY_OPERATIONS.test(op.name) || (facts.steps[op.step].visit && !op.grad_mode)) continue;
      for (const to of op.outputs)
        for (const from of op.inputs)
          if (from !== to && !(MEETS_NOTHING.test(op.name) && op.inputs.includes(to)))
            this.addEdge({ from, to, step: op.step, op, cut: cuts.get(`${from} ${to}`) ?? null });
    }
    for (const cut of facts.eventsOfKind("path_cut"))
      if (cut.result && !facts.producingOperation(cut.result))
        this.addEdge({ from: cut.tensor, to: cut.result, step: cut.step, op: null, cut });
    this.addMemorySharers(facts);
  }

  /** Handles that no operation made read the memory of an earlier one: `detach()`, `from_numpy`, `state_dict`. */
  addMemorySharers(facts: RecordedRun) {
    /** by storage, its first handle */
    const firstOnStorage = new Map<string, string>();
    /** what the operations of a step gave, by storage */
    const resultsAt = new Map<number, Map<string, string[]>>();
    /** A tensor that lived within the statement that made another, on its memory: `a - b` of `(a - b).detach()`. */
    const temporaryOnSameMemory = (step: number, uid: string, storage: string) => {
      const results = resultsAt.get(step) ?? resultsByStorage(facts, step);
      resultsAt.set(step, results);
      return results.get(storage)?.find((output) => output !== uid);
    };
    for (const { uid, storage, birth } of facts.index.placements.values()) {
      if (!storage) continue;
      const firstUid = firstOnStorage.get(storage);
      if (!firstUid) firstOnStorage.set(storage, uid);
      const from = firstUid ?? (this.edgesInto.has(uid) ? undefined : temporaryOnSameMemory(birth, uid, storage));
      if (from && from !== uid && !this.edgesInto.has(uid))
        this.addEdge({ from, to: uid, step: birth, op: null, cut: null });
    }
  }

  addEdge(edge: DataflowEdge) {
    addToList(this.edgesInto, edge.to, edge);
    addToList(this.edgesOutOf, edge.from, edge);
  }

  /**
   * A shortest way from a tensor to one that was computed from it, up to a step; null where none of the roots was
   * computed from it.
   */
  shortestPath(from: string, roots: (string | null)[], step: number): DataflowEdge[] | null {
    /** by tensor, the edge that leads on towards a root */
    const edgeOnward = new Map<string, DataflowEdge | null>();
    const queue = roots.filter(Boolean) as string[];
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

  /** Everything that tensors were computed from, themselves included. */
  ancestors(uids: Iterable<string>): Set<string> {
    const seen = new Set(uids);
    for (const uid of seen) for (const { from } of this.edgesInto.get(uid) ?? []) seen.add(from);
    return seen;
  }

  /** Everything that was computed from a tensor up to a step, itself included. */
  descendants(from: string, step: number): Set<string> {
    const reached = new Set([from]);
    for (const uid of reached)
      for (const edge of this.edgesOutOf.get(uid) ?? []) if (edge.step <= step) reached.add(edge.to);
    return reached;
  }
}

function resultsByStorage(facts: RecordedRun, step: number): Map<string, string[]> {
  const results = new Map<string, string[]>();
  for (const output of facts.opsAt(step).flatMap(({ outputs }) => outputs)) {
    const storage = facts.handle(output, step)?.storage;
    if (storage) addToList(results, storage, output);
  }
  return results;
}
