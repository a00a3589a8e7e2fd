/** A tensor of integers or booleans was to require grad. */

import { mentionedTensors, receiverOf } from "../statements/mentioned_entities.ts";
import { nameBoundAt } from "../graph/no_graph.ts";
import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { pathText } from "../../syntax/expressions.ts";
import { assignments } from "../../syntax/statements.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "int_requires_grad", severity: "error", diagnose: diagnoseRequiresGradOfIntegers, onError: true },
];

const DTYPE_REQUIRES_GRAD_ERROR = /only Tensors of floating point (?:and complex )?dtype can require gradients/i;

function diagnoseRequiresGradOfIntegers(facts: RunFacts): Diagnosis[] {
  if (!DTYPE_REQUIRES_GRAD_ERROR.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const isIntegral = (uid: string) => /int|bool/.test(facts.tensor(uid, step)?.dtype ?? "");
  const askedTensor = receiverOf(facts, step, "requires_grad_") ?? null;
  const mention =
    askedTensor && isIntegral(askedTensor.uid)
      ? askedTensor
      : mentionedTensors(facts, step).find(({ uid }) => isIntegral(uid));
  const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(isIntegral))?.outputs[0] ?? null;
  const tree = facts.syntax(step);
  const target = tree && pathText(assignments(tree)[0]?.target ?? null);
  const x = mention
    ? { code: mention.text }
    : target
      ? { code: target }
      : (nameBoundAt(facts, step) ?? facts.nameFact(uid, step));
  const creationStep = facts.birthStep(uid);
  const birthStep = mention && creationStep >= 0 ? creationStep : step;
  const findingFacts = { x, dtype: facts.tensor(uid, step)?.dtype ?? "int64", code: facts.statementFact(step) };
  const chain = [chainLink(facts.place(step), "checked", findingFacts, [uid])];
  if (birthStep < step)
    chain.unshift(
      chainLink(facts.place(birthStep), "made", { ...findingFacts, code: facts.statementFact(birthStep) }, [uid]),
    );
  return [
    {
      cause: facts.place(step),
      chain,
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [
        fixHint("float_dtype", facts.place(birthStep)),
        fixHint("float_before", facts.place(step), { name: mention?.text ?? "" }),
      ],
      explainsError: true,
    },
  ];
}
