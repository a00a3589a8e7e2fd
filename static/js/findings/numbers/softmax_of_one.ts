/** A softmax along a dimension of one element, in each call of its line: it gives 1 whatever it gets. */

import { codeFact, diagnosis, operationName, type RunFacts } from "../diagnosis.ts";
import { leavesWithZeroGradient } from "../gradients/zero_gradient.ts";
import { tupleText } from "../../trace/format.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "softmax_of_one",
    severity: "note",
    when: ({ optimizers }) => optimizers.some(({ steps }) => steps.length >= MIN_ROUNDS),
    of: (facts) => groupBy(facts.scan.operationsNamed(/^(?:log_)?softmax$/), ({ step }) => facts.steps[step].stmt),
    say: (facts, ops) => {
      const trained = ops.filter(({ requires_grad: requires, step }) => requires[0] && !facts.isInsideBackward(step));
      if (
        trained.length < MIN_ROUNDS ||
        !ops.every(({ inputs, args, step }) => runsAlongOneElement(facts, inputs[0], args?.dim, step))
      )
        return null;
      const [{ name, inputs, outputs, step, args }] = trained;
      const shape = facts.handle(inputs[0], step)?.shape ?? [];
      if (shape.every((size) => size === 1) || isToldByZeros(facts, inputs[0], step)) return null;
      return {
        cause: step,
        chain: [
          [facts.birthStep(inputs[0]), "made", [inputs[0]]],
          [step, "used", [inputs[0], outputs[0]]],
        ],
        facts: {
          x: facts.nameFact(inputs[0], step),
          op: codeFact(operationName(name)),
          dim: codeFact(`dim=${args?.dim}`),
          shape: codeFact(tupleText(shape)),
          value: name.includes("log") ? 0 : 1,
          n: trained.length,
        },
      };
    },
  }),
];

const MIN_ROUNDS = 3;

/** Whether a parameter behind the scores got nothing but zeros, which another finding explains. */
function isToldByZeros(facts: RunFacts, scores: string, step: number) {
  return [...leavesWithZeroGradient(facts).keys()].some((leaf) => facts.dataflow.shortestPath(leaf, [scores], step));
}

function runsAlongOneElement(facts: RunFacts, uid: string, dim: unknown, step: number) {
  const shape = facts.handle(uid, step)?.shape;
  return typeof dim === "number" && shape?.at(dim) === 1;
}
