/** Batches in which all targets are of one class, another one in another batch: the data are not shuffled. */

import { diagnosis, type Operation, type RunFacts } from "../diagnosis.ts";
import { isUpdatedBetween } from "../training/training_facts.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "batches_of_one_class",
    severity: "note",
    when: ({ optimizers }) => optimizers.some(({ steps }) => steps.length >= MIN_BATCHES),
    of: (facts) =>
      groupBy(facts.scan.operationsNamed(/^(?:cross_entropy_loss|nll_loss)$/), ({ step }) => facts.steps[step].stmt),
    say: (facts, ops) => {
      const trained = ops.filter(({ requires_grad: requires }) => requires[0]);
      const classes = trained.map((op) => onlyClassOfBatch(facts, op));
      if (trained.length < MIN_BATCHES || classes.includes(null) || new Set(classes).size < 2) return null;
      // a loss between whose runs nothing is updated is a term beside another
      if (
        !isUpdatedBetween(
          facts,
          trained.map(({ step }) => step),
        )
      )
        return null;
      const [{ step, inputs }] = trained;
      const other = classes.findIndex((each) => each !== classes[0]);
      return {
        cause: step,
        chain: [
          [step, "used", [inputs[1]], { only: classes[0] as number }],
          [trained[other].step, "used", [trained[other].inputs[1]], { only: classes[other] as number }],
        ],
        facts: { x: facts.nameFact(inputs[1], step), n: trained.length, classes: new Set(classes).size },
      };
    },
  }),
];

const MIN_BATCHES = 4;
/** Fewer samples than these are of one class by chance. */
const MIN_SAMPLES = 6;

/** The class of all of a batch's targets; null where there are several, or none is known. */
function onlyClassOfBatch(facts: RunFacts, { inputs, step }: Operation): number | null {
  const numbers = facts.numbersOf(inputs[1], step);
  const isOfOne = numbers && numbers.length >= MIN_SAMPLES && numbers.every((number) => number === numbers[0]);
  return isOfOne && facts.handle(inputs[1], step)?.shape?.length === 1 ? numbers[0] : null;
}
