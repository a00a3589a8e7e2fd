/** Backward was asked of a tensor of several numbers, without the gradient to start with. */

import { mentionedTensors, receiverOf } from "../statements/mentioned_entities.ts";
import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "not_scalar", severity: "error", diagnose: diagnoseBackwardOfNonScalar, onError: true },
];

function diagnoseBackwardOfNonScalar(facts: RunFacts): Diagnosis[] {
  if (!/grad can be implicitly created only for (?:scalar|real scalar)/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const hasSeveral = (uid: string) => {
    const tensor = facts.tensor(uid, step);
    return Boolean(tensor?.requires_grad) && elementCount(tensor?.shape) !== 1;
  };
  const askedTensor = receiverOf(facts, step, "backward");
  const mention =
    askedTensor && hasSeveral(askedTensor.uid)
      ? askedTensor
      : mentionedTensors(facts, step).find(({ uid }) => hasSeveral(uid));
  const lastOutput = mention ? null : facts.opsAt(step).at(-1)?.outputs[0];
  const uid = mention?.uid ?? lastOutput ?? null;
  const shape = facts.tensor(uid, step)?.shape ?? [];
  if (elementCount(shape) === 1) return []; // a complex number
  const birthStep = facts.birthStep(uid);
  const y = facts.nameFact(uid, step);
  const findingFacts = {
    y,
    n: elementCount(shape),
    shape: `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`,
    code: facts.statementFact(step),
  };
  const chain = [chainLink(facts.place(step), "checked", findingFacts, [uid])];
  if (birthStep >= 0 && birthStep < step)
    chain.unshift(
      chainLink(facts.place(birthStep), "made", { ...findingFacts, x: y, code: facts.statementFact(birthStep) }, [uid]),
    );
  return [
    {
      cause: facts.place(step),
      chain,
      names: namesInFacts(y),
      facts: findingFacts,
      fixes: [
        fixHint("sum_first", facts.place(step), { name: mention?.text ?? "" }),
        fixHint("mean_first", facts.place(step), { name: mention?.text ?? "" }),
      ],
      explainsError: true,
    },
  ];
}

function elementCount(shape: number[] | null | undefined) {
  return (shape ?? []).reduce((product, size) => product * size, 1);
}
