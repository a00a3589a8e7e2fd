/** Targets outside of what the last activation of a model can give: a tanh, a sigmoid, a relu. */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import { earlierActivation } from "./activation_twice.ts";

export const FINDINGS = [
  diagnosis({
    kind: "beyond_reach",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss)$/),
    once: statementOfCandidate,
    say: (facts, { inputs: [given, target], step }) => {
      const activation = facts.isInsideBackward(step) ? null : earlierActivation(facts, given, ...Object.keys(RANGES));
      const numbers = facts.scan.initialFields(given)?.requires_grad && activation && facts.numbersOf(target, step);
      if (!numbers) return null;
      const name = operationName(activation.name);
      const [least, most] = RANGES[name];
      const outside = numbers.filter((number) => number < least || number > most);
      if (outside.length < MIN_SHARE * numbers.length) return null;
      const x = facts.nameFact(target, step);
      return {
        cause: activation.step,
        chain: [
          [activation.step, "made", [activation.outputs[0]]],
          [step, "used", [target]],
        ],
        names: [x],
        facts: {
          x,
          activation: codeFact(name),
          range: name === "relu" ? "0 … ∞" : `${least} … ${most}`,
          n: outside.length,
          total: numbers.length,
          example: Number(outside[0].toPrecision(3)),
          loss: facts.lineOf(step),
        },
      };
    },
  }),
];

const RANGES: Record<string, [number, number]> = { tanh: [-1, 1], sigmoid: [0, 1], relu: [0, Infinity] };
/** Fewer targets than this are outliers. */
const MIN_SHARE = 0.1;
