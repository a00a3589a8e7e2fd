/** A linear layer that gets what another gave, with no activation between: the two compute what one could. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { moduleCallsOf, type ModuleCall } from "../../trace/module_calls.ts";

export const FINDINGS = [
  diagnosis({
    kind: "linear_twice",
    severity: "note",
    when: ({ optimizers }) => optimizers.some(({ steps }) => steps.length >= MIN_ROUNDS),
    of: consecutiveLayers,
    once: ([, second]) => second.module,
    say: (facts, [first, second]) => {
      const [hidden] = first.outputs;
      const [from, through, to] = [first.inputs[0], hidden, second.outputs[0]].map((uid) =>
        facts.handle(uid, second.begins)?.shape?.at(-1),
      );
      // a narrow middle is meant: such a product has fewer parameters, or a lower rank
      if (!from || !through || !to || through < Math.min(from, to)) return null;
      return {
        cause: second.begins,
        chain: [
          [first.begins, "made", [hidden]],
          [second.begins, "used", [hidden]],
        ],
        facts: { x: facts.nameFact(first.module, first.begins), y: facts.nameFact(second.module, second.begins) },
      };
    },
  }),
];

const MIN_ROUNDS = 3;

/**
 * Calls of linear layers in one module, each with the next that gets its result, and is alone with that. A layer that
 * is called once in a training is made anew in each round: its product with another is a different one each time.
 */
function* consecutiveLayers(facts: RunFacts): Generator<[ModuleCall, ModuleCall]> {
  const calls = [...moduleCallsOf(facts.opened).calls.values()].filter(({ type }) => type === "Linear");
  const stay = new Set(calls.filter(({ module, turn }) => module !== null && turn > 0).map(({ module }) => module));
  const linear = calls.filter(({ module }) => stay.has(module));
  const byInput = new Map(linear.map((call) => [call.inputs[0], call]));
  for (const call of linear) {
    const [uid] = call.outputs;
    const next = byInput.get(uid);
    const readers = facts.usesOf(uid).filter(({ step }) => !facts.isInsideBackward(step));
    const areOfOneModule = next && next.within !== null && next.within === call.within && next.module !== call.module;
    if (areOfOneModule && readers.every((op) => op.call === next.call)) yield [call, next];
  }
}
