/** A tensor made under inference_mode was used where autograd records, or written outside of it. */

import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { mentionedTensors } from "../statements/mentioned_entities.ts";
import { operationName } from "../facts/operation_name.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "inference_tensor", severity: "error", diagnose: diagnoseInferenceTensorUse, onError: true },
];

function diagnoseInferenceTensorUse(facts: RunFacts): Diagnosis[] {
  const { message } = facts.error ?? { message: "" };
  if (!/inference tensor/i.test(message)) return [];
  const op = facts.failedOperation;
  const step = op?.step ?? facts.errorStep;
  const isInference = (uid: string) => facts.tensor(uid, step)?.bits?.includes("inference");
  const uid =
    op?.inputs.find(isInference) ??
    mentionedTensors(facts, step).find((mention) => isInference(mention.uid))?.uid ??
    null;
  const birthStep = Math.max(0, facts.birthStep(uid));
  const x = facts.nameFact(uid, step);
  const findingFacts = {
    x,
    op: operationName(op?.name ?? ""),
    code: facts.statementFact(step),
    made_line: facts.lineOf(birthStep),
  };
  const variant = /Inplace update|in-?place/i.test(message)
    ? "written"
    : /requires_grad|set_requires_grad/.test(message)
      ? "flag"
      : undefined;
  return [
    {
      variant,
      cause: facts.place(birthStep),
      chain: [
        chainLink(facts.place(birthStep), "made", { ...findingFacts, code: facts.statementFact(birthStep) }, [uid]),
        chainLink(facts.place(step), "checked", findingFacts, [uid]),
      ],
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [
        fixHint("no_grad_instead", facts.place(birthStep)),
        fixHint("clone_before", facts.place(step), { name: facts.nameText(uid, step) ?? "" }),
      ],
      explainsError: true,
    },
  ];
}
