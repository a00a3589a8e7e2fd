/** A tensor that requires grad was to become a numpy array. */

import { mentionedTensors, receiverOf } from "../statements/mentioned_entities.ts";
import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "numpy_requires_grad", severity: "error", diagnose: diagnoseNumpyOfRequiresGrad, onError: true },
];

function diagnoseNumpyOfRequiresGrad(facts: RunFacts): Diagnosis[] {
  if (!/Can't call numpy\(\) on Tensor that requires grad/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const askedTensor = receiverOf(facts, step, "numpy");
  const requiresGrad = (uid: string) => facts.tensor(uid, step)?.requires_grad;
  const mention =
    askedTensor && requiresGrad(askedTensor.uid)
      ? askedTensor
      : mentionedTensors(facts, step).find(({ uid }) => requiresGrad(uid));
  const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(requiresGrad))?.outputs[0] ?? null;
  const tensor = facts.tensor(uid, step);
  const x = facts.nameFact(uid, step);
  const findingFacts = {
    x,
    code: facts.statementFact(step),
    op: tensor?.grad_fn ? facts.nodeOperationName(tensor.grad_fn) : "",
  };
  const birthStep = facts.birthStep(uid);
  const chain = [chainLink(facts.place(step), "checked", findingFacts, [uid])];
  if (birthStep >= 0 && birthStep < step)
    chain.unshift(
      chainLink(facts.place(birthStep), "made", { ...findingFacts, code: facts.statementFact(birthStep) }, [uid]),
    );
  return [
    {
      variant: tensor?.leaf ? "leaf" : undefined,
      cause: facts.place(step),
      chain,
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [fixHint("detach_before_numpy", facts.place(step), { name: mention?.text ?? "" })],
      explainsError: true,
    },
  ];
}
