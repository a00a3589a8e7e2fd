/**
 * A loss, or a count of right answers, between a column and a row of as many numbers: broadcasting makes a table, and
 * nothing raises. The same where one choice among all elements is compared with one label for each row.
 */

import { diagnosis, statementOfCandidate, madeBefore, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";

export const FINDINGS = [
  diagnosis({
    kind: "shape_mismatch",
    severity: "warning",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: ({ scan }) => scan.operationsNamed(/^(?:sub|mul|broadcast_tensors)$/),
    once: statementOfCandidate,
    say: (facts, op) => broadcastLoss(facts, op) ?? widenedInLoss(facts, op) ?? pairedInMean(facts, op),
  }),
  diagnosis({
    kind: "shape_mismatch",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^(?:eq|ne)$/),
    once: statementOfCandidate,
    say: (facts, op) => comparedTable(facts, op) ?? choiceAmongAll(facts, op),
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
const MAX_STEPS_TO_MEAN = 8;
const ELEMENTWISE =
  /^(?:sub|rsub|mul|div|neg|add|pow|abs|exp|log|clamp|clamp_min|clamp_max|square|minimum|maximum|min|max)$/;

function broadcastLoss(facts: RunFacts, op: Operation): Diagnosis | null {
  const { name, inputs, outputs, step } = op;
  if (!BROADCASTING_OPERATIONS.has(name) || inputs.length !== 2 || !op.requires_grad.some(Boolean)) return null;
  const pair = columnAndRowOperands(facts, inputs, step);
  return pair && isUsedInLoss(facts, outputs, step) ? diagnosisOf(facts, pair, step) : null;
}

/** A loss of torch's between rows of one number and rows of several: each is compared with all of its row. */
function widenedInLoss(facts: RunFacts, { name, inputs, outputs, step }: Operation): Diagnosis | null {
  if (operationName(name) !== "broadcast_tensors" || inputs.length !== 2) return null;
  const isLoss = (op: Operation) => LOSS_OPERATION.test(op.name) && op.inputs.some((uid) => outputs.includes(uid));
  if (!facts.opsAt(step).some(isLoss)) return null;
  const shapes = inputs.map((uid) => facts.handle(uid, step)?.shape ?? []);
  const narrow = shapes.findIndex((shape) => shape.length > 1 && shape.at(-1) === 1);
  const [from, to] = [shapes[narrow], shapes[1 - narrow]];
  if (!from || from.length !== to.length || from[0] < 2 || (to.at(-1) ?? 1) < 2) return null;
  if (String(from.slice(0, -1)) !== String(to.slice(0, -1))) return null;
  const [x, y] = [inputs[narrow], inputs[1 - narrow]];
  const [narrowFact, wideFact] = [x, y].map((uid) => facts.nameFact(namedOrDetached(facts, uid, step), step));
  const [narrowShape, wideShape] = [from, to].map(tupleText);
  return {
    variant: "widened",
    cause: step,
    chain: [madeBefore(facts, y, step, { x: wideFact, x_shape: wideShape }), [step, "counted", [x, y]]],
    facts: { x: narrowFact, y: wideFact, n: to.at(-1) ?? 1, x_shape: narrowShape, y_shape: wideShape },
  };
}

/** A comparison, where what it gives is counted and one of the two was chosen. */
function comparedTable(facts: RunFacts, { inputs, outputs, step }: Operation): Diagnosis | null {
  if (facts.steps[step].visit || inputs.length !== 2) return null;
  const pair = columnAndRowOperands(facts, inputs, step, false);
  if (!pair || sharesStorage(facts, pair, step) || !isCounted(facts, outputs[0], step)) return null;
  if (![pair.column, pair.row].some((uid) => isChoice(facts, uid))) return null;
  return { ...diagnosisOf(facts, pair, step), variant: "compared" };
}

/**
 * Numbers of one batch that meet as a column and a row, and end in a mean: an advantage and the logarithm of a
 * probability, two estimates. Whoever means the table brings another one to it, or reads its rows.
 */
function pairedInMean(facts: RunFacts, { inputs, outputs, step }: Operation): Diagnosis | null {
  if (facts.steps[step].visit || inputs.length !== 2) return null;
  const pair = columnAndRowOperands(facts, inputs, step, false);
  if (!pair || sharesStorage(facts, pair, step)) return null;
  const gradients = inputs.map((uid) => Boolean(facts.tensor(uid, step)?.requires_grad));
  const isComparedInLoss = gradients[0] !== gradients[1] && isUsedInLoss(facts, outputs, step);
  const mean = isComparedInLoss ? null : meanOfTable(facts, outputs[0], step, pair.size);
  if (!mean) return null;
  const said = diagnosisOf(facts, pair, step);
  return { ...said, variant: "paired", facts: { ...said.facts, reduced: facts.lineOf(mean.step) } };
}

/** The mean or sum over all of a table, with a gradient, where only numbers of one batch join on the way. */
function meanOfTable(facts: RunFacts, table: string, step: number, size: number): Operation | null {
  const followed = new Set([table]);
  for (let i = step; i <= Math.min(step + MAX_STEPS_TO_MEAN, facts.steps.length - 1); i++)
    for (const op of facts.opsAt(i)) {
      if (!op.inputs.some((uid) => followed.has(uid))) continue;
      if (/^(?:mean|sum)$/.test(operationName(op.name)))
        return facts.handle(op.outputs[0], i)?.shape?.length === 0 && op.requires_grad[0] ? op : null;
      const others = op.inputs.filter((uid) => !followed.has(uid));
      if (!ELEMENTWISE.test(operationName(op.name)) || !others.every((uid) => isOfBatch(facts, uid, size))) return null;
      followed.add(op.outputs[0]);
    }
  return null;
}

/** Whether a tensor has as many numbers as a batch, or was made of such alone, number by number. */
function isOfBatch(facts: RunFacts, uid: string, size: number, depth = 0): boolean {
  const op = facts.producingOperation(uid);
  if ((facts.scan.initialFields(uid)?.shape ?? []).reduce((a: number, b: number) => a * b, 1) <= size) return true;
  const isElementwise = op && depth < MAX_CONVERSIONS && ELEMENTWISE.test(operationName(op.name));
  return Boolean(isElementwise && op.inputs.every((input) => isOfBatch(facts, input, size, depth + 1)));
}

/** An argmax without `dim`, one number, that is compared with a label for each row, and counted. */
function choiceAmongAll(facts: RunFacts, { inputs, outputs, step }: Operation): Diagnosis | null {
  if (facts.steps[step].visit || inputs.length !== 2 || !isCounted(facts, outputs[0], step)) return null;
  for (const [choice, labels] of [inputs, [...inputs].reverse()]) {
    const maker = facts.producingOperation(choice);
    const shape = facts.handle(maker?.inputs[0], step)?.shape ?? [];
    const [rows] = facts.handle(labels, step)?.shape ?? [];
    if (!maker || operationName(maker.name) !== "argmax" || facts.handle(choice, step)?.shape?.length) continue;
    if (shape.length < 2 || facts.handle(labels, step)?.shape?.length !== 1 || rows !== shape[0] || rows < 2) continue;
    const [x, y] = [facts.nameFact(maker.inputs[0], maker.step), facts.nameFact(labels, step)];
    return {
      variant: "flattened",
      cause: maker.step,
      chain: [
        [maker.step, "made", [choice], { x, x_shape: tupleText(shape) }],
        [step, "counted", [labels], { y }],
      ],
      facts: { x, y, n: rows, x_shape: tupleText(shape), counted: facts.lineOf(step) },
    };
  }
  return null;
}

/** Whether a tensor says which class was chosen, as the largest or by a threshold, in whatever dtype. */
function isChoice(facts: RunFacts, uid: string) {
  let op = facts.producingOperation(uid);
  for (let k = 0; op && k < MAX_CONVERSIONS && CONVERSION.test(operationName(op.name)); k++)
    op = facts.producingOperation(op.inputs[0]);
  return CHOICE.test(operationName(op?.name ?? ""));
}

function sharesStorage(facts: RunFacts, { column, row }: { column: string; row: string }, step: number) {
  return facts.tensor(column, step)?.storage === facts.tensor(row, step)?.storage;
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

/** What a tensor without a name was detached from. */
function namedOrDetached(facts: RunFacts, uid: string, step: number) {
  const cut = facts.nameText(uid, step)
    ? undefined
    : facts.eventsOfKind("path_cut").find(({ result }) => result === uid);
  return cut?.tensor ?? uid;
}

function diagnosisOf(
  facts: RunFacts,
  { column, row, size }: { column: string; row: string; size: number },
  step: number,
): Diagnosis {
  const [x, y] = [facts.nameFact(namedOrDetached(facts, column, step), step), facts.nameFact(row, step)];
  const findingFacts = { x, y, n: size, x_shape: tupleText([size, 1]), y_shape: tupleText([size]) };
  return {
    variant: "table",
    severity: "warning",
    cause: step,
    chain: [
      [facts.birthStep(row), "made", [row], { x: y, x_shape: findingFacts.y_shape }],
      madeBefore(facts, column, step),
      [step, "counted", [column, row]],
    ],
    facts: findingFacts,
    fixes: nameTextOfFact(y) ? [["unsqueeze_operand", { name: nameTextOfFact(y) }]] : [],
  };
}
