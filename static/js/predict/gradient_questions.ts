/** What is in `.grad` afterwards? Of leaves, of tensors that keep none, and after it was reset. */

import { findEntity, findHandle, type Cell } from "../trace/entities.ts";
import { cellsReadBy, cellAsNumber, numbersText } from "../findings/facts/cell_values.ts";
import { choiceAnswer, typedAnswer, type PredictQuestion } from "../page_state/predict_question.ts";
import { combineCells, elementExpression, isShortNumber, elementsOrFirstElement } from "./tensor_elements.ts";
import type { Entities } from "../trace/state.ts";
import type { NamedHandle, AskableStatement } from "./askable_statements.ts";

type PartialQuestion = Partial<PredictQuestion>;

const ADDED_GRADIENT_QUESTION_WEIGHT = 88;
const CUT_GRAPH_QUESTION_WEIGHT = 87;
const RESET_GRADIENT_QUESTION_WEIGHT = 84;
const NOT_KEPT_GRADIENT_QUESTION_WEIGHT = 80;
const FIRST_GRADIENT_QUESTION_WEIGHT = 70;
/** What backward kept was changed without its notice. */
const WRONG_GRADIENT_QUESTION_WEIGHT = 90;
/** A gradient of longer numbers than a reader works out. */
const LONG_NUMBERS_QUESTION_WEIGHT = 46;

export function gradientQuestions(statement: AskableStatement): PartialQuestion[] {
  if (statement.raised) return [];
  return statement.named.flatMap((tensor) =>
    tensor.handle.kind === "tensor"
      ? statement.isBackward
        ? backwardGradQuestions(statement, tensor)
        : resetGradQuestions(statement, tensor)
      : [],
  );
}

/** The numbers of a tensor's `.grad`; null for None, undefined where the trace does not list them. */
function gradCells(entities: Entities, uid: string): Cell[] | null | undefined {
  const grad = findEntity(entities, uid, "tensor")?.grad;
  if (!grad) return null;
  const handle = findHandle(entities, grad);
  return (handle && cellsReadBy(entities, handle)) ?? undefined;
}

function backwardGradQuestions(statement: AskableStatement, tensor: NamedHandle): PartialQuestion[] {
  const before = gradCells(statement.before, tensor.uid);
  const after = gradCells(statement.after, tensor.uid);
  if (before === undefined || after === undefined) return [];
  if (after === null)
    return tensor.handle.leaf ? cutLeafQuestions(statement, tensor) : unretainedGradQuestions(statement, tensor);
  if (before && JSON.stringify(before) === JSON.stringify(after)) return [];
  return before ? addedGradQuestions(tensor, before, after) : firstGradQuestions(statement, tensor, after);
}

function addedGradQuestions(tensor: NamedHandle, before: Cell[], after: Cell[]): PartialQuestion[] {
  const addedCells = combineCells(after, before, (a, b) => a - b);
  return gradientValueQuestion(tensor, after, [addedCells, before], [], ADDED_GRADIENT_QUESTION_WEIGHT);
}

function firstGradQuestions({ before }: AskableStatement, tensor: NamedHandle, after: Cell[]): PartialQuestion[] {
  const ownCells = cellsReadBy(before, tensor.handle) ?? after;
  const isWrong = [...before.values()].some(
    (entity) => entity.kind === "node" && Object.values(entity.saved ?? {}).some(({ state }) => state === "changed"),
  );
  const weight = isWrong
    ? WRONG_GRADIENT_QUESTION_WEIGHT
    : after.every(isShortNumber)
      ? FIRST_GRADIENT_QUESTION_WEIGHT
      : LONG_NUMBERS_QUESTION_WEIGHT;
  if (after.length === 1 && isShortNumber(after[0])) {
    const index = (tensor.handle.shape ?? []).map(() => 0);
    const answer = typedAnswer(cellAsNumber(after[0]), numbersText(after, true));
    const what = elementExpression(`${tensor.name}.grad`, index);
    return [{ kind: "grad", what, uid: tensor.uid, index, weight, reason: null, ...answer }];
  }
  const wrongCells = [after.map(() => 1), ownCells, combineCells(after, after, (a) => 2 * a)];
  return gradientValueQuestion(tensor, after, wrongCells, ["None"], weight);
}

