/** Where a statement begins: its step comes after those of the nodes and functions that it ran. */

import type { Step } from "./../wire.ts";

/** The first visit of a backward that a statement's step ends; null where it ends none. */
export function firstVisitStepOfStatement(steps: Step[], i: number): number | null {
  const step = steps[i];
  if (step?.kind !== "statement" || typeof step.stmt !== "number") return null;
  let first = null;
  for (let k = i - 1; k >= 0; k--) {
    const { visit, frame, stmt } = steps[k];
    if (frame !== step.frame) continue; // of a function that backward calls: a hook, a checkpoint
    if (stmt !== step.stmt) break;
    if (visit) first = k;
  }
  return first;
}

/** The last step before a statement that a step ends, and before the functions and nodes that it ran. */
export function stepBeforeStatement(steps: Step[], i: number): number {
  const { frame, stmt, depth } = steps[i];
  const isWithin = (step: Step) =>
    step.frame === frame ? step.stmt === stmt && step.kind !== "statement" && step.kind !== "head" : step.depth > depth;
  let before = i - 1;
  while (before >= 0 && isWithin(steps[before])) before--;
  return before;
}

/** The step that ends the statement that calls a function at a step. */
export function stepAfterCall(steps: Step[], i: number): number {
  const { frame, depth } = steps[i];
  const end = steps.findIndex(
    (step, k) => k > i && step.depth <= depth && (step.frame !== frame || step.kind !== "call"),
  );
  return end < 0 ? steps.length : end;
}
