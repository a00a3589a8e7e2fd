/** How much of a training ran, and how much of that was recorded: what did not happen is said only of what was seen. */

import { memoizePerRun } from "../facts/memoize_per_run.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Delta } from "../../trace/wire.ts";

interface RunCoverage {
  /** of the training, and those of them that were recorded */
  rounds: number;
  recordedRounds: number;
  /** whether the trace tells of the whole run: it came to its end, and nothing of it was left out */
  isWhole: boolean;
  /** whether steps were left out, in iterations or rounds that were not recorded */
  isThinned: boolean;
  /** backwards that ran in threads which are not recorded */
  otherThreadsBackwards: number;
  /** whether a backward may have run that is not in the trace */
  mayHaveUnseenBackward: boolean;
}

export const runCoverage = memoizePerRun((facts: RunFacts): RunCoverage => {
  const { trace, steps } = facts;
  const rounds = trace.rounds?.count ?? 0;
  const recordedRounds = trace.rounds?.recorded.length ?? 0;
  const hasUnseenSteps = facts.eventsOfKind("optimizer_stepped").some(({ unrecorded }) => unrecorded);
  const isThinned = rounds > recordedRounds || hasUnseenSteps || steps.some(({ skipped }) => skipped);
  const isRegion = Boolean(trace.runtime?.regions?.length) || steps.some(hasEntitiesBeforeRecording);
  const otherThreadsBackwards = facts
    .eventsOfKind("backward_unrecorded")
    .reduce((sum, { count }) => sum + (count ?? 0), 0);
  const isWhole = facts.ranToItsEnd && !isThinned && !isRegion && !otherThreadsBackwards;
  const hasForeignGradient = !facts.backwardCalls.length && steps.some(givesGradient);
  return {
    rounds,
    recordedRounds,
    isWhole,
    isThinned,
    otherThreadsBackwards,
    mayHaveUnseenBackward: !isWhole || hasForeignGradient,
  };
});

type RunStep = RunFacts["steps"][number];

/** Whether the recording began when the program had already made something. */
function hasEntitiesBeforeRecording({ kind, set }: RunStep) {
  return kind === "begin" && Object.keys(set).length > 1;
}

/** Whether a step finds a gradient; where no backward was recorded, another thread's may have left it. */
function givesGradient({ kind, set }: RunStep) {
  const hasGradient = ({ kind: of = "tensor", grad }: Delta) => of === "tensor" && Boolean(grad);
  return kind !== "begin" && Object.values(set ?? {}).some(hasGradient);
}