/** A gradient came by and was not kept. */
function unretainedGradQuestions(
  { opened, at, step, before }: AskableStatement,
  tensor: NamedHandle,
): PartialQuestion[] {
  const { grad_fn: node, output_nr: nr = 0 } = tensor.handle;
  if (!node || !tensor.handle.requires_grad || !before.has(tensor.uid)) return [];
  const visit = opened.trace.steps.slice(at + 1, step).find((other) => other.visit?.node === node)?.visit;
  const cells = visit?.grad_outputs[nr]?.cells;
  if (!cells?.length) return [];
  return gradIsNoneQuestion(tensor, [cells, cells.map(() => 0)], NOT_KEPT_GRADIENT_QUESTION_WEIGHT);
}

/** A leaf from which the graph was cut off. */
function cutLeafQuestions({ opened, at }: AskableStatement, tensor: NamedHandle): PartialQuestion[] {
  const pathCuts = opened.index.eventPlacesByName.get("path_cut") ?? [];
  const isCut = pathCuts.some(({ step, at: k }) => {
    const entry = opened.trace.steps[step].log[k];
    return step <= at && entry.kind === "event" && entry.event === "path_cut" && entry.tensor === tensor.uid;
  });
  const size = (tensor.handle.shape ?? []).reduce((a, b) => a * b, 1);
  if (!isCut || !tensor.handle.requires_grad || size > 64) return [];
  const zeros = new Array(size).fill(0);
  return gradIsNoneQuestion(tensor, [zeros.map(() => 1), zeros], CUT_GRAPH_QUESTION_WEIGHT);
}

/** A `.grad` that was there is gone, or all zeros. */
function resetGradQuestions({ before, after }: AskableStatement, tensor: NamedHandle): PartialQuestion[] {
  const gradBefore = gradCells(before, tensor.uid);
  const gradAfter = gradCells(after, tensor.uid);
  if (!gradBefore || gradAfter === undefined || !gradBefore.some((cell) => cellAsNumber(cell) !== 0)) return [];
  const zeros = gradBefore.map(() => 0);
  if (gradAfter === null) return gradIsNoneQuestion(tensor, [zeros, gradBefore], RESET_GRADIENT_QUESTION_WEIGHT);
  return gradAfter.every((cell) => cellAsNumber(cell) === 0)
    ? gradientValueQuestion(tensor, gradAfter, [gradBefore], ["None"], RESET_GRADIENT_QUESTION_WEIGHT)
    : [];
}

/** A question whose answer is None. */
function gradIsNoneQuestion(
  { name, uid, handle }: NamedHandle,
  wrongCells: Cell[][],
  weight: number,
): PartialQuestion[] {
  const shape = handle.shape ?? [];
  const answer = choiceAnswer(
    "None",
    wrongCells.map((cells) => numbersText(cells, shape.length === 0)),
  );
  const what = `${name}.grad`;
  return answer ? [{ kind: "grad", what, uid, index: null, weight, reason: "predict_why_grad", ...answer }] : [];
}

/** `cells` are right; `wrongTexts` are more beliefs. */
function gradientValueQuestion(
  { name, uid, handle }: NamedHandle,
  cells: Cell[],
  wrongCells: Cell[][],
  wrongTexts: string[],
  weight: number,
): PartialQuestion[] {
  const shape = handle.shape ?? [];
  const { index, text } = elementsOrFirstElement(cells, shape);
  const answer = choiceAnswer(text, [
    ...wrongCells.map((other) => elementsOrFirstElement(other, shape).text),
    ...wrongTexts,
  ]);
  const what = elementExpression(`${name}.grad`, index ?? []);
  return answer ? [{ kind: "grad", what, uid, index, weight, reason: null, ...answer }] : [];
}
