/** Scores that are compared with class numbers for equality: nothing is ever equal, so nothing counts as right. */

import { diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "never_equal",
    severity: "warning",
    of: (facts) => groupBy(facts.scan.operationsNamed(/^(?:eq|ne)$/), ({ step }) => facts.steps[step].stmt),
    say: (facts, ops) => {
      const [{ inputs, outputs, step }] = ops;
      const counts = ops.map((op) => countOfFractions(facts, op));
      const n = counts.reduce((sum: number, count) => sum + (count ?? 0), 0);
      if (counts.includes(null) || n < MIN_COMPARISONS) return null;
      const [scores, labels] = hasIntegerDtype(facts, inputs[0], step) ? [inputs[1], inputs[0]] : inputs;
      // what is compared with its own whole part asks whether it is whole
      if (facts.dataflow.ancestors([labels]).has(scores)) return null;
      const maker = facts.producingOperation(scores);
      const isLargest =
        /^(?:max|topk|sort|mode)$/.test(operationName(maker?.name ?? "")) && maker?.outputs.length === 2;
      return {
        variant: isLargest ? "largest" : undefined,
        cause: maker && isLargest ? maker.step : step,
        chain: [isLargest && maker && [maker.step, "made", [scores]], [step, "checked", [...outputs, scores, labels]]],
        facts: {
          x: facts.nameFact(scores, step),
          y: facts.nameFact(labels, step),
          n,
          compared: facts.lineOf(step),
          op: operationName(maker?.name ?? ""),
        },
      };
    },
  }),
];

/** As many fractions are not all away from whole numbers by chance. */
const MIN_COMPARISONS = 8;

/** How many fractions an operation compared with whole numbers; null for any other comparison. */
function countOfFractions(facts: RunFacts, { inputs, step }: Operation): number | null {
  if (inputs.length !== 2 || facts.isInsideBackward(step)) return null;
  const [a, b] = inputs.map((uid) => hasIntegerDtype(facts, uid, step));
  const fractions = a === b ? null : facts.numbersOf(inputs[a ? 1 : 0], step);
  return fractions?.length && !fractions.some(Number.isInteger) ? fractions.length : null;
}

function hasIntegerDtype(facts: RunFacts, uid: string, step: number): boolean {
  return /^(?:torch\.)?u?int\d+$/.test(String(facts.handle(uid, step)?.dtype ?? ""));
}
