/** The tensors that are gradients of others. */

import { tensorHistoryOf } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";

const gradientUidsByTrace = new WeakMap<object, Set<string>>();

/** The uids of the tensors that a backward left in a `.grad`, once for a trace. */
export function gradientTensors(facts: RunFacts): Set<string> {
  const cached = gradientUidsByTrace.get(facts.trace);
  if (cached) return cached;
  const history = tensorHistoryOf(facts);
  const values = facts
    .eventsOfKind("grad_accumulated")
    .map(({ tensor, step }) => history.valueAt(tensor, "grad", step));
  const out = new Set(values.filter((uid) => typeof uid === "string"));
  gradientUidsByTrace.set(facts.trace, out);
  return out;
}
