/** A write into one of several views that one operation made at once: unbind, split, chunk, iterating over a tensor. */

import { fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { multiOutputView, findRefusedWrite, linksFromViewToRefusal } from "./refused_write.ts";
import { loopHead } from "../../syntax/statements.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "multi_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToMultiView, onError: true },
];

function diagnoseInPlaceWriteToMultiView(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  const view = write && multiOutputView(write);
  if (!write?.op.grad_mode || !view || !write.tensor.requires_grad) return [];
  const viewStep = view.op.step;
  const { step, op } = write;
  const x = facts.nameFact(view.uid, step);
  const y = facts.nameFact(view.op.inputs[0], viewStep);
  const isLoop = facts.steps[viewStep].kind === "head" && loopHead(facts.syntax(viewStep)) !== null;
  const viewOperation = operationName(view.op.name);
  const findingFacts = {
    x,
    y,
    by: viewOperation,
    n: view.op.outputs.length,
    write: operationName(op.name),
    made_line: facts.lineOf(viewStep),
  };
  const name = typeof x === "object" && "code" in x ? x.code : "";
  return [
    {
      variant: isLoop ? "loop" : undefined,
      cause: facts.place(step),
      chain: linksFromViewToRefusal(facts, write, view, findingFacts),
      names: namesInFacts(x, y),
      facts: findingFacts,
      fixes: [
        fixHint("under_no_grad", facts.place(isLoop ? viewStep : step), { name }),
        fixHint("out_of_place", facts.place(step), { name }),
        fixHint("clone_before", facts.place(step), { name }),
      ],
      explainsError: true,
    },
  ];
}
