/**
 * Arithmetic of small integers that left their range and came in again at the other end: 3 − 5 is 254 as a uint8; and
 * fractions that were converted to integers, of which nothing but 0 and ±1 is left, and that are computed with.
 */

import { codeFact, diagnosis, statementOfCandidate, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Operation, RunFacts } from "../diagnosis.ts";
import { literalValue } from "../../syntax/expressions.ts";
import { nodesOfKind, childOf, type SyntaxNode } from "../../syntax/tree.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { cellAsNumber, numbersText } from "../facts/cell_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "integer_wrapped",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:add|sub|mul)_?$/),
    once: statementOfCandidate,
    say: (facts, op) => {
      const name = operationName(op.name).replace(/_$/, "");
      if (facts.steps[op.step].visit || !ARITHMETIC[name] || !op.inputs.length || !op.outputs.length) return null;
      const dtype = dtypeOf(facts, op.outputs[0]);
      const element = RANGES[dtype] ? firstWrapped(facts, op, name, dtype) : null;
      if (!element) return null;
      const names = op.inputs.map((uid) => facts.nameFact(uid, op.step));
      const [x] = names;
      const made = facts.birthStep(op.inputs[0]);
      const operandName = nameTextOfFact(x);
      return {
        cause: op.step,
        chain: [
          made < op.step && facts.steps[made] && [made, "made", [op.inputs[0]]],
          [op.step, "checked", [...op.inputs, ...op.outputs]],
        ],
        names,
        facts: {
          x,
          dtype: codeFact(dtype),
          ...element,
          sign: ARITHMETIC[name].sign,
          lowest: RANGES[dtype][0],
          highest: RANGES[dtype][1],
        },
        fixes: operandName ? [["wider_integer", { name: operandName }]] : [],
      };
    },
  }),
  diagnosis({
    kind: "integer_wrapped",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:to|_to_copy|type_as)$/),
    once: statementOfCandidate,
    say: (facts, op) => {
      const [[source], [result]] = [op.inputs, op.outputs];
      const use = areFractionsLost(facts, op) ? arithmeticWith(facts, result, op.step) : null;
      if (!use) return null;
      const x = facts.nameFact(source, op.step);
      const before = cellsReadByOperation(facts, source, op.step) ?? [];
      const after = facts.cellsOf(result, op.step) ?? [];
      const chosen = before
        .flatMap((cell, k) => (Number.isInteger(cellAsNumber(cell)) ? [] : [k]))
        .slice(0, MAX_LISTED);
      return {
        variant: "cut",
        cause: op.step,
        chain: [
          [op.step, "made", [source, result]],
          [use.step, "used", [result]],
        ],
        facts: {
          x,
          dtype: codeFact(dtypeOf(facts, result)),
          before: numbersText(chosen.map((k) => before[k])),
          after: numbersText(chosen.map((k) => after[k])),
          effect: facts.steps[use.step].line,
          op: codeFact(operationName(use.name)),
        },
      };
    },
  }),
];

/** The smallest and the largest number of a type. */
const RANGES: Record<string, [number, number]> = {
  uint8: [0, 255],
  int8: [-128, 127],
  int16: [-32768, 32767],
  uint16: [0, 65535],
};
const ARITHMETIC: Record<string, { sign: string; of: (a: number, b: number) => number }> = {
  add: { sign: "+", of: (a, b) => a + b },
  sub: { sign: "−", of: (a, b) => a - b },
  mul: { sign: "×", of: (a, b) => a * b },
};

/** As it was made: torch lets no tensor change it. */
function dtypeOf(facts: RunFacts, uid: string) {
  return unqualifiedDtype(String(facts.scan.initialFields(uid)?.dtype ?? ""));
}

interface WrappedElement {
  a: number;
  b: number;
  got: number;
}

/**
 * The first element whose true value is out of range; null where there is none, or the operands' numbers are not known.
 */
