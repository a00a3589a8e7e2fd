/** A view that was made under no_grad was to be written with grad mode on. */

import { fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { multiOutputView, findRefusedWrite, viewMadeUnderNoGrad, linksFromViewToRefusal } from "./refused_write.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "no_grad_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToNoGradView, onError: true },
];

function diagnoseInPlaceWriteToNoGradView(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  const view = write && viewMadeUnderNoGrad(facts, write);
  if (!write || !view || multiOutputView(write)) return [];
  const viewStep = view.op.step;
  const { step, op } = write;
  const x = facts.nameFact(view.uid, step);
  const y = facts.nameFact(view.op.inputs[0], viewStep);
  const findingFacts = {
    x,
    y,
    write: operationName(op.name),
    made_line: facts.lineOf(viewStep),
    write_line: facts.place(step).line,
  };
  return [
    {
      cause: facts.place(viewStep),
      chain: linksFromViewToRefusal(facts, write, view, findingFacts),
      names: namesInFacts(x, y),
      facts: findingFacts,
      fixes: [
        fixHint("out_of_no_grad", facts.place(viewStep)),
        fixHint("under_no_grad", facts.place(step), {}),
        fixHint("clone_result", facts.place(viewStep)),
      ],
      explainsError: true,
    },
  ];
}
