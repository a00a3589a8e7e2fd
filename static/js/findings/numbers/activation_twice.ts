/**
 * A loss that applies softmax or sigmoid itself gets what has been through it already: nothing raises, it only learns
 * worse.
 */

import { byLine, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { operationName } from "../facts/operation_name.ts";
import type { Operation } from "../facts/scan.ts";

export const FINDINGS = [
  diagnosis({
    kind: "activation_twice",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(LOSS_WITH_ACTIVATION),
    once: byLine,
    say: activationTwice,
  }),
];

const VALUE_KEEPING_OPERATIONS =
  /^(?:view|reshape|squeeze|unsqueeze|flatten|contiguous|to|float|transpose|permute|select|slice)$/;
const MAX_OPERATIONS_BACK = 8;

/** By loss: what it applies itself, and how low it can get on the results of that for so many classes. */
const ACTIVATION_BY_LOSS: Record<string, { applies: string; least: (classes: number) => number }> = {
  cross_entropy_loss: { applies: "softmax", least: (classes) => Math.log(1 + (classes - 1) / Math.E) },
  binary_cross_entropy_with_logits: { applies: "sigmoid", least: () => Math.log(1 + 1 / Math.E) },
};

const LOSS_WITH_ACTIVATION = new RegExp(`^(?:${Object.keys(ACTIVATION_BY_LOSS).join("|")})$`);

/** The operation that applied a function to a tensor, through views of its result. */
function earlierActivation(facts: RunFacts, uid: string, applies: string) {
  let op = facts.producingOperation(uid);
  for (let k = 0; op && k < MAX_OPERATIONS_BACK; k++) {
    const name = operationName(op.name).replace(/^_/, "");
    if (name === applies) return op;
    if (!VALUE_KEEPING_OPERATIONS.test(name)) return null;
    op = facts.producingOperation(op.inputs[0]);
  }
  return null;
}

function activationTwice(facts: RunFacts, op: Operation): Diagnosis | null {
  const { applies, least } = ACTIVATION_BY_LOSS[operationName(op.name)];
  if (!op.requires_grad.some(Boolean) || facts.isInsideBackward(op.step)) return null;
  const applied = earlierActivation(facts, op.inputs[0], applies);
  if (!applied) return null;
  const x = facts.nameFact(op.inputs[0], op.step);
  const classes = facts.tensor(op.inputs[0], op.step)?.shape?.[1] ?? 2;
  return {
    cause: op.step,
    chain: [
      [applied.step, "made", [applied.outputs[0]]],
      [op.step, "used", [op.inputs[0]]],
    ],
    names: [x],
    facts: {
      x,
      applies: codeFact(applies),
      op: operationName(op.name),
      made: facts.steps[applied.step].line,
      least: Number(least(classes).toPrecision(3)),
    },
  };
}
