/**
 * A loss, or a count of right answers, between a column and a row of as many numbers: broadcasting makes a table, and
 * nothing raises.
 */

import { byLine, diagnosis, madeBefore, nameTextOfFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { operationName } from "../facts/operation_name.ts";
import type { Operation } from "../facts/scan.ts";

export const FINDINGS = [
  diagnosis({
    kind: "shape_mismatch",
    severity: "warning",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: ({ scan }) => scan.operationsNamed(/^(?:sub|broadcast_tensors)$/),
    once: byLine,
    say: broadcastLoss,
  }),
  diagnosis({
    kind: "shape_mismatch",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:eq|ne)$/),
    once: byLine,
    say: comparedTable,
  }),
];

const BROADCASTING_OPERATIONS = new Set(["aten::sub.Tensor", "aten::broadcast_tensors"]);
const LOSS_OPERATION = /^aten::(?:\w+_loss\b|pow|square|abs|mul|huber)/;
/** A program that adds the dimension itself means the table. */
const RESHAPING_OPERATION = /unsqueeze|view|reshape|index|select|slice|expand/;
const CHOICE = /^(?:topk|max|argmax|round|gt|ge|lt|le|sign|sort)$/;
const CONVERSION = /^(?:to|_to_copy|float|double|long|int|type_as)$/;
const MAX_CONVERSIONS = 4;
const COUNT = /^(?:sum|mean|count_nonzero)$/;
/** So many steps after a difference its square or the like is looked for. */
const MAX_STEPS_TO_LOSS = 3;

function broadcastLoss(facts: RunFacts, op: Operation): Diagnosis | null {
  const { name, inputs, outputs, step } = op;
  if (!BROADCASTING_OPERATIONS.has(name) || inputs.length !== 2 || !op.requires_grad.some(Boolean)) return null;
  const pair = columnAndRowOperands(facts, inputs, step);
  return pair && isUsedInLoss(facts, outputs, step) ? diagnosisOf(facts, pair, step) : null;
}

/** A comparison, where what it gives is counted and one of the two was chosen. */
function comparedTable(facts: RunFacts, { inputs, outputs, step }: Operation): Diagnosis | null {
  if (facts.steps[step].visit || inputs.length !== 2) return null;
  const pair = columnAndRowOperands(facts, inputs, step, false);
  if (
    !pair ||
    facts.tensor(pair.column, step)?.storage === facts.tensor(pair.row, step)?.storage ||
    !isCounted(facts, outputs[0], step)
  )
    return null;
  if (![pair.column, pair.row].some((uid) => isChoice(facts, uid))) return null;
  return { ...diagnosisOf(facts, pair, step), variant: "compared" };
}

/** Whether a tensor says which class was chosen, as the largest or by a threshold, in whatever dtype. */
function isChoice(facts: RunFacts, uid: string) {
  let op = facts.producingOperation(uid);
  for (let k = 0; op && k < MAX_CONVERSIONS && CONVERSION.test(operationName(op.name)); k++)
    op = facts.producingOperation(op.inputs[0]);
  return CHOICE.test(operationName(op?.name ?? ""));
}

/** Whether a comparison goes on into a sum or a mean over all of it, through conversions. */
function isCounted(facts: RunFacts, uid: string, step: number) {
  const followed = new Set([uid]);
  for (let i = step; i <= Math.min(step + MAX_STEPS_TO_LOSS, facts.steps.length - 1); i++)
    for (const { name, inputs, outputs } of facts.opsAt(i)) {
      if (!followed.has(inputs[0])) continue;
      if (COUNT.test(operationName(name))) return (facts.handle(outputs[0], i)?.shape ?? []).length === 0;
      if (CONVERSION.test(operationName(name))) followed.add(outputs[0]);
    }
  return false;
}

/** The operands as a column and a row. In a loss one is computed and the other given. */
function columnAndRowOperands(
  facts: RunFacts,
  inputs: string[],
  step: number,
  isLoss = true,
): { column: string; row: string; size: number } | null {
  for (const [column, row] of [inputs, [...inputs].reverse()]) {
    const [columnTensor, rowTensor] = [facts.tensor(column, step), facts.tensor(row, step)];
    const [size, width] = columnTensor?.shape ?? [];
    if (columnTensor?.shape?.length !== 2 || width !== 1 || size < 2) continue;
    if (
      rowTensor?.shape?.length !== 1 ||
      rowTensor.shape[0] !== size ||
      (isLoss && columnTensor.requires_grad === rowTensor.requires_grad)
    )
      continue;
    if (!RESHAPING_OPERATION.test(facts.producingOperation(column)?.name ?? "")) return { column, row, size };
  }
  return null;
}

/** Whether a difference goes on into a loss. */
function isUsedInLoss(facts: RunFacts, outputs: string[], step: number) {
  for (let i = step; i <= Math.min(step + MAX_STEPS_TO_LOSS, facts.steps.length - 1); i++)
    if (
      facts
        .opsAt(i)
        .some(({ name, inputs }) => LOSS_OPERATION.test(name) && inputs.some((uid) => outputs.includes(uid)))
    )
      return true;
  return false;
}

function diagnosisOf(
  facts: RunFacts,
  { column, row, size }: { column: string; row: string; size: number },
  step: number,
): Diagnosis {
  const [x, y] = [facts.nameFact(column, step), facts.nameFact(row, step)];
  const findingFacts = {
    x,
    y,
    n: size,
    x_shape: tupleText([size, 1]),
    y_shape: tupleText([size]),
  };
  return {
    variant: "table",
    severity: "warning",
    cause: step,
    chain: [
      [facts.birthStep(row), "made", [row], { x: y, x_shape: findingFacts.y_shape }],
      madeBefore(facts, column, step),
      [step, "counted", [column, row]],
    ],
    names: [x, y],
    facts: findingFacts,
    fixes: nameTextOfFact(y) ? [["unsqueeze_operand", { name: nameTextOfFact(y) }]] : [],
  };
}
