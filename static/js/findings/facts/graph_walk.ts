/** Ways through the autograd graph and through the operations of a run, from a result back to what it came from. */

import { addToList } from "../../trace/multimap.ts";
import { memoizePerRun } from "./memoize_per_run.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Operation } from "./scan.ts";

/** where a result stopped requiring grad: of which tensor, by which operation or why */
export interface GraphCut {
  tensor: string;
  result: string | null;
  step: number;
  op: string;
  reason: string;
}

const MAX_VISITED_TENSORS = 20000;

/** The nodes from one to another by the fewest edges, both included; null where no way leads there. */
export function shortestNodePath(facts: RunFacts, from: string, isGoal: (node: string) => boolean): string[] | null {
  const previousNode: Map<string, string | null> = new Map([[from, null]]);
  const queue = [from];
  for (let k = 0; k < queue.length && k < MAX_VISITED_TENSORS; k++) {
    const nodeUid = queue[k];
    if (isGoal(nodeUid)) {
      const path = [];
      for (let pathNode = nodeUid as string | null | undefined; pathNode; pathNode = previousNode.get(pathNode))
        path.unshift(pathNode);
      return path;
    }
    for (const edge of facts.index.nodes.get(nodeUid)?.next ?? []) {
      if (!edge || previousNode.has(edge[0])) continue;
      previousNode.set(edge[0], nodeUid);
      queue.push(edge[0]);
    }
  }
  return null;
}

/** All nodes that a gradient from a node may reach, itself included. */
export function reachableNodes(facts: RunFacts, from: string): Set<string> {
  const seen = new Set([from]);
  for (const nodeUid of seen) {
    if (seen.size > MAX_VISITED_TENSORS) break;
    for (const edge of facts.index.nodes.get(nodeUid)?.next ?? []) if (edge) seen.add(edge[0]);
  }
  return seen;
}

/** What a value was computed from, whether gradients can follow or not: every tensor behind it, the nearest first,
 * and the cuts on the way. Behind a cut it goes on. */
export function ancestorsAndCuts(facts: RunFacts, uid: string, step: number): { tensors: string[]; cuts: GraphCut[] } {
  const seen = new Set([uid]);
  const cuts: GraphCut[] = [];
  for (const tensorUid of seen) {
    if (seen.size > MAX_VISITED_TENSORS) break;
    for (const { from, cut } of directSourcesOf(facts, tensorUid, step)) {
      if (cut) cuts.push(cut);
      seen.add(from);
    }
  }
  return { tensors: [...seen], cuts };
}

/** The tensors that one was made of, each with the cut between, if there is one. */
function directSourcesOf(facts: RunFacts, uid: string, step: number): { from: string; cut: GraphCut | null }[] {
  const cuts = cutsByResult(facts).get(uid) ?? [];
  const out: { from: string; cut: GraphCut | null }[] = cuts.map((cut) => ({ from: cut.tensor, cut }));
  for (const op of [facts.producingOperation(uid), ...inPlaceOperationsOn(facts, uid, step)]) {
    if (!op) continue;
    const requiredGrad = op.requires_grad[op.outputs.indexOf(uid)] ?? facts.tensor(uid, op.step)?.requires_grad;
    for (const from of inputsOfOutput(op, uid)) {
      if (from === uid || out.some((listed) => listed.from === from)) continue;
      const isLost = !requiredGrad && facts.tensor(from, op.step)?.requires_grad && op.step === facts.birthStep(uid);
      const cut = isLost
        ? { tensor: from, result: uid, step: op.step, op: op.name, reason: cutReason(facts, op) }
        : null;
      out.push({ from, cut });
    }
  }
  return out;
}

/** The inputs that an output of an operation was made of. */
function inputsOfOutput({ name, inputs, outputs }: Operation, uid: string) {
  return name === "aten::broadcast_tensors" ? inputs.slice(outputs.indexOf(uid), outputs.indexOf(uid) + 1) : inputs;
}

function cutReason(facts: RunFacts, op: Operation) {
  const call = facts.backwardAt(op.step);
  // a statement may compute a loss and call its backward, which visits nothing where it raises at once
  if (call && (call.step < op.step || facts.steps[op.step].kind === "visit")) return "create_graph";
  return op.grad_mode ? "dtype" : "no_grad";
}

/** Operations that wrote into a tensor in place. */
function inPlaceOperationsOn(facts: RunFacts, uid: string, step: number) {
  return (facts.scan.inPlaceOperationsByTensor.get(uid) ?? []).filter((op) => op.step <= step);
}

/** The cuts that the recorder observed, by the result. */
const cutsByResult = memoizePerRun((facts: RunFacts): Map<string, GraphCut[]> => {
  const out = new Map<string, GraphCut[]>();
  for (const { tensor, result = null, step, name, reason } of facts.eventsOfKind("path_cut")) {
    if (!result) continue;
    addToList(out, result, { tensor, result, step, op: name, reason });
  }
  return out;
});
