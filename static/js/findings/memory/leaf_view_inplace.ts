/** A view of a leaf that requires grad was to be written in place while autograd records. */

import { declareErrorDiagnosis, operationName, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { fixesOfLeafWrite, stepThatRequiredGrad } from "./leaf_inplace.ts";
import { findRefusedWrite, hasOtherReason, namedWriteTargetUid } from "./refused_write.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "leaf_view_inplace", say: writeToViewOfLeaf })];

function writeToViewOfLeaf(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  if (!write?.op.grad_mode || !write.views.length || write.tensor.leaf) return null;
  const { base, step, views, op } = write;
  const leaf = facts.tensor(base, step);
  if (!leaf?.leaf || !leaf.requires_grad || hasOtherReason(facts, write)) return null;
  const target = namedWriteTargetUid(facts, write);
  const [x, y] = [facts.nameFact(base, step), facts.nameFact(target, step)];
  const requiredGradStep = stepThatRequiredGrad(facts, base, step);
  const viewStep = facts.birthStep(views[0].uid);
  return {
    variant: target === base ? undefined : "named",
    cause: step,
    chain: [
      [requiredGradStep, "made", [base]],
      viewStep > requiredGradStep && viewStep < step && [viewStep, "shares", [target, base]],
      [step, "checked", [target]],
    ],
    names: [x, y],
    facts: { x, y, write: operationName(op.name), view: operationName(views[0].op.name) },
    fixes: fixesOfLeafWrite(y),
  };
}
