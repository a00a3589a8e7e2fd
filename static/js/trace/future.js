/** What of a run its reader has seen: a trace of its first steps, which knows nothing of those after them. */

/** @typedef {import("./wire.js").Trace} Trace */

/** Traces whose later steps are hidden. @type {WeakSet<Trace>} */
const PARTIAL_TRACES = new WeakSet();

/** Whether more steps follow than the trace shows. @param {Trace} trace */
export const hidesFuture = (trace) => PARTIAL_TRACES.has(trace);

/**
 * @param {Trace} trace @param {number} last the last step that is shown
 * @returns {Trace} the trace itself where that is its last; how the run ended is known once the step that raised is shown
 */
export function traceUntil(trace, last) {
  if (last >= trace.steps.length - 1) return trace;
  const { error } = trace.outcome;
  const hasRaised = typeof error?.step === "number" && error.step <= last;
  /** @type {Trace} */
  const partialTrace = {
    ...trace,
    steps: trace.steps.slice(0, last + 1),
    outcome: hasRaised ? trace.outcome : { status: "finished" },
    gradient_check: null,
  };
  PARTIAL_TRACES.add(partialTrace);
  return partialTrace;
}

/** Where a run has been seen when its last step worth looking at has been: its end says nothing of its own.
 * @param {Trace} trace @param {number} last @returns {number} the last step that is shown */
export function lastShownStep({ steps }, last) {
  return steps.slice(last + 1).every(({ kind }) => kind === "end") ? Math.max(last, steps.length - 1) : last;
}
