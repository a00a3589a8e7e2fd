/** The statement that ran a backward: its step comes after the visits of the nodes. */

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
