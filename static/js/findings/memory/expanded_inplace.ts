/** A write into a tensor of which several elements are one cell in memory. */

import { declareErrorDiagnosis, operationName, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { numel } from "../../trace/reads.ts";
import { namedWriteTargetUid, hasRepeatedCells, findRefusedWrite } from "./refused_write.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "expanded_inplace", say: writeToExpanded })];

function writeToExpanded(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  if (!write || !hasRepeatedCells(write.tensor)) return null;
  if (write.op.grad_mode && write.tensor.leaf && write.tensor.requires_grad) return null;
  const { step, op, views, tensor } = write;
  const target = namedWriteTargetUid(facts, write);
  const nearestExpand = views.find(({ uid }) => hasRepeatedCells(facts.tensor(uid, step) ?? tensor));
  const firstExpand =
    [...views].reverse().find(({ uid, op: viewOp }) => hasRepeatedCells(facts.tensor(uid, viewOp.step) ?? tensor)) ??
    nearestExpand;
  const expandStep = firstExpand ? firstExpand.op.step : facts.birthStep(target);
  const x = facts.nameFact(target, step);
  const whole = facts.tensor(target, step) ?? tensor;
  const y = firstExpand ? facts.nameFact(firstExpand.op.inputs[0], expandStep) : x;
  const name = facts.nameText(target, step) ?? "";
  return {
    cause: step,
    chain: [
      [expandStep, "shares", [target]],
      [step, "checked", [target]],
    ],
    names: [x],
    facts: {
      x,
      y,
      expand: firstExpand ? operationName(firstExpand.op.name) : "expand",
      write: operationName(op.name),
      elements: numel(whole.shape ?? []),
      cells: numel((whole.shape ?? []).filter((_, k) => whole.stride?.[k] !== 0)),
      made_line: facts.lineOf(expandStep),
    },
    fixes: [
      ["clone_result", { name }, facts.birthStep(target)],
      ["clone_before", { name }],
      ["out_of_place", { name }],
    ],
  };
}
