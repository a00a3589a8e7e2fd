/** The statement whose re-entrant checkpoint ran the code of a step unrecorded. */

import type { RunFacts } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { gradModeSwitchAt } from "./grad_mode.ts";
import { callArgument, calleePath, callsIn, literalValue } from "../../syntax/expressions.ts";

const CHECKPOINTS = new Set(["checkpoint", "checkpoint_sequential"].map((name) => `torch.utils.checkpoint.${name}`));

/** Where a statement under `no_grad` lies within functions that a checkpoint called, the step that ends the
 * checkpoint's statement; the same step where the statement itself is one; null where none is. */
export function checkpointEndStep(facts: RunFacts, step: number) {
  const isReentrantCall = (at: number) =>
    callsIn(facts.syntax(at)).some(
      (call) => CHECKPOINTS.has(calleePath(call) ?? "") && literalValue(callArgument(call, "use_reentrant")) !== false,
    );
  if (isReentrantCall(step)) return step;
  if (gradModeSwitchAt(facts, step)) return null;
  const entities = facts.stateAt(step);
  let uid = findEntity(entities, facts.steps[step].frame ?? "", "frame")?.caller;
  while (uid) {
    const frameUid = uid;
    const endStep = facts.steps.findIndex(
      (traceStep, k) => k > step && traceStep.frame === frameUid && traceStep.kind !== "visit",
    );
    if (endStep > 0 && isReentrantCall(endStep)) return endStep;
    uid = findEntity(entities, frameUid, "frame")?.caller;
  }
  return null;
}
