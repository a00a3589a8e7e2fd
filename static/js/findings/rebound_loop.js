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
      const previous = meanings[k];
      const { line, iter } = facts.steps[step];
      if (out.has(line) || !iter?.length || uid[0] !== "t" || previous.uid[0] !== "t") return;
      const isLeaf =
        history.valueAt(previous.uid, "leaf", step) && history.valueAt(previous.uid, "requires_grad", step);
      if (!isLeaf || !mentionsAt(facts, step).gradReads.includes(name) || facts.scan.read.has(uid)) return;
      const later = facts.names(Math.min(step + 1, facts.steps.length - 1)).tags.get(uid) ?? [];
      const isStored =
        facts.scan.bindings.get(uid)?.some((binding) => `${binding.frame}/${binding.name}` !== key) ||
        later.some(({ kind }) => kind !== "var");
      if (isStored || !isFromLoop(facts, previous.step)) return;
      out.set(line, diagnosisOf(facts, previous, step, name));
    });
  return [...out.values()];
}

/** Whether a name got its meaning at the head of a loop. @param {RunFacts} facts @param {number} step */
function isFromLoop({ steps, trace }, step) {
  return trace.program.statements?.[steps[step].stmt ?? -1]?.kind === "For";
}

/** @param {RunFacts} facts @param {import("./scan.js").Binding} previous @param {number} step @param {string} name @returns {Diagnosis} */
function diagnosisOf(facts, previous, step, name) {
  const x = { code: name };
  const path = (facts.names(step).tags.get(previous.uid) ?? []).find(
    ({ text, kind }) => kind !== "var" && !text.startsWith("."),
  );
  const y = path ? { code: path.text } : x;
  return {
    variant: "rebound",
    cause: facts.place(step),
    chain: [
      link(facts.place(previous.step), "made", { x }, [previous.uid]),
      link(facts.place(step), "moved", { x, code: facts.codeFact(step) }, [previous.uid]),
    ],
    names: namesOf(x, y),
    facts: { x, y, name, code: facts.codeFact(step) },
    fixes: [fix("in_place", facts.place(step))],
  };
}
