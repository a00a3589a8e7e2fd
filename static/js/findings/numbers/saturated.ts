/** Hidden sigmoids and tanhs whose results lie at the ends, where they are flat, in every round. */

import { codeFact, diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "saturated",
    severity: "note",
    when: ({ optimizers }) => optimizers.some(({ steps }) => steps.length >= MIN_ROUNDS),
    of: (facts) => groupBy(facts.scan.operationsNamed(/^(?:sigmoid|tanh)$/), ({ step }) => facts.steps[step].stmt),
    say: (facts, ops) => {
      const trained = ops.filter(({ requires_grad: requires, step }) => requires[0] && !facts.isInsideBackward(step));
      const shares = trained.map((op) => saturatedShare(facts, op));
      if (trained.length < MIN_ROUNDS || shares.some((share) => share === null || share < MIN_SHARE)) return null;
      const [{ name, inputs, outputs, step }] = trained;
      const range = facts.rangeOf(inputs[0], step);
      if (!range || !trained.every((op) => isReadByLayer(facts, op))) return null;
      return {
        cause: step,
        chain: [
          [facts.birthStep(inputs[0]), "made", [inputs[0]]],
          [step, "cut", outputs],
        ],
        facts: {
          x: facts.nameFact(inputs[0], step),
          op: codeFact(operationName(name)),
          n: trained.length,
          percent: Math.floor(100 * Math.min(...shares.map(Number))),
          least: Number(range.min.toPrecision(3)),
          most: Number(range.max.toPrecision(3)),
        },
      };
    },
  }),
];

const MIN_ROUNDS = 3;
const MIN_SHARE = 0.8;
/** So near to an end the slope is at most a fiftieth of its largest. */
const NEAR = 0.005;
/** Operations of layers with parameters, and what carries a result there. */
const LAYER = /^(?:addmm|mm|linear|matmul|bmm|convolution|conv\d?d?)$/;
const CARRIES = /^(?:view|reshape|flatten|dropout|squeeze|unsqueeze|permute|transpose)$/;

/** Of the results the share that lies at the ends; null where the numbers are not listed, or all have a slope of 0. */
function saturatedShare(facts: RunFacts, { name, outputs, step }: Operation): number | null {
  const numbers = facts.numbersOf(outputs[0], step);
  const least = operationName(name) === "tanh" ? -1 : 0;
  if (!numbers || numbers.every((x) => x === 1 || x === least)) return null;
  return numbers.filter((x) => 1 - x < NEAR || x - least < NEAR).length / numbers.length;
}

/** Whether a layer with parameters reads the result, so that it is not the model's own. */
function isReadByLayer(facts: RunFacts, { outputs }: Operation, deep = 3): boolean {
  return facts.usesOf(outputs[0]).some((use) => {
    if (facts.isInsideBackward(use.step)) return false;
    const name = operationName(use.name);
    const hasWeights = use.inputs.some(
      (uid) => facts.tensor(uid, use.step)?.leaf && facts.tensor(uid, use.step)?.requires_grad,
    );
    return (LAYER.test(name) && hasWeights) || (deep > 0 && CARRIES.test(name) && isReadByLayer(facts, use, deep - 1));
  });
}
