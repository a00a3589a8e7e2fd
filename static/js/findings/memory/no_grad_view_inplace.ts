/** A view that was made under no_grad was to be written with grad mode on. */

import { declareErrorDiagnosis, operationName, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { multiOutputView, findRefusedWrite, viewMadeUnderNoGrad, linksFromViewToRefusal } from "./refused_write.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "no_grad_view_inplace", say: writeToNoGradView })];

function writeToNoGradView(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  const view = write && viewMadeUnderNoGrad(facts, write);
  if (!write || !view || multiOutputView(write)) return null;
  const viewStep = view.op.step;
  const { step, op } = write;
  const x = facts.nameFact(view.uid, step);
  const y = facts.nameFact(view.op.inputs[0], viewStep);
  return {
    cause: viewStep,
    chain: linksFromViewToRefusal(write, view),
    names: [x, y],
    facts: {
      x,
      y,
      write: operationName(op.name),
      made_line: facts.lineOf(viewStep),
      write_line: facts.place(step).line,
    },
    fixes: [["out_of_no_grad"], ["under_no_grad", {}, step], ["clone_result"]],
  };
}
