/** A tensor of integers or booleans was to require grad. */

import { declareErrorDiagnosis, madeBefore } from "../diagnosis.ts";
import { fittingReceiverOrMention } from "../statements/mentioned_entities.ts";
import { nameBoundAt } from "../graph/no_graph.ts";
import { pathText } from "../../syntax/expressions.ts";
import { assignments } from "../../syntax/statements.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "int_requires_grad",
    message: /only Tensors of floating point (?:and complex )?dtype can require gradients/i,
    say: (facts, step) => {
      const isIntegral = (uid: string) => /int|bool/.test(facts.tensor(uid, step)?.dtype ?? "");
      const mention = fittingReceiverOrMention(facts, step, "requires_grad_", isIntegral);
      const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(isIntegral))?.outputs[0] ?? null;
      const tree = facts.syntax(step);
      const name = mention?.text ?? (tree && pathText(assignments(tree)[0]?.target ?? null));
      const x = name ? { code: name } : (nameBoundAt(facts, step) ?? facts.nameFact(uid, step));
      const made = mention ? madeBefore(facts, uid, step) : null;
      return {
        cause: step,
        chain: [made, [step, "checked", [uid]]],
        facts: { x, dtype: facts.tensor(uid, step)?.dtype ?? "int64" },
        fixes: [
          ["float_dtype", {}, made?.[0] ?? step],
          ["float_before", { name: mention?.text ?? "" }],
        ],
      };
    },
  }),
];
