/** A loop over parameters that gives its variable a new value instead of writing the parameter: nothing keeps the value. */

import { fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { mentionsAt } from "./program_text.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Binding } from "./scan.ts";

export function reboundInLoop(facts: RunFacts): Diagnosis[] {
  const history = tensorHistory(facts);
  /** by line */
  const out = new Map<number, Diagnosis>();
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

/** Whether a name got its meaning at the head of a loop. */
function isFromLoop({ steps, trace }: RunFacts, step: number) {
  return trace.program.statements?.[steps[step].stmt ?? -1]?.kind === "For";
}

function diagnosisOf(facts: RunFacts, previous: Binding, step: number, name: string): Diagnosis {
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
