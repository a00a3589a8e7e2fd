/** What of a run there is to see: a trace of its first steps, which knows nothing of those after them. */

import type { Trace } from "../wire.ts";

/** Traces whose later steps are hidden. */
const TRACES_WITH_HIDDEN_STEPS = new WeakSet<Trace>();

/** Whether the trace is of a program that still runs: its first steps, as far as they have arrived. */
export const isStillRunning = (trace: Trace) => trace.outcome.status === "running";

/** Whether more steps follow than the trace shows: its reader predicts them, or they have not arrived. */
export const hasHiddenSteps = (trace: Trace) => TRACES_WITH_HIDDEN_STEPS.has(trace) || isStillRunning(trace);

/**
 * The trace up to a step, itself where that is its last. How the run ended is known once the step that raised is shown.
 */
export function truncateTrace(trace: Trace, last: number): Trace {
  if (last >= trace.steps.length - 1) return trace;
  const { error } = trace.outcome;
  const hasRaised = typeof error?.step === "number" && error.step <= last;
  const partialTrace: Trace = {
    ...trace,
    steps: trace.steps.slice(0, last + 1),
    outcome: hasRaised ? trace.outcome : { status: "finished" },
  };
  TRACES_WITH_HIDDEN_STEPS.add(partialTrace);
  return partialTrace;
}

/**
 * The last step that is shown once a run has been seen up to the step `last`: its end is shown with the last step worth
 * looking at, as it says nothing of its own.
 */
export function lastStepToShow({ steps }: Trace, last: number): number {
  return steps.slice(last + 1).every(({ kind }) => kind === "end") ? Math.max(last, steps.length - 1) : last;
}
