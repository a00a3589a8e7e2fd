/** What is computed once for a run, for all who ask. */

import type { RunFacts } from "./run_facts.ts";

/** The function, which computes once for a trace. */
export function memoizePerRun<T>(compute: (facts: RunFacts) => T): (facts: RunFacts) => T {
  const known = new WeakMap<object, { value: T }>();
  return (facts) => {
    const computed = known.get(facts.trace) ?? { value: compute(facts) };
    known.set(facts.trace, computed);
    return computed.value;
  };
}
