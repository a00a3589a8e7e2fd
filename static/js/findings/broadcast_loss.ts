/** A loss between a column and a row of as many numbers: broadcasting makes a table of them, and nothing raises. */

import { fixHint, chainLink, nameTextOfFact, namesInFacts, type Diagnosis, type Fact } from "./finding.ts";
import { shapeText } from "./operands.ts";
import type { RunFacts } from "./run_facts.ts";

const BROADCASTING_OPERATIONS = new Set(["aten::sub.Tensor", "aten::broadcast_tensors"]);
const BROADCASTING_NAME = /^(?:sub|broadcast_tensors)$/;
const LOSS_OPERATION = /^aten::(?:\w+_loss\b|pow|square|abs|mul|huber)/;
/** A program that adds the dimension itself means the table. */
const RESHAPING_OPERATION = /unsqueeze|view|reshape|index|select|slice|expand/;
/** So many steps after a difference its square or the like is looked for. */
const MAX_STEPS_TO_LOSS = 3;

export function diagnoseBroadcastLoss(facts: RunFacts): Diagnosis[] {
  if (!facts.backwardCalls.length) return [];
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const { name, inputs, outputs, requires_grad, step } of facts.scan.operationsNamed(BROADCASTING_NAME)) {
    if (!BROADCASTING_OPERATIONS.has(name) || inputs.length !== 2) continue;
    if (!requires_grad.some(Boolean) || out.has(facts.steps[step].line)) continue;
    const pair = columnAndRowOperands(facts, inputs, step);
    if (pair && isUsedInLoss(facts, outputs, step)) out.set(facts.steps[step].line, diagnosisOf(facts, pair, step));
  }
  return [...out.values()];
}

/** The operands as a column and a row, where one is computed and the other given. */
function columnAndRowOperands(
  facts: RunFacts,
  inputs: string[],
  step: number,
): { column: string; row: string; size: number } | null {
  for (const [column, row] of [inputs, [...inputs].reverse()]) {
    const [columnTensor, rowTensor] = [facts.tensor(column, step), facts.tensor(row, step)];
    const [size, width] = columnTensor?.shape ?? [];
    if (columnTensor?.shape?.length !== 2 || width !== 1 || size < 2) continue;
    if (
      rowTensor?.shape?.length !== 1 ||
      rowTensor.shape[0] !== size ||
      columnTensor.requires_grad === rowTensor.requires_grad
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
    x_shape: shapeText([size, 1]),
    y_shape: shapeText([size]),
    code: facts.statementFact(step),
  };
  const madeLink = (uid: string, name: Fact, shape: string) => {
    const birth = facts.birthStep(uid);
    return chainLink(facts.place(birth), "made", { x: name, x_shape: shape, code: facts.statementFact(birth) }, [uid]);
  };
  return {
    variant: "table",
    severity: "warning",
    cause: facts.place(step),
    chain: [
      madeLink(row, y, findingFacts.y_shape),
      ...(facts.birthStep(column) < step ? [madeLink(column, x, findingFacts.x_shape)] : []),
      chainLink(facts.place(step), "counted", findingFacts, [column, row]),
    ],
    names: namesInFacts(x, y),
    facts: findingFacts,
    fixes: nameTextOfFact(y) ? [fixHint("unsqueeze_operand", facts.place(step), { name: nameTextOfFact(y) })] : [],
  };
}
