/**
 * Probabilities that a softmax formed down the batch, and that are then read as those of the classes of each sample.
 */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { sumsAlong } from "../facts/tensor_values.ts";
import {
  callArgument,
  calleeName,
  callsIn,
  hasUnpackedArguments,
  isTorchMember,
  literalValue,
} from "../../syntax/expressions.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "samples_mixed",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(SOFTMAX),
    once: statementOfCandidate,
    say: (facts, op) => {
      if (facts.isInsideBackward(op.step) || !op.outputs.length) return null;
      const shape = facts.handle(op.outputs[0], op.step)?.shape ?? [];
      if (![2, 3].includes(shape.length) || shape[0] < 2 || shape[1] < 2 || softmaxDim(facts, op, shape) !== 0)
        return null;
      const reader = shape.length === 2 ? readerByClass(facts, op, shape) : null;
      if (reader) return diagnosisOf(facts, op, shape, reader);
      const product = productBySample(facts, op, shape[0]);
      return product && attentionDiagnosis(facts, op, shape, product);
    },
  }),
  diagnosis({
    kind: "samples_mixed",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^mean$/),
    once: statementOfCandidate,
    say: diagnosisOfBatchMean,
  }),
];

const LAYER = /^(?:linear|addmm)$/;
const SOFTMAX = /^(?:log_)?softmax$/;
/** Operations after which the rows are still the samples, and the columns the classes. */
const ELEMENTWISE = /^(?:log|neg|clamp|clamp_min|add|mul|div|pow|sqrt|exp|to|float|clone|detach)$/;
/** Operations that leave the elements in their order. */
const KEEPS_ORDER = /^(?:view|reshape|_unsafe_view|unsqueeze|contiguous|clone|to|float|dropout|native_dropout)$/;
const CLASS_LOSS = /^(?:nll_loss\w*|cross_entropy_loss)$/;
const ELEMENTWISE_LOSS = /^(?:mse_loss|binary_cross_entropy\w*|kl_div|l1_loss|mul|sub)$/;
/** Operations that choose columns, each with the place of the dimension among the arguments of the method. */
const CHOICES = new Map([
  ["argmax", 0],
  ["max", 0],
  ["topk", 1],
]);
const MAX_FOLLOWED = 60;
const MAX_STEPS_AHEAD = 60;

/** The dimension along which an operation's results add up to 1: as its node has it, else as the numbers do. */
function softmaxDim(facts: RunFacts, op: Operation, { length }: number[]): number | null {
  const [output] = op.outputs;
  const node = facts.gradFnOf(output, op.step);
  const dim = facts.scan.initialFields(node)?.attrs?.dim;
  if (typeof dim === "number") return dim < 0 ? dim + length : dim;
  const numbers = length === 2 ? facts.numbersOf(output, op.step) : null;
  if (!numbers) return null;
  const values = /log/.test(op.name) ? numbers.map(Math.exp) : numbers;
  const shape = facts.handle(output, op.step)?.shape ?? [];
  const isOne = (along: number) => sumsAlong(values, shape, along).every((sum) => Math.abs(sum - 1) < 1e-3);
  return isOne(0) && !isOne(1) ? 0 : null;
}

/** The operation that takes the columns as the classes of a row. */
function readerByClass(facts: RunFacts, op: Operation, shape: number[]): Operation | null {
  const followed = new Set(op.outputs);
  for (let i = op.step; i < Math.min(facts.steps.length, op.step + MAX_STEPS_AHEAD); i++) {
    if (facts.isInsideBackward(i)) continue;
    for (const other of facts.opsAt(i)) {
      if (other.step === op.step && other.at <= op.at) continue;
      const position = other.inputs.findIndex((uid) => followed.has(uid));
      if (position < 0) continue;
      if (isReadByClass(facts, other, position, shape)) return other;
      const isSameShape = String(facts.handle(other.outputs[0], i)?.shape) === String(shape);
      if (ELEMENTWISE.test(operationName(other.name)) && isSameShape && followed.size < MAX_FOLLOWED)
        for (const uid of other.outputs) followed.add(uid);
    }
  }
  return null;
}

/** A mean of all scores of a batch that is taken off each row's scores, of which one of each row is read then. */
function diagnosisOfBatchMean(facts: RunFacts, op: Operation): Diagnosis | null {
  const [[x], [mean]] = [op.inputs, op.outputs];
  const shape = facts.handle(x, op.step)?.shape ?? [];
  const isOfAll = facts.handle(mean, op.step)?.shape?.length === 0;
  if (facts.isInsideBackward(op.step) || !isOfAll || shape.length !== 2 || shape.some((size) => size < 2)) return null;
  // the rows of what a layer gives are samples; those of a table are not
  if (!LAYER.test(operationName(facts.producingOperation(x)?.name ?? ""))) return null;
  const taken = facts.usesOf(mean).find(({ name, inputs }) => operationName(name) === "sub" && inputs[1] === mean);
  if (!taken || String(facts.handle(taken.outputs[0], taken.step)?.shape) !== String(shape)) return null;
  const reader = readerByClass(facts, taken, shape);
  // what is the same for all scores of a row moves no largest place and no cross entropy
  if (!reader || !/^(?:gather|index|max)$/.test(operationName(reader.name))) return null;
  return {
    variant: "mean",
    cause: op.step,
    chain: [
      [op.step, "shares", [x]],
      [reader.step, "read", [taken.outputs[0]]],
    ],
    names: [facts.nameFact(x, op.step)],
    facts: {
      x: facts.nameFact(x, op.step),
      n: shape[0],
      classes: shape[1],
      right: codeFact("mean(dim=1, keepdim=True)"),
      read: facts.lineOf(reader.step),
    },
  };
}

