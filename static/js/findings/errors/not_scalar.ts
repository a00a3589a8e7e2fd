/** Backward was asked of a tensor of several numbers, without the gradient to start with. */

import { declareErrorDiagnosis, madeBefore } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { numel } from "../../trace/reads.ts";
import { fittingReceiverOrMention } from "../statements/mentioned_entities.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "not_scalar",
    message: /grad can be implicitly created only for (?:scalar|real scalar)/,
    say: (facts, step) => {
      const hasSeveral = (uid: string) => {
        const tensor = facts.tensor(uid, step);
        return Boolean(tensor?.requires_grad) && numel(tensor?.shape ?? []) !== 1;
      };
      const mention = fittingReceiverOrMention(facts, step, "backward", hasSeveral);
      const uid = mention?.uid ?? facts.opsAt(step).at(-1)?.outputs[0] ?? null;
      const shape = facts.tensor(uid, step)?.shape ?? [];
      if (numel(shape) === 1) return null; // a complex number
      const y = facts.nameFact(uid, step);
      return {
        cause: step,
        chain: [madeBefore(facts, uid, step, { x: y }), [step, "checked", [uid]]],
        names: [y],
        facts: { y, n: numel(shape), shape: tupleText(shape) },
        fixes: [
          ["sum_first", { name: mention?.text ?? "" }],
          ["mean_first", { name: mention?.text ?? "" }],
        ],
      };
    },
  }),
];
