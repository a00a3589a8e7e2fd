/** What is computed once for a run, for all who ask. */

/** The function, which computes once for a trace. */
export function memoizePerRun<F extends { trace: object }, T>(compute: (facts: F) => T): (facts: F) => T {
  const known = new WeakMap<object, { value: T }>();
  return (facts) => {
    const computed = known.get(facts.trace) ?? { value: compute(facts) };
    known.set(facts.trace, computed);
    return computed.value;
  };
}