/** A product of one matrix for each sample that takes what the softmax gave, in rows of one sample or several. */
function productBySample(facts: RunFacts, op: Operation, rows: number): Operation | null {
  const followed = new Set(op.outputs);
  for (let i = op.step; i < Math.min(facts.steps.length, op.step + MAX_STEPS_AHEAD); i++) {
    if (facts.isInsideBackward(i)) continue;
    for (const other of facts.opsAt(i)) {
      if (!other.inputs.some((uid) => followed.has(uid)) || (other.step === op.step && other.at <= op.at)) continue;
      const name = operationName(other.name);
      if (name === "bmm") {
        const batch = facts.handle(other.inputs[0], i)?.shape?.[0] ?? 0;
        return batch > 1 && rows % batch === 0 ? other : null;
      }
      if (KEEPS_ORDER.test(name) && followed.size < MAX_FOLLOWED) for (const uid of other.outputs) followed.add(uid);
    }
  }
  return null;
}

function isReadByClass(facts: RunFacts, op: Operation, position: number, shape: number[]): boolean {
  const name = operationName(op.name);
  if (CLASS_LOSS.test(name)) return position === 0;
  if (name === "index") return position === 0 && isPickOfEachRow(facts, op, shape);
  if (name === "gather")
    return (
      position === 0 &&
      (facts.handle(op.inputs[1], op.step)?.shape ?? [])[0] === shape[0] &&
      attributeOfNode(facts, op) === 1
    );
  if (CHOICES.has(name)) return callsIn(facts.syntax(op.step)).some(isChoiceOfClass);
  if (!ELEMENTWISE_LOSS.test(name) || op.inputs.length < 2) return false;
  const other = op.inputs[position === 0 ? 1 : 0];
  const numbers = facts.numbersOf(other, op.step);
  if (!numbers || String(facts.handle(other, op.step)?.shape) !== String(shape)) return false;
  const isOneHot = numbers.every((number) => number === 0 || number === 1);
  return isOneHot && sumsAlong(numbers, shape, 1).every((sum) => sum === 1);
}

/** Whether a call takes the largest of each row. */
function isChoiceOfClass(call: SyntaxNode) {
  const position = CHOICES.get(calleeName(call));
  if (position === undefined) return false;
  const dim =
    callArgument(call, "dim", position + Number(isTorchMember(childOf(call, "func")))) ?? callArgument(call, "axis");
  if (!dim) return calleeName(call) === "topk" && !hasUnpackedArguments(call);
  return [1, -1].includes(Number(literalValue(dim)));
}

function attributeOfNode(facts: RunFacts, op: Operation) {
  const node = facts.gradFnOf(op.outputs[0], op.step);
  const dim = facts.scan.initialFields(node)?.attrs?.dim;
  return typeof dim === "number" && dim < 0 ? dim + 2 : dim;
}

/** Whether an index takes one column of every row: `p[arange(n), y]`. */
function isPickOfEachRow(facts: RunFacts, op: Operation, [rows, columns]: number[]) {
  const [, first, second] = op.inputs.map((uid) => facts.numbersOf(uid, op.step));
  if (!first || !second || first.length !== rows || second.length !== rows) return false;
  return first.every((row, k) => row === k) && second.every((column) => column >= -columns && column < columns);
}

function diagnosisOf(facts: RunFacts, op: Operation, shape: number[], reader: Operation): Diagnosis {
  const [output] = op.outputs;
  const x = facts.nameFact(output, op.step);
  const numbers = facts.numbersOf(output, op.step);
  const values = numbers && /log/.test(op.name) ? numbers.map(Math.exp) : numbers;
  const row = values ? values.slice(0, shape[1]).reduce((a, b) => a + b, 0) : null;
  return {
    variant: row === null ? "unlisted" : "softmax",
    cause: op.step,
    chain: [
      [op.step, "shares", [output]],
      [reader.step, "read", [output]],
    ],
    names: [x, codeFact("dim")],
    facts: {
      x,
      op: codeFact(operationName(op.name)),
      n: shape[0],
      classes: shape[1],
      wrong: codeFact("dim=0"),
      right: codeFact("dim=1"),
      row: row === null ? "?" : Number(row.toPrecision(3)),
      reader: operationName(reader.name).replace(/_nd$/, ""),
    },
    fixes: [["softmax_of_classes"]],
  };
}

function attentionDiagnosis(facts: RunFacts, op: Operation, shape: number[], product: Operation): Diagnosis {
  const [output] = op.outputs;
  const weight = op.inputs[0];
  const findingFacts = {
    x: facts.nameFact(output, op.step),
    op: codeFact(operationName(op.name)),
    n: shape[0],
    samples: facts.handle(product.inputs[0], product.step)?.shape?.[0] ?? shape[0],
    wrong: codeFact("dim=0"),
    right: codeFact("dim=-1"),
    read: facts.place(product.step).line,
  };
  return {
    variant: "attention",
    cause: op.step,
    chain: [
      [op.step, "shares", [output, weight]],
      [product.step, "read", [output]],
    ],
    names: [findingFacts.x, codeFact("dim")],
    facts: findingFacts,
    fixes: [["softmax_of_positions"]],
  };
}
