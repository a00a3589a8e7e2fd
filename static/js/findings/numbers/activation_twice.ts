/**
 * A loss that applies softmax or sigmoid itself gets what has been through it already, or a softmax what another gave:
 * nothing raises, it only learns worse.
 */

import {
  codeFact,
  diagnosis,
  statementOfCandidate,
  operationName,
  type Operation,
  type RunFacts,
} from "../diagnosis.ts";
import { sumsAlong } from "../facts/tensor_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "activation_twice",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(LOSS_WITH_ACTIVATION),
    once: statementOfCandidate,
    say: (facts, op) => {
      const { applies, least } = ACTIVATION_BY_LOSS[operationName(op.name)];
      if (!op.requires_grad.some(Boolean) || facts.isInsideBackward(op.step)) return null;
      const earlier = earlierActivation(facts, op.inputs[0], applies);
      const applied = earlier ?? (applies === "softmax" && rowsOfProbabilities(facts, op));
      if (!applied) return null;
      const x = facts.nameFact(op.inputs[0], op.step);
      const classes = facts.tensor(op.inputs[0], op.step)?.shape?.[1] ?? 2;
      return {
        variant: earlier ? undefined : "rows",
        cause: op.step,
        chain: [
          [applied.step, "made", [applied.outputs[0]]],
          [op.step, "used", [op.inputs[0]]],
        ],
        facts: {
          x,
          applies: codeFact(applies),
          op: operationName(op.name),
          made: facts.steps[applied.step].line,
          least: Number(least(classes).toPrecision(3)),
        },
      };
    },
  }),
  diagnosis({
    kind: "activation_twice",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^_?softmax$/),
    once: statementOfCandidate,
    /** A softmax of what a softmax along the same axis gave, of the same sizes. */
    say: (facts, op) => {
      const first = facts.producingOperation(op.inputs[0]);
      if (!first || operationName(first.name).replace(/^_/, "") !== "softmax" || facts.isInsideBackward(op.step))
        return null;
      const rank = facts.handle(op.inputs[0], op.step)?.shape?.length ?? 0;
      const axis = ({ args }: Operation) => (typeof args?.dim === "number" ? (args.dim + rank) % rank : null);
      if (!rank || axis(op) === null || axis(op) !== axis(first)) return null;
      const size = facts.handle(op.inputs[0], op.step)?.shape?.[axis(op) ?? 0] ?? 0;
      if (size < 2) return null;
      const x = facts.nameFact(op.inputs[0], op.step);
      return {
        variant: "again",
        cause: op.step,
        chain: [
          [first.step, "made", [op.inputs[0]]],
          [op.step, "used", [op.inputs[0]]],
        ],
        facts: {
          x,
          applies: codeFact("softmax"),
          made: facts.lineOf(first.step),
          n: size,
          most: Number((Math.E / (Math.E + size - 1)).toPrecision(3)),
        },
      };
    },
  }),
];

const VALUE_KEEPING_OPERATIONS =
  /^(?:view|_unsafe_view|reshape|squeeze|unsqueeze|flatten|contiguous|clone|detach|alias|to|_to_copy|float|transpose|permute|select|slice)$/;
const MAX_OPERATIONS_BACK = 8;
const MIN_ROWS = 3;

/** By loss: what it applies itself, and how low it can get on the results of that for so many classes. */
const ACTIVATION_BY_LOSS: Record<string, { applies: string; least: (classes: number) => number }> = {
  cross_entropy_loss: { applies: "softmax", least: (classes) => Math.log(1 + (classes - 1) / Math.E) },
  binary_cross_entropy_with_logits: { applies: "sigmoid", least: () => Math.log(1 + 1 / Math.E) },
};

const LOSS_WITH_ACTIVATION = new RegExp(`^(?:${Object.keys(ACTIVATION_BY_LOSS).join("|")})$`);

/** The operation that applied one of some functions to a tensor, through views of its result. */
export function earlierActivation(facts: RunFacts, uid: string, ...functions: string[]) {
  const op = facts.producingOperation(tensorBehindViews(facts, uid));
  return op && functions.includes(operationName(op.name).replace(/^_/, "")) ? op : null;
}

/** The tensor whose values a tensor shows, in another shape, a part of them, or as a copy. */
export function tensorBehindViews(facts: RunFacts, uid: string): string {
  let behind = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    const op = facts.producingOperation(behind);
    if (!op || !VALUE_KEEPING_OPERATIONS.test(operationName(op.name).replace(/^_(?!unsafe|to_)/, ""))) break;
    behind = op.inputs[0];
  }
  return behind;
}

/** What made the scores of a loss, where each of their rows is a distribution, whatever computed them. */
function rowsOfProbabilities(facts: RunFacts, { inputs: [uid], step }: Operation) {
  const shape = facts.handle(uid, step)?.shape ?? [];
  const numbers = shape.length > 1 && shape[0] >= MIN_ROWS && shape[1] > 1 ? facts.numbersOf(uid, step) : null;
  const isDistribution =
    numbers?.every((number) => number >= 0 && number <= 1) &&
    sumsAlong(numbers, shape, 1).every((sum) => Math.abs(sum - 1) < 1e-4) &&
    numbers.some((number) => number > 0 && number < 1);
  return isDistribution ? facts.producingOperation(uid) : null;
}
