/**
 * What value has this element afterwards? Of a name that the statement does not write, of a copy, of a transposed view.
 */

import { findEntity, isSameValue } from "../trace/entities.ts";
import { cellAsNumber } from "../findings/facts/cell_values.ts";
import { unqualifiedDtype } from "../trace/reads.ts";
import { choiceAnswer, typedAnswer, type AnswerChoice, type PredictQuestion } from "../page_state/predict_question.ts";
import {
  cellText,
  elementExpression,
  elementsOfHandle,
  isShortNumber,
  memoryReadByHandle,
  haveSameCells,
} from "./tensor_elements.ts";
import { methodCalls } from "../syntax/expressions.ts";
import type { NamedHandle, AskableStatement } from "./askable_statements.ts";

type PartialQuestion = Partial<PredictQuestion>;

const SHARED_ELEMENT_QUESTION_WEIGHT = 80;
const COPY_QUESTION_WEIGHT = 76;
const STEPPED_PARAMETER_QUESTION_WEIGHT = 68;
const TRANSPOSED_QUESTION_WEIGHT = 54;

export function valueQuestions(statement: AskableStatement): PartialQuestion[] {
  if (statement.isBackward || statement.raised) return [];
  return [
    ...sharedElementQuestions(statement),
    ...copiedElementQuestions(statement),
    ...parameterQuestions(statement),
    ...transposedQuestions(statement),
  ];
}

/** The elements of a name that hold other values than before. */
function changedElements({ before, after }: AskableStatement, { uid, handle }: NamedHandle) {
  const storageUid = handle.storage ?? "";
  const handleBefore = findEntity(before, uid, handle.kind);
  if (!handleBefore || (handleBefore.storage === storageUid && before.get(storageUid) === after.get(storageUid)))
    return [];
  const elementsBefore = elementsOfHandle(before, handleBefore);
  const elementsAfter = elementsBefore && elementsOfHandle(after, handle);
  if (!elementsAfter || elementsBefore.length !== elementsAfter.length) return [];
  return elementsAfter
    .map((now, k) => ({ ...now, was: elementsBefore[k].value }))
    .filter(
      ({ value, was: valueBefore }) => !isSameValue(value, valueBefore) && cellText(value) !== cellText(valueBefore),
    );
}

/** Names of handles through which the statement writes. */
function namesWrittenByStatement({ opened, step, mentioned, named }: AskableStatement) {
  const writerUids = new Set(
    opened.trace.steps[step].log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" && entry.by ? [entry.by] : [],
    ),
  );
  return named.filter(({ name, uid }) => writerUids.has(uid) || mentioned.targets.has(name.split(/[.[]/)[0]));
}

/** A name that reads what another one writes. */
function sharedElementQuestions(statement: AskableStatement): PartialQuestion[] {
  const writtenUids = new Set(namesWrittenByStatement(statement).map(({ uid }) => uid));
  if (!writtenUids.size) return [];
  for (const candidate of statement.named) {
    if (writtenUids.has(candidate.uid)) continue;
    const [changed] = changedElements(statement, candidate);
    const choices = changed && choiceAnswer(cellText(changed.value), [cellText(changed.was)]);
    if (choices) return [elementValueQuestion(candidate, changed.index, choices, SHARED_ELEMENT_QUESTION_WEIGHT)];
  }
  return [];
}

/** A name that held the same numbers in memory of its own. */
function copiedElementQuestions(statement: AskableStatement): PartialQuestion[] {
  const { before, after, named } = statement;
  for (const writer of namesWrittenByStatement(statement)) {
    const [changed] = changedElements(statement, writer);
    const handleBefore = findEntity(before, writer.uid, writer.handle.kind);
    const valuesBefore = handleBefore && elementsOfHandle(before, handleBefore)?.map(({ value }) => value);
    if (!changed || !valuesBefore) continue;
    for (const candidate of named) {
      if (memoryReadByHandle(after, candidate.handle) === memoryReadByHandle(after, writer.handle)) continue;
      if (candidate.handle.shape?.join() !== writer.handle.shape?.join() || !before.has(candidate.uid)) continue;
      const elements = elementsOfHandle(after, candidate.handle);
      if (
        !elements ||
        !haveSameCells(
          elements.map(({ value }) => value),
          valuesBefore,
        )
      )
        continue;
      const element = elements.find(({ index }) => index.join() === changed.index.join());
      const choices = element && choiceAnswer(cellText(element.value), [cellText(changed.value)]);
      if (choices) return [elementValueQuestion(candidate, element.index, choices, COPY_QUESTION_WEIGHT)];
    }
  }
  return [];
}

/** What an optimizer, or a step by hand, makes of a parameter: typed. */
function parameterQuestions(statement: AskableStatement): PartialQuestion[] {
  if (!statement.mentioned.gradReads.length && !methodCalls(statement.tree, "step").length) return [];
  for (const candidate of statement.named) {
    if (!candidate.handle.requires_grad) continue;
    const changed = changedElements(statement, candidate).find(
      ({ value, was }) => isShortNumber(value) && isShortNumber(was),
    );
    if (changed)
      return [
        elementValueQuestion(
          candidate,
          changed.index,
          typedAnswer(cellAsNumber(changed.value), cellText(changed.value)),
          STEPPED_PARAMETER_QUESTION_WEIGHT,
        ),
      ];
  }
  return [];
}

/** An element of a new view that memory's order would give otherwise. */
function transposedQuestions({ opened, step, after, named }: AskableStatement): PartialQuestion[] {
  const { fresh } = opened.at(step);
  for (const candidate of named) {
    const { handle, uid } = candidate;
    if (!fresh.has(uid) || fresh.has(handle.storage ?? "") || (handle.shape ?? []).length < 2) continue;
    const elements = elementsOfHandle(after, handle);
    const row = findEntity(after, handle.storage, "storage")?.cells?.[unqualifiedDtype(handle.dtype)];
    if (!elements || !row) continue;
    for (const [k, { index, value }] of elements.entries()) {
      const rowMajor = row[elements[0].cell + k];
      const choices = rowMajor === undefined ? null : choiceAnswer(cellText(value), [cellText(rowMajor)]);
      if (choices) return [elementValueQuestion(candidate, index, choices, TRANSPOSED_QUESTION_WEIGHT)];
    }
  }
  return [];
}

function elementValueQuestion(
  { name, uid }: NamedHandle,
  index: number[],
  answer: { choices: AnswerChoice[]; right: number; number: number | null },
  weight: number,
): PartialQuestion {
  return { kind: "value", what: elementExpression(name, index), uid, index, weight, reason: null, ...answer };
}
