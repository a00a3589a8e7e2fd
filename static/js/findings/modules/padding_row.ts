/**
 * The row of an embedding that is meant as padding, which was zeros and was written over: no gradient ever comes to it.
 */

import type { Diagnosis, DiagnosisRow } from "../diagnosis.ts";
import { codeFact } from "../finding.ts";
import { numbersText } from "../facts/cell_values.ts";
import { cellsOfTensor, numbersOfTensor } from "../facts/tensor_values.ts";
import { isOptimizerStep } from "../facts/write_facts.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "padding_row", severity: "warning", diagnose: diagnosePaddingRow }];

function diagnosePaddingRow(facts: RunFacts): Diagnosis[] {
  /** by the weight */
  const out = new Map<string, Diagnosis>();
  for (const [nodeUid, { name }] of facts.index.nodes) {
    if (!/^Embedding(?:Bag)?Backward/.test(name)) continue;
    const born = facts.birthStep(nodeUid);
    const row = facts.scan.initialFields(nodeUid)?.attrs?.padding_idx;
    const op = facts.opsAt(born).find((other) => /^aten::embedding/.test(other.name));
    if (typeof row !== "number" || row < 0 || !op || out.has(op.inputs[0])) continue;
    const diagnosis = diagnosisOf(facts, op.inputs[0], row, born);
    if (diagnosis) out.set(op.inputs[0], diagnosis);
  }
  return [...out.values()];
}

function diagnosisOf(facts: RunFacts, uid: string, row: number, step: number): Diagnosis | null {
  if (!isRowNonzero(facts, uid, row, step)) return null;
  const writes = facts.writesOf(facts.tensor(uid, step)?.storage).filter((write) => write.step <= step);
  const write = writes.find((other) => isRowNonzero(facts, uid, row, other.step));
  const born = facts.birthStep(uid);
  // the rows have another use, as those of an output layer
  if (write && isOptimizerStep(facts, write.step)) return null;
  if (!write || write.step <= born || isRowNonzero(facts, uid, row, write.step - 1)) return null;
  const x = facts.nameFact(uid, write.step);
  const cells = rowOf(cellsOfTensor(facts, uid, step) ?? [], facts.tensor(uid, step)?.shape ?? [], row);
  return {
    severity: "note",
    cause: write.step,
    chain: [
      [born, "made", [uid]],
      [write.step, "written", [uid]],
      [step, "used", [uid]],
    ],
    names: [x],
    facts: {
      x,
      row,
      padding: codeFact(`padding_idx=${row}`),
      values: numbersText(cells),
      effect: facts.steps[step].line,
    },
    fixes: [["zero_padding_row", { row }]],
  };
}

function rowOf<T>(elements: T[], shape: number[], row: number): T[] {
  return elements.slice(row * (shape[1] ?? 0), (row + 1) * (shape[1] ?? 0));
}

/** Whether the row has a number that is not zero; false where the elements are not listed. */
function isRowNonzero(facts: RunFacts, uid: string, row: number, step: number) {
  const numbers = numbersOfTensor(facts, uid, step);
  return numbers !== null && rowOf(numbers, facts.tensor(uid, step)?.shape ?? [], row).some((number) => number !== 0);
}
