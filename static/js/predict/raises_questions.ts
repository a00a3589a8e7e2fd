/** Will the statement raise? Asked of those that do, and of those that look as if they might. */

import { findEntity } from "../trace/entities.ts";
import { yesNoAnswer, type PredictQuestion } from "../page_state/predict_question.ts";
import type { AskableStatement } from "./askable_statements.ts";

const RAISES_QUESTION_WEIGHT = 90;
const MIGHT_RAISE_QUESTION_WEIGHT = 62;

export function raisesQuestions(statement: AskableStatement): Partial<PredictQuestion>[] {
  if (!statement.raised && !mightRaise(statement)) return [];
  const weight = statement.raised ? RAISES_QUESTION_WEIGHT : MIGHT_RAISE_QUESTION_WEIGHT;
  return [
    {
      kind: "raises",
      what: "",
      uid: null,
      weight,
      reason: statement.raised ? null : "predict_why_went_on",
      ...yesNoAnswer(statement.raised),
    },
  ];
}

function mightRaise(statement: AskableStatement) {
  return statement.isBackward ? mightBackwardRaise(statement) : isRiskyInPlaceWrite(statement);
}

/** Something that a node kept was overwritten or let go. */
function mightBackwardRaise({ before }: AskableStatement) {
  return [...before.values()].some(
    (entity) =>
      entity.kind === "node" &&
      (entity.released ||
        Object.values(entity.saved ?? {}).some(({ state }) => state === "stale" || state === "changed")),
  );
}

/** A write in place on a tensor that requires grad, that backward has use for, or that shows a cell more than once. */
function isRiskyInPlaceWrite({ opened, at, step, before, namedBefore, mentioned }: AskableStatement) {
  // an optimizer's own business
  if (!namedBefore.some(({ name }) => mentioned.targets.has(name.split(/[.[]/)[0]))) return false;
  return opened.trace.steps[step].log.some((entry) => {
    if (entry.kind !== "event" || entry.event !== "written") return false;
    const writer = findEntity(before, entry.by, "tensor");
    if (!writer) return false;
    const hasRepeatedCells = (writer.shape ?? []).some((size, d) => size > 1 && writer.stride?.[d] === 0);
    return writer.requires_grad || hasRepeatedCells || opened.index.slotsKeepingStorage(entry.storage, at).length > 0;
  });
}
