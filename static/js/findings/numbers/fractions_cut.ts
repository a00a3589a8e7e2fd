/**
 * Fractions that were converted to integers, of which nothing but 0 and ±1 is left, and that are computed with as if
 * they were there.
 */

import type { Diagnosis } from "../diagnosis.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { codeFact } from "../finding.ts";
import { cellAsNumber, numbersText } from "../facts/cell_values.ts";
import { operationName } from "../facts/operation_name.ts";
import { cellsOfTensor } from "../facts/tensor_values.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Operation } from "../facts/scan.ts";

const ARITHMETIC = /^(?:add|sub|rsub|mul|div|addcmul|lerp|matmul|mm|bmm|mv|dot)_?$/;
const MIN_FRACTIONS = 3;
/** So many elements are told. */
const MAX_LISTED = 3;

export function diagnoseFractionsCut(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const op of facts.scan.operationsNamed(/^(?:to|_to_copy|type_as)$/)) {
    const { line } = facts.steps[op.step];
    if (out.has(line) || !areFractionsLost(facts, op)) continue;
    const use = arithmeticWith(facts, op.outputs[0], op.step);
    if (use) out.set(line, diagnosisOf(facts, op, use));
  }
  return [...out.values()];
}

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
  return cellsOfTensor(facts, uid, step) ?? cellsOfTensor(facts, uid, step - 1);
}

/** The first operation that computes with integers and numbers with fractions; null where they only choose or count. */
function arithmeticWith(facts: RunFacts, uid: string, step: number): Operation | null {
  const storage = facts.handle(uid, step)?.storage;
  const isOfResult = (other: string, at: number) =>
    other === uid || (storage && facts.handle(other, at)?.storage === storage);
  for (const op of facts.scan.operationsNamed(ARITHMETIC))
    if (
      op.step >= step &&
      op.inputs.some((other) => /float/.test(dtypeOf(facts, other))) &&
      op.inputs.some((other) => isOfResult(other, op.step))
    )
      return op;
  return null;
}

function dtypeOf(facts: RunFacts, uid: string) {
  return unqualifiedDtype(String(facts.scan.initialFields(uid)?.dtype ?? ""));
}

function diagnosisOf(facts: RunFacts, op: Operation, use: Operation): Diagnosis {
  const [source] = op.inputs;
  const [result] = op.outputs;
  const x = facts.nameFact(source, op.step);
  const place = facts.place(op.step);
  const before = cellsReadByOperation(facts, source, op.step) ?? [];
  const after = cellsOfTensor(facts, result, op.step) ?? [];
  const chosen = before.flatMap((cell, k) => (Number.isInteger(cellAsNumber(cell)) ? [] : [k])).slice(0, MAX_LISTED);
  return {
    variant: "cut",
    cause: place,
    chain: [
      [place, "made", [source, result]],
      [use.step, "used", [result]],
    ],
    names: [x],
    facts: {
      x,
      dtype: codeFact(dtypeOf(facts, result)),
      before: numbersText(chosen.map((k) => before[k])),
      after: numbersText(chosen.map((k) => after[k])),
      code: facts.statementFact(op.step),
      effect: facts.steps[use.step].line,
      op: codeFact(operationName(use.name)),
    },
  };
}
