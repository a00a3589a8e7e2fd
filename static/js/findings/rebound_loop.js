/** A loop over parameters that gives its variable a new value instead of writing the parameter: nothing keeps the value. */

import { fix, link, namesOf } from "./finding.js";
import { mentionsAt } from "./program_text.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function reboundInLoop(facts) {
  const history = tensorHistory(facts);
  /** @type {Map<number, Diagnosis>} by line */
  const out = new Map();
  for (const [key, meanings] of facts.scan.meanings)
    meanings.slice(1).forEach(({ uid, name, step }, k) => {
      const before = meanings[k];
      const { line, iter } = facts.steps[step];
      if (out.has(line) || !iter?.length || uid[0] !== "t" || before.uid[0] !== "t") return;
      const isLeaf = history.value(before.uid, "leaf", step) && history.value(before.uid, "requires_grad", step);
      if (!isLeaf || !mentionsAt(facts, step).gradReads.includes(name) || facts.scan.read.has(uid)) return;
      const later = facts.names(Math.min(step + 1, facts.steps.length - 1)).tags.get(uid) ?? [];
      const isStored =
        facts.scan.bindings.get(uid)?.some((binding) => `${binding.frame}/${binding.name}` !== key) ||
        later.some(({ kind }) => kind !== "var");
      if (isStored || !isFromLoop(facts, before.step)) return;
      out.set(line, diagnosisOf(facts, before, step, name));
    });
  return [...out.values()];
}

/** Whether a name got its meaning at the head of a loop. @param {RunFacts} facts @param {number} step */
function isFromLoop({ steps, trace }, step) {
  return trace.program.statements?.[steps[step].stmt ?? -1]?.kind === "For";
}

/** @param {RunFacts} facts @param {import("./scan.js").Binding} before @param {number} step @param {string} name @returns {Diagnosis} */
function diagnosisOf(facts, before, step, name) {
  const x = { code: name };
  const path = (facts.names(step).tags.get(before.uid) ?? []).find(
    ({ text, kind }) => kind !== "var" && !text.startsWith("."),
  );
  const y = path ? { code: path.text } : x;
  return {
    variant: "rebound",
    cause: facts.place(step),
    chain: [
      link(facts.place(before.step), "made", { x }, [before.uid]),
      link(facts.place(step), "moved", { x, code: facts.codeFact(step) }, [before.uid]),
    ],
    names: namesOf(x, y),
    facts: { x, y, name, code: facts.codeFact(step) },
    fixes: [fix("in_place", facts.place(step))],
  };
}
