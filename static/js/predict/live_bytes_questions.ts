/** How many bytes of tensors stay alive? Asked where the program lets go of a name. */

import { findEntity } from "../trace/entities.ts";
import { bytesText } from "../trace/format.ts";
import { choiceAnswer, type PredictQuestion } from "../page_state/predict_question.ts";
import { firstNameOf, literalValue } from "../syntax/expressions.ts";
import { assignments } from "../syntax/statements.ts";
import type { AskableStatement } from "./askable_statements.ts";

const BYTES_QUESTION_WEIGHT = 71;

export function liveBytesQuestions({
  opened,
  at,
  step,
  before,
  tree,
  namedBefore,
  named,
  isBackward,
  raised,
}: AskableStatement): Partial<PredictQuestion>[] {
  const isLetGo =
    tree && (tree.kind === "Delete" || assignments(tree).some(({ value }) => literalValue(value) === null));
  if (isBackward || raised || !isLetGo) return [];
  const { liveBytesByStep: bytes } = opened.index;
  const uidByName = new Map(named.map(({ name, uid }) => [name, uid]));
  const droppedNames = namedBefore.filter(({ name, uid }) => firstNameOf(name) === name && uidByName.get(name) !== uid);
  if (!droppedNames.length) return [];
  const sizes = new Map(
    droppedNames.map(({ handle }) => [
      handle.storage ?? "",
      findEntity(before, handle.storage, "storage")?.nbytes ?? 0,
    ]),
  );
  const droppedBytes = [...sizes.values()].reduce((a, b) => a + b, 0);
  const wrongAnswers = [bytes[at] - droppedBytes, bytes[at], bytes[at] - droppedBytes / 2].filter(
    (n) => n >= 0 && Number.isInteger(n),
  );
  const answer = choiceAnswer(bytesText(bytes[step]), wrongAnswers.map(bytesText));
  const isUnchanged = bytes[step] === bytes[at];
  const reason = isUnchanged
    ? "predict_why_kept"
    : bytes[step] === bytes[at] - droppedBytes
      ? "predict_why_freed"
      : null;
  return answer
    ? [
        {
          kind: "bytes",
          what: droppedNames.map(({ name }) => name).join(", "),
          uid: null,
          weight: BYTES_QUESTION_WEIGHT,
          reason,
          ...answer,
        },
      ]
    : [];
}
