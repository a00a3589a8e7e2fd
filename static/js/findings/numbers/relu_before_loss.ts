/** Scores of classes that went through a relu: none is below 0, and those that are 0 get no gradient. */

import { diagnosis, operationName, statementOfCandidate } from "../diagnosis.ts";
import { earlierActivation } from "./activation_twice.ts";

export const FINDINGS = [
  diagnosis({
    kind: "relu_before_loss",
    severity: "note",
    of: ({ scan }) => scan.operationsNamed(/^(?:cross_entropy_loss|binary_cross_entropy_with_logits|_?log_softmax)$/),
    once: statementOfCandidate,
    say: (facts, { name, inputs: [scores], outputs: [result], step }) => {
      const relu = facts.isInsideBackward(step) ? null : earlierActivation(facts, scores, "relu");
      const numbers = facts.numbersOf(scores, step);
      if (!relu || !numbers || !facts.tensor(scores, step)?.requires_grad) return null;
      const isLogSoftmax = /log_softmax/.test(name);
      if (isLogSoftmax && !facts.usesOf(result).some((use) => CHOOSES_CLASS.test(operationName(use.name)))) return null;
      return {
        variant: isLogSoftmax ? "log_softmax" : undefined,
        cause: relu.step,
        chain: [
          [relu.step, "made", [relu.outputs[0]]],
          [step, "used", [scores]],
        ],
        facts: {
          x: facts.nameFact(scores, step),
          n: numbers.filter((number) => number === 0).length,
          total: numbers.length,
          loss: facts.lineOf(step),
        },
      };
    },
  }),
];

/** What takes the logarithm of one class of each sample. */
const CHOOSES_CLASS = /^(?:nll_loss\w*|gather|index|take_along_dim)$/;
