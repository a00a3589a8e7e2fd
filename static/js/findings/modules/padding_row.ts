/**
 * The row of an embedding that is meant as padding, which was zeros and was written over: no gradient ever comes to it.
 */

import { codeFact, diagnosis, type RunFacts } from "../diagnosis.ts";
import { numbersText } from "../facts/cell_values.ts";
import { isOptimizerStep } from "../facts/write_origins.ts";

export const FINDINGS = [
  diagnosis({
    kind: "padding_row",
    severity: "note",
    of: paddedEmbeddingLookups,
    once: ({ weight }) => weight,
    say: (facts, { weight: uid, row, step }) => {
      if (!isRowNonzero(facts, uid, row, step)) return null;
      const writes = facts.writesOf(facts.tensor(uid, step)?.storage).filter((write) => write.step <= step);
      const write = writes.find((other) => isRowNonzero(facts, uid, row, other.step));
      const born = facts.birthStep(uid);
      // the rows have another use, as those of an output layer
      if (write && isOptimizerStep(facts, write.step)) return null;
      if (!write || write.step <= born || isRowNonzero(facts, uid, row, write.step - 1)) return null;
      const x = facts.nameFact(uid, write.step);
      const cells = rowOf(facts.cellsOf(uid, step) ?? [], facts.tensor(uid, step)?.shape ?? [], row);
      return {
        cause: write.step,
        chain: [
          [born, "made", [uid]],
          [write.step, "written", [uid]],
          [step, "used", [uid]],
        ],
        facts: {
          x,
          row,
          padding: codeFact(`padding_idx=${row}`),
          values: numbersText(cells),
          effect: facts.steps[step].line,
        },
        fixes: [["zero_padding_row", { row }]],
      };
    },
  }),
];

/** a lookup in an embedding with a row for padding */
interface PaddedEmbeddingLookup {
  weight: string;
  index: string;
  row: number;
  step: number;
}

export function paddedEmbeddingLookups(facts: RunFacts): PaddedEmbeddingLookup[] {
  return [...facts.index.nodes].flatMap(([uid, { name }]) => {
    if (!/^Embedding(?:Bag)?Backward/.test(name)) return [];
    const step = facts.birthStep(uid);
    const row = facts.scan.initialFields(uid)?.attrs?.padding_idx;
    const op = facts.opsAt(step).find((other) => /^aten::embedding/.test(other.name));
    return typeof row === "number" && row >= 0 && op ? [{ weight: op.inputs[0], index: op.inputs[1], row, step }] : [];
  });
}

function rowOf<T>(elements: T[], shape: number[], row: number): T[] {
  return elements.slice(row * (shape[1] ?? 0), (row + 1) * (shape[1] ?? 0));
}

/** Whether the row has a number that is not zero; false where the elements are not listed. */
function isRowNonzero(facts: RunFacts, uid: string, row: number, step: number) {
  const numbers = facts.numbersOf(uid, step);
  return numbers !== null && rowOf(numbers, facts.tensor(uid, step)?.shape ?? [], row).some((number) => number !== 0);
}
