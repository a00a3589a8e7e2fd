/** A tensor that requires grad was to become a numpy array. */

import { declareErrorDiagnosis, madeBefore } from "../diagnosis.ts";
import { fittingReceiverOrMention } from "../statements/mentioned_entities.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "numpy_requires_grad",
    message: /Can't call numpy\(\) on Tensor that requires grad/,
    say: (facts, step) => {
      const requiresGrad = (uid: string) => facts.tensor(uid, step)?.requires_grad;
      const mention = fittingReceiverOrMention(facts, step, "numpy", requiresGrad);
      const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(requiresGrad))?.outputs[0] ?? null;
      const tensor = facts.tensor(uid, step);
      const x = facts.nameFact(uid, step);
      return {
        variant: tensor?.leaf ? "leaf" : undefined,
        cause: step,
        chain: [madeBefore(facts, uid, step), [step, "checked", [uid]]],
        facts: { x, op: tensor?.grad_fn ? facts.nodeOperationName(tensor.grad_fn) : "" },
        fixes: [["detach_before_numpy", { name: mention?.text ?? "" }]],
      };
    },
  }),
];
