/** How many steps there are, and of how many the findings of a trace looked at the operations. */

import { DIAGNOSES } from "../../static/js/findings/registry.ts";
import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function operationsLookedAt(trace) {
  const facts = new RunFacts(openTrace(trace));
  const found = DIAGNOSES.filter((row) => !row.onError).flatMap(({ diagnose }) => diagnose(facts));
  return { steps: facts.steps.length, lookedAt: facts.scan._opsAt.size, findings: found.length };
}
