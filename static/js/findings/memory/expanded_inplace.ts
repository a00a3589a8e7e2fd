/** A write into a tensor of which several elements are one cell in memory. */

import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { namedWriteTargetUid, hasRepeatedCells, findRefusedWrite } from "./refused_write.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "expanded_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToExpanded, onError: true },
];

function diagnoseInPlaceWriteToExpanded(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  if (!write || !hasRepeatedCells(write.tensor)) return [];
  if (write.op.grad_mode && write.tensor.leaf && write.tensor.requires_grad) return [];
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
  const findingFacts = {
    x,
    y,
    expand: firstExpand ? operationName(firstExpand.op.name) : "expand",
    write: operationName(op.name),
    elements: elementCount(whole.shape ?? []),
    cells: elementCount((whole.shape ?? []).filter((_, k) => whole.stride?.[k] !== 0)),
    made_line: facts.lineOf(expandStep),
  };
  const chain = [
    chainLink(facts.place(expandStep), "shares", { ...findingFacts, code: facts.statementFact(expandStep) }, [target]),
  ];
  chain.push(chainLink(facts.place(step), "checked", { ...findingFacts, code: facts.statementFact(step) }, [target]));
  const name = facts.nameText(target, step) ?? "";
  return [
    {
      cause: facts.place(step),
      chain,
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [
        fixHint("clone_result", facts.place(facts.birthStep(target)), { name }),
        fixHint("clone_before", facts.place(step), { name }),
        fixHint("out_of_place", facts.place(step), { name }),
      ],
      explainsError: true,
    },
  ];
}

function elementCount(sizes: number[]) {
  return sizes.reduce((product, size) => product * size, 1);
}
