/** Where the ways from a tensor to a loss lose their history, and which of these places are meant to. */

import type { BackwardCall, RunFacts } from "../diagnosis.ts";
import type { DataflowEdge } from "../facts/dataflow.ts";

/** Whether nothing is recorded of how this was computed, though it was computed from what requires grad. */
export function isGraphCut(facts: RunFacts, edge: DataflowEdge): boolean {
  if (edge.cut) return true;
  const history = facts.history;
  const isNewLeaf = !edge.op && history.fieldChanges(edge.to, "leaf")[0]?.value === true;
  return Boolean(
    history.valueAt(edge.from, "requires_grad", edge.step) && (!requiredGradWhenMade(facts, edge.to) || isNewLeaf),
  );
}

/** Whether a tensor required grad as it was made. */
function requiredGradWhenMade(facts: RunFacts, uid: string) {
  const op = facts.producingOperation(uid);
  const outputIndex = op ? op.outputs.indexOf(uid) : -1;
  return op && op.requires_grad[outputIndex] !== null
    ? op.requires_grad[outputIndex]
    : facts.history.fieldChanges(uid, "requires_grad")[0]?.value;
}

/**
 * The first cut on each way from a tensor to what a backward starts from, since the backward before: one for each
 * statement, in order, and one for all that ran without recording. Integers have no history to keep: they count only
 * where there is nothing else.
 */
export function cutsBeforeBackward(facts: RunFacts, uid: string, call: BackwardCall): DataflowEdge[] {
  const before = facts.backwardCalls.findLast(({ step }) => step < call.step)?.step ?? -1;
  const flow = facts.dataflow;
  const isOfRound = ({ step }: DataflowEdge) => step > before && step <= call.step;
  const leading = new Set(call.roots.filter((root) => root !== null));
  for (const tensor of leading)
    for (const edge of flow.edgesInto.get(tensor) ?? []) if (isOfRound(edge)) leading.add(edge.from);
  const cuts = new Map<string | number, DataflowEdge>();
  const reached = new Set([uid]);
  for (const tensor of reached)
    for (const edge of flow.edgesOutOf.get(tensor) ?? []) {
      if (!isOfRound(edge) || !leading.has(edge.to)) continue;
      if (!isGraphCut(facts, edge)) reached.add(edge.to);
      else {
        const place = edge.op?.grad_mode === false ? "unrecorded" : (facts.steps[edge.step].stmt ?? edge.step);
        if (!cuts.has(place)) cuts.set(place, edge);
      }
    }
  const inOrder = [...cuts.values()].sort((a, b) => a.step - b.step);
  const ofNumbers = inOrder.filter(({ cut }) => cut?.reason !== "dtype");
  return ofNumbers.length ? ofNumbers : inOrder;
}

/**
 * What a cut passes the numbers of on, and whose gradient in its place: `value` and `estimate` of
 * `estimate + (value - estimate).detach()`. Null where it is no such estimator.
 */
export function straightThroughEstimator(
  facts: RunFacts,
  { from, to }: DataflowEdge,
): { value: string; estimate: string } | null {
  const difference = facts.producingOperation(from);
  if (!difference || !/^aten::sub\b/.test(difference.name)) return null;
  const [value, estimate] = difference.inputs;
  const isAddedBack = (facts.dataflow.edgesOutOf.get(to) ?? []).some(
    ({ op }) => op && /^aten::(add|sub)\b/.test(op.name) && op.inputs.includes(estimate),
  );
  return isAddedBack && value !== estimate ? { value, estimate } : null;
}
