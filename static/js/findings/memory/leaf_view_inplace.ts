/** A view of a leaf that requires grad was to be written in place while autograd records. */

import { chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { fixesOfLeafWrite, stepThatRequiredGrad } from "./leaf_inplace.ts";
import { operationName } from "../facts/operation_name.ts";
import {
  customFunctionNodeOfTarget,
  multiOutputView,
  namedWriteTargetUid,
  findRefusedWrite,
  viewMadeUnderNoGrad,
} from "./refused_write.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "leaf_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToLeafView, onError: true },
];

function diagnoseInPlaceWriteToLeafView(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  if (!write?.op.grad_mode || !write.views.length || write.tensor.leaf) return [];
  const { base, step, views, op } = write;
  const leaf = facts.tensor(base, step);
  if (!leaf?.leaf || !leaf.requires_grad) return [];
  if (multiOutputView(write) || viewMadeUnderNoGrad(facts, write) || customFunctionNodeOfTarget(facts, write))
    return [];
  const target = namedWriteTargetUid(facts, write);
  const [x, y] = [facts.nameFact(base, step), facts.nameFact(target, step)];
  const requiredGradStep = stepThatRequiredGrad(facts, base, step);
  const findingFacts = {
    x,
    y,
    write: operationName(op.name),
    code: facts.statementFact(step),
    view: operationName(views[0].op.name),
  };
  const chain = [chainLink(facts.place(requiredGradStep), "made", findingFacts, [base])];
  const viewStep = facts.birthStep(views[0].uid);
  if (viewStep > requiredGradStep && viewStep < step)
    chain.push(
      chainLink(facts.place(viewStep), "shares", { ...findingFacts, code: facts.statementFact(viewStep) }, [
        target,
        base,
      ]),
    );
  chain.push(chainLink(facts.place(step), "checked", findingFacts, [target]));
  return [
    {
      variant: target === base ? undefined : "named",
      cause: facts.place(step),
      chain,
      names: namesInFacts(x, y),
      facts: findingFacts,
      fixes: fixesOfLeafWrite(facts, step, y),
      explainsError: true,
    },
  ];
}
