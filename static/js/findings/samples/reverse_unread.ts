/** A bidirectional recurrent layer of which only the last time step is read: there the reverse direction begins. */

import {
  codeFact,
  diagnosis,
  statementOfCandidate,
  operationName,
  type Operation,
  type RunFacts,
} from "../diagnosis.ts";
import { RECURRENT } from "../facts/axes.ts";

export const FINDINGS = [
  diagnosis({
    kind: "reverse_unread",
    severity: "note",
    when: ({ optimizers }) => optimizers.length > 0,
    of: (facts) => facts.scan.operationsNamed(RECURRENT),
    once: statementOfCandidate,
    say: (facts, op) => {
      const [output, states] = op.outputs;
      const readers = facts.usesOf(output).filter(({ step }) => !facts.isInsideBackward(step));
      const isOnlyEnd = readers.length > 0 && readers.every((reader) => takesLastTimeStep(facts, op, reader));
      if (!isBidirectional(facts, op) || !isOnlyEnd || facts.usesOf(states).length) return null;
      const [{ step, outputs }] = readers;
      return {
        cause: step,
        chain: [
          [op.step, "made", [output]],
          [step, "read", outputs],
        ],
        facts: {
          x: facts.nameFact(output, step),
          op: codeFact(
            operationName(op.name)
              .replace(/_tanh|_relu/, "")
              .toUpperCase(),
          ),
          n: sizeOfTime(facts, op),
          half: (facts.handle(output, op.step)?.shape?.at(-1) ?? 0) / 2,
        },
      };
    },
  }),
];

/** Whether the features of a recurrent layer are those of two directions, each as long as a row of its weights. */
function isBidirectional(facts: RunFacts, { inputs, outputs, step }: Operation) {
  const weights = inputs.filter((uid) => facts.isParameter(uid) && facts.handle(uid, step)?.shape?.length === 2);
  const hidden = facts.handle(weights[1], step)?.shape?.[1];
  return hidden !== undefined && facts.handle(outputs[0], step)?.shape?.at(-1) === 2 * hidden;
}

function timeAxis({ args }: Operation) {
  return args?.batch_first ? 1 : 0;
}

function sizeOfTime(facts: RunFacts, op: Operation) {
  return facts.handle(op.outputs[0], op.step)?.shape?.[timeAxis(op)] ?? 0;
}

/** Whether an operation takes the last time step of a layer's result, and nobody parts that into the two directions. */
function takesLastTimeStep(facts: RunFacts, layer: Operation, { name, args, outputs: [part], step }: Operation) {
  const [whole, taken] = [facts.handle(layer.outputs[0], layer.step), facts.handle(part, step)];
  const { shape = [], stride, offset = 0 } = whole ?? {};
  if (operationName(name) !== "select" || shape.length !== 3 || !stride || args?.dim !== timeAxis(layer)) return false;
  const last = shape[timeAxis(layer)] - 1;
  if (last < 1 || (taken?.offset ?? 0) !== offset + last * stride[timeAxis(layer)]) return false;
  return !facts
    .usesOf(part)
    .some((use) => /^(?:slice|chunk|split|narrow|view|unflatten)/.test(operationName(use.name)));
}
