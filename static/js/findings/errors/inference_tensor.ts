/** A tensor made under inference_mode was used where autograd records, or written outside of it. */

import { declareErrorDiagnosis, operationName } from "../diagnosis.ts";
import { mentionedTensors } from "../statements/mentioned_entities.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "inference_tensor",
    message: /inference tensor/i,
    say: (facts, raised, { input: message }) => {
      const op = facts.failedOperation;
      const step = op?.step ?? raised;
      const isInference = (uid: string) => facts.tensor(uid, step)?.bits?.includes("inference");
      const uid =
        op?.inputs.find(isInference) ??
        mentionedTensors(facts, step).find((mention) => isInference(mention.uid))?.uid ??
        null;
      const birthStep = Math.max(0, facts.birthStep(uid));
      const x = facts.nameFact(uid, step);
      const variant = /Inplace update|in-?place/i.test(message)
        ? "written"
        : /requires_grad|set_requires_grad/.test(message)
          ? "flag"
          : undefined;
      return {
        variant,
        cause: birthStep,
        chain: [
          [birthStep, "made", [uid]],
          [step, "checked", [uid]],
        ],
        facts: {
          x,
          op: operationName(op?.name ?? ""),
          code: facts.statementFact(step),
          made_line: facts.lineOf(birthStep),
        },
        fixes: [["no_grad_instead"], ["clone_before", { name: facts.nameText(uid, step) ?? "" }, step]],
      };
    },
  }),
];