function firstWrapped(facts: RunFacts, op: Operation, name: string, dtype: string): WrappedElement | null {
  const results = facts.numbersOf(op.outputs[0], op.step);
  if (!results?.length) return null;
  const operands = op.inputs.map((uid) => operandNumbers(facts, op, uid, results.length));
  const [first, second = constantOperand(facts, op, name)] = operands;
  if (!first || !second) return null;
  const [min, max] = RANGES[dtype];
  for (let k = 0; k < results.length; k++) {
    const [a, b] = [first[k % first.length], second[k % second.length]];
    const exact = ARITHMETIC[name].of(a, b);
    const span = max - min + 1;
    if (exact >= min && exact <= max) continue;
    if ((((exact - results[k]) % span) + span) % span === 0) return { a, b, got: results[k] };
  }
  return null;
}

/**
 * What an operand held before the operation; null where it was not recorded, or its elements do not pair up one by one.
 */
function operandNumbers(facts: RunFacts, op: Operation, uid: string, count: number): number[] | null {
  const isWritten = op.outputs.includes(uid);
  const numbers = facts.numbersOf(uid, isWritten ? op.step - 1 : op.step);
  if (!isWritten && facts.writesOf(facts.handle(uid, op.step)?.storage).some(({ step }) => step === op.step))
    return null;
  return numbers && (numbers.length === count || numbers.length === 1) ? numbers : null;
}

/** A number that the statement writes out as the second operand. */
function constantOperand(facts: RunFacts, op: Operation, name: string): number[] | null {
  const sign = { add: "+", sub: "-", mul: "*" }[name];
  const operations = nodesOfKind(facts.syntax(op.step), "BinOp", "AugAssign").filter(({ value }) => value === sign);
  const numbers = operations.flatMap((node) => {
    const operand = childOf(node, node.kind === "BinOp" ? "right" : "value");
    const number = literalValue(node) === undefined ? (literalValue(operand) ?? powerWritten(operand)) : null;
    return Number.isInteger(number) ? [Number(number)] : [];
  });
  return numbers.length === 1 ? numbers : null;
}

/** The number that a power of two literals stands for. */
function powerWritten(node: SyntaxNode | null | undefined) {
  if (node?.kind !== "BinOp" || node.value !== "**") return null;
  return Number(literalValue(childOf(node, "left"))) ** Number(literalValue(childOf(node, "right")));
}

const COMPUTES_WITH = /^(?:add|sub|rsub|mul|div|addcmul|lerp|matmul|mm|bmm|mv|dot)_?$/;
const MIN_FRACTIONS = 3;
/** So many elements are told. */
const MAX_LISTED = 3;

/** Whether an operation made integers of numbers between -1 and 1, most of which are none. */
function areFractionsLost(facts: RunFacts, { inputs: [source], outputs: [result], step }: Operation) {
  if (!source || !result || source === result) return false;
  if (!/^(?:u?int\d+)$/.test(dtypeOf(facts, result)) || !/float/.test(dtypeOf(facts, source))) return false;
  const numbers = cellsReadByOperation(facts, source, step)?.map(cellAsNumber);
  if (!numbers?.length || numbers.some((number) => !(Math.abs(number) <= 1))) return false;
  const fractions = numbers.filter((number) => !Number.isInteger(number));
  return new Set(fractions).size >= MIN_FRACTIONS && fractions.length * 2 > numbers.length;
}

/** The elements that an operation read, also of what its statement let go of. */
function cellsReadByOperation(facts: RunFacts, uid: string, step: number) {
  return facts.cellsOf(uid, step) ?? facts.cellsOf(uid, step - 1);
}

/** The first operation that computes with integers and numbers with fractions; null where they only choose or count. */
function arithmeticWith(facts: RunFacts, uid: string, step: number): Operation | null {
  const storage = facts.handle(uid, step)?.storage;
  const isOfResult = (other: string, at: number) =>
    other === uid || (storage && facts.handle(other, at)?.storage === storage);
  for (const op of facts.scan.operationsNamed(COMPUTES_WITH))
    if (
      op.step >= step &&
      op.inputs.some((other) => /float/.test(dtypeOf(facts, other))) &&
      op.inputs.some((other) => isOfResult(other, op.step))
    )
      return op;
  return null;
}
