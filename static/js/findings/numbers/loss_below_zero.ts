/**
 * A loss that can't be below zero, and is: it was given probabilities or scores where logarithms belong, or targets out
 * of range.
 */

import { codeFact, diagnosis, statementOfCandidate, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { numbersText } from "../facts/cell_values.ts";
import { sumsAlong } from "../facts/tensor_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "loss_below_zero",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(LOSS),
    once: statementOfCandidate,
    say: (facts, op) => {
      if (facts.steps[op.step].visit || op.inputs.length < 2 || !op.outputs.length) return null;
      const name = operationName(op.name).replace(/_nd$/, "");
      if (name === "ctc_loss") return scoresForLogarithms(facts, op, name);
      const loss = facts.rangeOf(op.outputs[0], op.step);
      if (!loss || !(loss.min < 0)) return null;
      const diagnose = LOSS_OF_LOGARITHMS.test(name) ? diagnosisOfInput : diagnosisOfTarget;
      return diagnose(facts, op, name, loss.min);
    },
  }),
];

const LOSS_OF_LOGARITHMS = /^(?:kl_div|nll_loss\w*)$/;
const LOSS = /^(?:ctc_loss|kl_div|nll_loss\w*|binary_cross_entropy(?:_with_logits)?)$/;
const PICKING = /^(?:mul_?|where|masked_\w+|index\w*|take\w*|gather)$/;
/** Of a sum that is 1 but for rounding. */
const MAX_DISTANCE_FROM_ONE = 1e-3;

/** The first argument holds numbers above 0, which no logarithm of a probability is. */
function diagnosisOfInput(facts: RunFacts, op: Operation, name: string, value: number): Diagnosis | null {
  const [input] = op.inputs;
  const range = facts.rangeOf(input, op.step);
  if (!range || !(range.max > 0)) return null;
  const sum = rowSum(facts, input, op.step);
  const areProbabilities = range.min >= 0 && range.max <= 1 + MAX_DISTANCE_FROM_ONE;
  return diagnosisOf(facts, op, {
    variant: areProbabilities ? (sum === null ? "unit" : "probabilities") : "scores",
    name,
    value,
    operand: input,
    held: sum ?? range.max,
  });
}

/** Numbers above 0, where the loss says nothing of it by its own sign. */
function scoresForLogarithms(facts: RunFacts, op: Operation, name: string): Diagnosis | null {
  const [operand] = op.inputs;
  const [held, value] = [facts.rangeOf(operand, op.step)?.max ?? 0, facts.rangeOf(op.outputs[0], op.step)?.min ?? 0];
  return held > MAX_DISTANCE_FROM_ONE ? diagnosisOf(facts, op, { variant: "above", name, value, operand, held }) : null;
}

/**
 * The sum of the first row, where every row adds up to 1 along one dimension; null where none does, or it can't be
 * told.
 */
function rowSum(facts: RunFacts, uid: string, step: number): number | null {
  const numbers = facts.numbersOf(uid, step);
  const shape = facts.handle(uid, step)?.shape ?? [];
  if (!numbers || !shape.length) return null;
  for (let dim = shape.length - 1; dim >= 0; dim--) {
    const sums = sumsAlong(numbers, shape, dim);
    if (sums.every((sum) => Math.abs(sum - 1) <= MAX_DISTANCE_FROM_ONE)) return Number(sums[0].toPrecision(4));
  }
  return null;
}

/** A target is not between 0 and 1. */
function diagnosisOfTarget(facts: RunFacts, op: Operation, name: string, value: number): Diagnosis | null {
  const range = facts.rangeOf(op.inputs[1], op.step);
  if (!range || (range.min >= 0 && range.max <= 1) || isMaskedOrIndexed(facts, op)) return null;
  const held = range.min < 0 ? range.min : range.max;
  return diagnosisOf(facts, op, { variant: "targets", name, value, operand: op.inputs[1], held });
}

/** Whether the losses of single elements are masked or picked from, so that those of targets out of range are left. */
function isMaskedOrIndexed(facts: RunFacts, { outputs: [losses] }: Operation) {
  return facts.usesOf(losses).some((use) => PICKING.test(operationName(use.name)) && !facts.isInsideBackward(use.step));
}

interface BelowZero {
  variant: string;
  name: string;
  value: number;
  operand: string;
  /** the number that shows what the operand is */
  held: number;
}

function diagnosisOf(facts: RunFacts, op: Operation, { variant, name, value, operand, held }: BelowZero): Diagnosis {
  const x = facts.nameFact(operand, op.step);
  const loss = facts.nameFact(op.outputs[0], op.step);
  const cells = facts.cellsOf(operand, op.step);
  const made = facts.birthStep(operand);
  const inputName = nameTextOfFact(x);
  return {
    variant,
    cause: op.step,
    chain: [
      cells && made < op.step && facts.steps[made] && [made, "made", [operand]],
      [op.step, "checked", [op.outputs[0]]],
    ],
    names: [x, loss],
    facts: {
      x,
      loss,
      op: codeFact(name),
      value: numbersText([Number(value.toPrecision(4))], true),
      held: numbersText([held], true),
      values: cells ? numbersText(cells) : "",
    },
    fixes: variant === "probabilities" ? [["log_of_operand", { name: inputName }]] : [],
  };
}
