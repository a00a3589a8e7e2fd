/** A write into one of several views that one operation made at once: unbind, split, chunk, iterating over a tensor. */

import { declareErrorDiagnosis, nameTextOfFact, operationName, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { multiOutputView, findRefusedWrite, linksFromViewToRefusal } from "./refused_write.ts";
import { loopHead } from "../../syntax/statements.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "multi_view_inplace", say: writeToOneOfSeveralViews })];

function writeToOneOfSeveralViews(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  const view = write && multiOutputView(write);
  if (!write?.op.grad_mode || !view || !write.tensor.requires_grad) return null;
  const viewStep = view.op.step;
  const { step, op } = write;
  const x = facts.nameFact(view.uid, step);
  const y = facts.nameFact(view.op.inputs[0], viewStep);
  const isLoop = facts.steps[viewStep].kind === "head" && loopHead(facts.syntax(viewStep)) !== null;
  const name = nameTextOfFact(x);
  return {
    variant: isLoop ? "loop" : undefined,
    cause: step,
    chain: linksFromViewToRefusal(write, view),
    names: [x, y],
    facts: {
      x,
      y,
      by: operationName(view.op.name),
      n: view.op.outputs.length,
      write: operationName(op.name),
      made_line: facts.lineOf(viewStep),
    },
    fixes: [
      ["under_no_grad", { name }, isLoop ? viewStep : step],
      ["out_of_place", { name }],
      ["clone_before", { name }],
    ],
  };
}
