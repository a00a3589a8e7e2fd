/** A loop over parameters that gives its variable a new value instead of writing the parameter: nothing keeps the value. */

import { fixHint, chainLink, namesInFacts, type Diagnosis } from "./finding.ts";
import { mentionsAt } from "./program_text.ts";
import { tensorHistoryOf } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";
import type { NameBinding } from "./scan.ts";

export function diagnoseParameterReboundInLoop(facts: RunFacts): Diagnosis[] {
  const history = tensorHistoryOf(facts);
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const [key, meanings] of facts.scan.meaningsByName)
    meanings.slice(1).forEach(({ uid, name, step }, k) => {
      const previous = meanings[k];
      const { line, iter } = facts.steps[step];
      if (out.has(line) || !iter?.length || uid[0] !== "t" || previous.uid[0] !== "t") return;
      const isLeaf =
        history.valueAt(previous.uid, "leaf", step) && history.valueAt(previous.uid, "requires_grad", step);
      if (!isLeaf || !mentionsAt(facts, step).gradReads.includes(name) || facts.scan.tensorsRead.has(uid)) return;
      const later = facts.namesAt(Math.min(step + 1, facts.steps.length - 1)).tags.get(uid) ?? [];
      const isStored =
        facts.scan.bindingsByUid.get(uid)?.some((binding) => `${binding.frame}/${binding.name}` !== key) ||
        later.some(({ kind }) => kind !== "var");
      if (isStored || !isBoundByLoop(facts, previous.step)) return;
      out.set(line, diagnosisOf(facts, previous, step, name));
    });
  return [...out.values()];
}

/** Whether a name got its meaning at the head of a loop. */
function isBoundByLoop({ steps, trace }: RunFacts, step: number) {
  return trace.program.statements?.[steps[step].stmt ?? -1]?.kind === "For";
}

function diagnosisOf(facts: RunFacts, previous: NameBinding, step: number, name: string): Diagnosis {
  const x = { code: name };
  const path = (facts.namesAt(step).tags.get(previous.uid) ?? []).find(
    ({ text, kind }) => kind !== "var" && !text.startsWith("."),
  );
  const y = path ? { code: path.text } : x;
  return {
    variant: "rebound",
    cause: facts.place(step),
    chain: [
      chainLink(facts.place(previous.step), "made", { x }, [previous.uid]),
      chainLink(facts.place(step), "moved", { x, code: facts.statementFact(step) }, [previous.uid]),
    ],
    names: namesInFacts(x, y),
    facts: { x, y, name, code: facts.statementFact(step) },
    fixes: [fixHint("in_place", facts.place(step))],
  };
}
