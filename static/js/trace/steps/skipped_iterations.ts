/**
 * What a trace leaves out, and how a second run is asked for it: iterations of a long loop, elements of a big storage.
 */

import type { Focus, Statement, Step, Trace } from "../wire.ts";

/** How many nodes of a backward passed unrecorded before a step. Older traces count them with the statements. */
export function skippedNodes({ kind, skipped, skipped_nodes }: Step) {
  return skipped_nodes ?? (kind === "visit" ? (skipped ?? 0) : 0);
}

/** How many statements, heads, calls and returns passed unrecorded before a step. */
export function skippedStatements(step: Step) {
  return (step.skipped ?? 0) - skippedNodes(step);
}

export interface SkippedIterations {
  /** how many statements */
  skipped: number;
  /** index of the loop's statement */
  loop: number;
  /** iteration counts of the enclosing loops */
  around: number[];
  /** from, to: the skipped iterations, counted from 0; `to` is null where the loop ended in the gap */
  from: number;
  to: number | null;
}

/** The iterations that were skipped just before step `i`; null where none were. */
export function skippedIterationsBefore(trace: Trace, i: number): SkippedIterations | null {
  const traceStep = trace.steps[i];
  if (!traceStep || !skippedStatements(traceStep)) return null;
  if (traceStep.stmt === undefined || traceStep.stmt === null) return null;
  const previousStep = previousStepInFrame(trace, i);
  if (!previousStep) return null;
  const { statements = [] } = trace.program;
  const loopsNow = enclosingLoopStatements(statements, traceStep.stmt, traceStep.kind === "head");
  const loopsBefore = enclosingLoopStatements(statements, previousStep.stmt, previousStep.kind === "head");
  const isSameLoop = traceStep.kind === "head" && loopsBefore.includes(traceStep.stmt);
  const loop = isSameLoop ? traceStep.stmt : loopsBefore.find((loop) => !loopsNow.includes(loop));
  if (loop === undefined) return null;
  const loopLevel = loopsBefore.indexOf(loop);
  const from = (previousStep.iter?.[loopLevel] ?? -1) + 1;
  return {
    skipped: skippedStatements(traceStep),
    loop,
    around: (previousStep.iter ?? []).slice(0, loopLevel),
    from,
    to: isSameLoop ? (traceStep.iter?.[loopLevel] ?? from) - 1 : null,
  };
}

/** The last step before this one that ran a statement of the same frame. */
function previousStepInFrame({ steps }: Trace, i: number): (Step & { stmt: number }) | null {
  for (let k = i - 1; k >= 0; k--) {
    const { frame, stmt } = steps[k];
    if (frame === steps[i].frame && stmt !== undefined && stmt !== null) return { ...steps[k], stmt };
  }
  return null;
}

/** The loops around a statement, outermost first. `inside`: the statement itself counts, where it is a loop. */
function enclosingLoopStatements(statements: Statement[], i: number, inside: boolean) {
  const loops = inside && /^(Async)?For$|^While$/.test(statements[i].kind) ? [i] : [];
  for (let loop = statements[i].loop; loop !== undefined && loop !== null; loop = statements[loop].loop)
    loops.push(loop);
  return loops.reverse();
}

/** The focus that a run was asked for, as a request names it; null where there was none. */
export function requestedFocus(focus?: Focus | null): Focus | null {
  const fields = Object.entries(focus ?? {}).filter(
    ([name, value]) => value !== null && !["counts", "repeatable"].includes(name) && !(name === "step" && value === 0),
  );
  return fields.some(([name]) => name === "loop" || name === "storage") ? Object.fromEntries(fields.sort()) : null;
}

/** The focus of a run that is to show one of the skipped iterations. */
export function iterationFocus({ loop, around }: SkippedIterations, index: number) {
  return { loop, iteration: [...around, index] };
}

/** How many elements one run shows; a quarter of them lie before the one that was asked for, for scrolling back. */
const CELL_WINDOW_SIZE = 512;

/** The focus of a run that is to show the elements around `element` of a big storage. */
export function focusAroundElement(storageUid: string, element: number, step: number) {
  const from = Math.max(0, element - CELL_WINDOW_SIZE / 4);
  return { storage: storageUid, step, from, to: from + CELL_WINDOW_SIZE };
}

/** The step at which an iteration begins, or -1. */
export function firstStepOfIteration({ steps }: Trace, { loop, iteration }: Pick<Focus, "loop" | "iteration">) {
  return steps.findIndex(
    (traceStep) => traceStep.kind === "head" && traceStep.stmt === loop && String(traceStep.iter) === String(iteration),
  );
}

/** Whether two runs printed the same and ended the same way. */
export function haveSameOutput(first: Trace, second: Trace) {
  const observableText = ({ steps, outcome }: Trace) => {
    const entries = steps.flatMap(({ log }) => log);
    const printed = entries.map((entry) => (entry.kind === "out" ? entry.text : "")).join("");
    return JSON.stringify([printed, outcome.status, outcome.error?.message ?? null]);
  };
  return observableText(first) === observableText(second);
}
