/**
 * A result too large for float16: an operation of finite numbers that gave infinity, without a NaN that would tell of
 * it.
 */

import { codeFact, madeBefore, operationName, type Diagnosis, type Operation, type RunFacts } from "../diagnosis.ts";
import { cellAsNumber, numbersText } from "../facts/cell_values.ts";
import type { Delta } from "../../trace/wire.ts";

/** Operations whose exact result is finite where their operands are. */
const FINITE_OF_FINITE =
  /^(?:pow|square|mul|add|sum|mean|var|norm|linalg_vector_norm|cumsum|dot|mv|mm|bmm|matmul|linear|addmm|einsum)_?$/;
const LARGEST_FLOAT16 = 65504;

export function diagnoseHalfOverflow(facts: RunFacts): Diagnosis[] {
  for (let step = 0; step < facts.steps.length; step++) {
    const { set, visit } = facts.steps[step];
    if (visit || !Object.values(set).some(setsInfiniteHalf)) continue;
    for (const op of facts.opsAt(step)) {
      if (!FINITE_OF_FINITE.test(operationName(op.name))) continue;
      const output = op.outputs.find((uid) => /(?:^|\.)float16$/.test(`${facts.scan.initialFields(uid)?.dtype ?? ""}`));
      const operands = output ? overflowedOperands(facts, op, output) : null;
      if (output && operands) return [diagnosisOf(facts, op, output, operands)];
    }
  }
  return [];
}

/** Whether a storage got an infinite float16 in a step: the operations of other steps need not be looked at. */
function setsInfiniteHalf({ cells, cells_at: patches }: Delta) {
  const changed = [...(cells?.float16 ?? []), ...Object.values(patches?.float16 ?? {})];
  return changed.some((cell) => cellAsNumber(cell) === Infinity);
}

/**
 * What an operation took, where it gave plus infinity for numbers that are all finite; null otherwise, or where they
 * are not listed.
 */
function overflowedOperands(facts: RunFacts, op: Operation, output: string): string[] | null {
  if (op.inputs.includes(output)) return null;
  if (!facts.cellsOf(output, op.step)?.some((cell) => cellAsNumber(cell) === Infinity)) return null;
  const areFinite = (uid: string) =>
    facts.cellsOf(uid, op.step)?.every((cell) => Number.isFinite(cellAsNumber(cell))) ?? false;
  return op.inputs.length && op.inputs.every(areFinite) ? op.inputs : null;
}

function diagnosisOf(facts: RunFacts, op: Operation, output: string, operands: string[]): Diagnosis {
  const [operand] = operands;
  const x = facts.nameFact(operand, op.step);
  return {
    variant: "overflow",
    cause: op.step,
    chain: [
      madeBefore(facts, operand, op.step),
      [op.step, "nonfinite", [output], { x: facts.nameFact(output, op.step) }],
    ],
    facts: {
      x,
      op: codeFact(operationName(op.name)),
      values: numbersText(facts.cellsOf(operand, op.step) ?? []),
      largest: LARGEST_FLOAT16,
    },
  };
}
