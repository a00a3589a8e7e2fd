/**
 * Fractions that were converted to integers, of which nothing but 0 and ±1 is left, and that are computed with as if
 * they were there.
 */

import { lineOfCandidate, codeFact, diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { cellAsNumber, numbersText } from "../facts/cell_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "integer_wrapped",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:to|_to_copy|type_as)$/),
    once: lineOfCandidate,
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

const ARITHMETIC = /^(?:add|sub|rsub|mul|div|addcmul|lerp|matmul|mm|bmm|mv|dot)_?$/;
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
