/** A recurrent layer that a loop calls for one position after the other, each time with a state of zeros. */

import { diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "state_not_carried",
    severity: "warning",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: (facts) =>
      groupBy(
        facts.scan.operationsNamed(/^(?:lstm|gru|rnn_tanh|rnn_relu)(?:_cell)?$/).filter((op) => beginsAnew(facts, op)),
        ({ step }) => {
          const { frame, stmt, iter } = facts.steps[step];
          return `${frame} ${stmt} ${iter?.slice(0, -1)}`;
        },
      ),
    once: ([{ step }], facts) => facts.lineOf(step),
    say: (_facts, calls) => {
      const [first, second] = calls;
      if (calls.length < MIN_POSITIONS || new Set(calls.map(({ inputs }) => inputs[0])).size < calls.length)
        return null;
      return {
        cause: first.step,
        chain: [
          [first.step, "used", [first.inputs[0]]],
          [second.step, "none", [second.inputs[1]]],
        ],
        facts: { op: operationName(first.name), n: calls.length },
      };
    },
  }),
];

const MIN_POSITIONS = 3;

/** Whether a call takes one position of a batch, and a state that the same statement made of zeros. */
function beginsAnew(facts: RunFacts, { name, inputs: [input, state], step, args }: Operation): boolean {
  const shape = (facts.scan.initialFields(input)?.shape ?? []) as number[];
  const isOnePosition = /_cell\b/.test(name)
    ? shape[0] > 1
    : shape[args?.batch_first === true && shape.length > 2 ? 1 : 0] === 1;
  if (!isOnePosition || facts.isInsideBackward(step) || facts.birthStep(state) !== step) return false;
  return /^(?:new_)?zeros/.test(operationName(facts.producingOperation(state)?.name ?? ""));
}
