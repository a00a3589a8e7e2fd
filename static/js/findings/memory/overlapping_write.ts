/**
 * A write in place that reads the memory it writes: an operand is another view of it, and its elements change on the
 * way.
 */

import { declareErrorDiagnosis, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { unqualifiedDtype, cellReads, type StridedLayout } from "../../trace/reads.ts";
import type { Handle } from "../../trace/entities.ts";
import { cellAsNumber, numbersText } from "../facts/cell_values.ts";

export const FINDINGS = [
  declareErrorDiagnosis({
    kind: "shared_memory",
    message: /some elements of the input tensor and the written-to tensor refer to a single memory location/,
    say: (facts) => facts.failedOperation && diagnosisOf(facts, facts.failedOperation, null),
  }),
  diagnosis({
    kind: "shared_memory",
    severity: "warning",
    of: inPlaceOperationsOnOneStorage,
    once: statementOfCandidate,
    say: (facts, op) => {
      const outcome = wrongElements(facts, op);
      return outcome && diagnosisOf(facts, op, outcome);
    },
  }),
];

/** elements: before, as torch left them, with a copy */
interface WrongElements {
  before: number[];
  after: number[];
  expected: number[];
}

const MAX_ELEMENTS = 1024;
const TOLERANCE = 1e-5;

const IN_PLACE_ARITHMETIC: Record<string, (a: number, b: number) => number> = {
  add_: (a, b) => a + b,
  sub_: (a, b) => a - b,
  mul_: (a, b) => a * b,
  div_: (a, b) => a / b,
  copy_: (_, b) => b,
};

const IN_PLACE_ARITHMETIC_NAME = new RegExp(`^(?:${Object.keys(IN_PLACE_ARITHMETIC).join("|")})$`);

/** Arithmetic in place whose two operands are tensors on one storage. */
function inPlaceOperationsOnOneStorage(facts: RunFacts): Operation[] {
  return facts.scan.operationsNamed(IN_PLACE_ARITHMETIC_NAME).filter(({ inputs, outputs, step }) => {
    const [target, operand] = inputs;
    if (inputs.length !== 2 || target !== outputs[0] || target === operand) return false;
    const storage = facts.storageOf(operand, step);
    return storage && storage === facts.storageOf(target, step);
  });
}

/** What became of the elements where an operand changed while it was read; null where none did, or the trace does
 * not say. */
function wrongElements(facts: RunFacts, op: Operation): WrongElements | null {
  const compute = IN_PLACE_ARITHMETIC[operationName(op.name)];
  const [target, operand] = op.inputs.map((uid) => facts.handle(uid, op.step));
  const { storage } = target ?? {};
  if (!compute || !target || !operand || op.inputs[0] === op.inputs[1] || operand.storage !== storage) return null;
  if (facts.writesOf(storage).filter(({ step }) => step === op.step).length !== 1) return null;
  const writtenCells = indicesOfCellsRead(target);
  const readCells = indicesOfCellsRead(broadcastHandle(operand, target.shape ?? []));
  if (
    !writtenCells.length ||
    writtenCells.length !== readCells.length ||
    writtenCells.every((cell, k) => cell === readCells[k])
  )
    return null;
  const values = [op.step - 1, op.step].map((step) => {
    const row = facts.storage(storage, step)?.cells?.[unqualifiedDtype(target.dtype)] ?? [];
    return row.map(cellAsNumber);
  });
  const [before, after] = values;
  const expected = writtenCells.map((cell, k) => compute(before[cell], before[readCells[k]]));
  const actual = writtenCells.map((cell) => after[cell]);
  const isExplained = writtenCells.every(
    (cell, k) => isClose(actual[k], expected[k]) || isClose(actual[k], compute(before[cell], after[readCells[k]])),
  );
  const hasWrongValue = actual.some((value, k) => !isClose(value, expected[k]));
  return isExplained && hasWrongValue
    ? { before: writtenCells.map((cell) => before[cell]), after: actual, expected }
    : null;
}

function indicesOfCellsRead(reading: StridedLayout) {
  return cellReads(reading, MAX_ELEMENTS).map(({ cell }) => cell);
}

/** A handle as an operation with a larger one reads it. */
function broadcastHandle(handle: Handle, shape: number[]) {
  const ownShape = handle.shape ?? [];
  const missingDimensions = shape.length - ownShape.length;
  const stride = shape.map((size, k) =>
    k < missingDimensions || ownShape[k - missingDimensions] !== size
      ? 0
      : (handle.stride?.[k - missingDimensions] ?? 0),
  );
  return { ...handle, shape, stride };
}

function isClose(a: number, b: number) {
  return Object.is(a, b) || Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(b));
}

/** `outcome` is null where torch refused. */
function diagnosisOf(facts: RunFacts, op: Operation, outcome: WrongElements | null): Diagnosis {
  const { step } = op;
  const handlesBefore = facts.index.handlesOfStorage(facts.handle(op.inputs[0], step)?.storage ?? "", step - 1);
  const uid = [op.inputs[0], ...handlesBefore].find((each) => facts.naming.nameAt(each, step)) ?? op.inputs[0];
  const x = facts.nameFact(uid, step);
  const birthPlace = facts.place(Math.max(0, facts.birthStep(uid)));
  return {
    variant: outcome ? "overlap" : "overlap_refused",
    cause: step,
    chain: [
      [birthPlace, "made", [uid]],
      [step, outcome ? "written" : "checked", [uid]],
    ],
    facts: {
      x,
      op: operationName(op.name),
      is: numbersText(outcome?.after ?? []),
      expected: numbersText(outcome?.expected ?? []),
    },
    fixes: [["clone_operand"]],
  };
}
