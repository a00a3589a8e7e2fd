/** Values that left torch on their way to a loss: `item()`, `numpy()`, `tolist()`, `torch.tensor(x)`. */

import type { Link, RunFacts } from "../diagnosis.ts";
import type { PathCutEvent } from "../facts/dataflow.ts";
import { methodCalls, receiver } from "../../syntax/expressions.ts";
import type { GradNoneReason } from "./grad_none_reason.ts";

/** A value that left torch, of what was computed from a tensor: `item()`, `numpy()`, `torch.tensor(x)`. */
export function pythonConversionReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const computedFrom = facts.dataflow.descendants(uid, step);
  const cut = facts
    .eventsOfKind("path_cut")
    .find((event) => event.step <= step && isCutByLeavingTorch(facts, event) && computedFrom.has(event.tensor));
  if (!cut) return convertedToListReason(facts, computedFrom, step);
  const y = facts.nameFact(cut.tensor, cut.step);
  return {
    variant: `cut_${cut.reason}`,
    severity: "warning",
    cause: cut.step,
    chain: [[cut.step, "cut", [cut.tensor, cut.result], { x: y }]],
    facts: { y },
    fixes: ["keep_history"],
  };
}

/** Numbers that `tolist()` took out of torch, which no operation shows. */
function convertedToListReason(facts: RunFacts, computedFrom: Set<string>, step: number): GradNoneReason | null {
  for (let i = 0; i <= step; i++) {
    const [call] = ["statement", "return"].includes(facts.steps[i].kind) ? methodCalls(facts.syntax(i), "tolist") : [];
    const object = call ? receiver(call) : null;
    const tensorUid = object && (facts.resolve(object, i, i - 1) ?? facts.resolve(object, i));
    if (!tensorUid || !computedFrom.has(tensorUid) || !facts.history.valueAt(tensorUid, "requires_grad", i)) continue;
    const y = facts.nameFact(tensorUid, i - 1);
    const chain: Link[] = [[i, "cut", [tensorUid], { x: y }]];
    return { variant: "cut_item", severity: "warning", cause: i, chain, facts: { y }, fixes: ["keep_history"] };
  }
  return null;
}

function isCutByLeavingTorch(facts: RunFacts, { reason, step }: PathCutEvent) {
  if (["item", "numpy", "copy"].includes(reason)) return true;
  const isToArray = methodCalls(facts.syntax(step), "numpy", "tolist").length > 0;
  return ["detach", "data"].includes(reason) && isToArray;
}
