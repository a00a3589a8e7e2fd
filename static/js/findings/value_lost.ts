/** Values that left torch on their way to a loss: `item()`, `numpy()`, `tolist()`, `torch.tensor(x)`. */

import { dataflow, type PathCut } from "./dataflow.ts";
import { link } from "./finding.ts";
import { resolve } from "./resolve.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Reason } from "./grad_none_reason.ts";

/** A value that left torch, of what was computed from a tensor: `item()`, `numpy()`, `torch.tensor(x)`. */
export function valueLeftTorch(facts: RunFacts, uid: string, step: number): Reason | null {
  const computedFrom = dataflow(facts).descendants(uid, step);
  const cut = facts
    .events("path_cut")
    .find((event) => event.step <= step && leavesTorch(facts, event) && computedFrom.has(event.tensor));
  if (!cut) return convertedToList(facts, computedFrom, step);
  const y = facts.nameFact(cut.tensor, cut.step);
  const findingFacts = { y, code: facts.codeFact(cut.step) };
  const chain = [link(facts.place(cut.step), "cut", { x: y, ...findingFacts }, [cut.tensor, cut.result])];
  return {
    variant: `cut_${cut.reason}`,
    severity: "warning",
    cause: cut.step,
    chain,
    facts: findingFacts,
    fixes: ["keep_history"],
  };
}

/** Numbers that `tolist()` took out of torch, which no operation shows. */
function convertedToList(facts: RunFacts, computedFrom: Set<string>, step: number): Reason | null {
  for (let i = 0; i <= step; i++) {
    const path = ["statement", "return"].includes(facts.steps[i].kind)
      ? /([A-Za-z_][\w.[\]]*)\.tolist\(/.exec(facts.code(i))
      : null;
    const tensorUid = path ? (resolve(facts, path[1], i, i - 1) ?? resolve(facts, path[1], i)) : null;
    if (!tensorUid || !computedFrom.has(tensorUid) || !tensorHistory(facts).valueAt(tensorUid, "requires_grad", i))
      continue;
    const y = facts.nameFact(tensorUid, i - 1);
    const findingFacts = { y, code: facts.codeFact(i) };
    const chain = [link(facts.place(i), "cut", { x: y, ...findingFacts }, [tensorUid])];
    return { variant: "cut_item", severity: "warning", cause: i, chain, facts: findingFacts, fixes: ["keep_history"] };
  }
  return null;
}

function leavesTorch(facts: RunFacts, { reason, step }: PathCut) {
  if (["item", "numpy", "copy"].includes(reason)) return true;
  return ["detach", "data"].includes(reason) && /\.(numpy|tolist)\(/.test(facts.code(step)); // only on its way to an array
}
