/** Values that left torch on their way to a loss: `item()`, `numpy()`, `tolist()`, `torch.tensor(x)`. */

import { dataflow } from "./dataflow.js";
import { link } from "./finding.js";
import { resolve } from "./resolve.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./grad_none_reasons.js").Reason} Reason */

/** A value that left torch, of what was computed from a tensor: `item()`, `numpy()`, `torch.tensor(x)`.
 * @param {RunFacts} facts @param {string} uid @param {number} step @returns {Reason | null} */
export function valueLeftTorch(facts, uid, step) {
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

/** Numbers that `tolist()` took out of torch, which no operation shows. @param {RunFacts} facts @param {Set<string>} computedFrom
 * @param {number} step @returns {Reason | null} */
function convertedToList(facts, computedFrom, step) {
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

/** @param {RunFacts} facts @param {import("./dataflow.js").PathCut} event */
function leavesTorch(facts, { reason, step }) {
  if (["item", "numpy", "copy"].includes(reason)) return true;
  return ["detach", "data"].includes(reason) && /\.(numpy|tolist)\(/.test(facts.code(step)); // only on its way to an array
}
