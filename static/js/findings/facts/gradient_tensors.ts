/** The tensors that are gradients of others. */

import { memoizePerRun } from "./memoize_per_run.ts";
import type { RunFacts } from "./run_facts.ts";

/** The uids of the tensors that a backward left in a `.grad`. */
export const gradientTensors = memoizePerRun((facts: RunFacts): Set<string> => {
  const values = facts
    .eventsOfKind("grad_accumulated")
    .map(({ tensor, step }) => facts.history.valueAt(tensor, "grad", step));
  return new Set(values.filter((uid) => typeof uid === "string"));
});
