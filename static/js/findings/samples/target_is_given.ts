/** A model of sequences that is given, at each position, the very token that it has to predict. */

import { diagnosis, type Operation, type RunFacts } from "../diagnosis.ts";
import { axesOf, isSameAxis } from "../facts/axes.ts";

export const FINDINGS = [
  diagnosis({
    kind: "target_is_given",
    severity: "note",
    of: ({ scan }) => scan.operationsNamed(/^cross_entropy_loss$/),
    once: ({ step }, facts) => facts.lineOf(step),
    say: (facts, op) => {
      const lookup = facts.isInsideBackward(op.step) ? undefined : lookupOfTargets(facts, op);
      if (!lookup) return null;
      const [, target] = op.inputs;
      const x = facts.nameFact(lookup.inputs[1], op.step);
      return {
        cause: op.step,
        chain: [
          [lookup.step, "used", [lookup.inputs[1]]],
          [op.step, "checked", op.inputs.slice(0, 2)],
        ],
        names: [x],
        facts: { x, n: facts.numbersOf(target, op.step)?.length ?? 0, embedded: facts.lineOf(lookup.step) },
      };
    },
  }),
];

/** The lookup of the same tokens in the same places from which a loss' scores come, position for position. */
function lookupOfTargets(facts: RunFacts, { inputs: [scores, target], step }: Operation): Operation | undefined {
  const axes = axesOf(facts);
  const rows = axes.of(scores).flatMap((axis, d, all) => (d === (all.length > 1 ? 1 : 0) ? [] : axis));
  return facts.scan.operationsNamed(/^embedding$/).findLast((lookup) => {
    const index = lookup.inputs[1];
    const positions = axes.of(index).flat();
    return (
      lookup.step <= step &&
      positions.length > 1 &&
      isSameAxis(rows, positions) &&
      memoryOf(facts, index, lookup.step) === memoryOf(facts, target, step) &&
      axes.ancestors(scores).includes(lookup.outputs[0])
    );
  });
}

function memoryOf(facts: RunFacts, uid: string, step: number): string {
  const { storage, offset, shape } = facts.tensor(uid, step) ?? facts.scan.initialFields(uid) ?? {};
  return `${storage} ${offset} ${((shape ?? []) as number[]).reduce((x, y) => x * y, 1)}`;
}
