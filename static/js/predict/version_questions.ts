/**
 * Which version has a tensor afterwards? Of names that share the counter of what is written, and of those that only
 * share its memory.
 */

import { findEntity } from "../trace/entities.ts";
import { choiceAnswer, type PredictQuestion } from "../page_state/predict_question.ts";
import type { AskableStatement } from "./askable_statements.ts";

type PartialQuestion = Partial<PredictQuestion>;

const UNNOTICED_VERSION_QUESTION_WEIGHT = 72;
const KEPT_VERSION_QUESTION_WEIGHT = 66;
const SHARED_VERSION_QUESTION_WEIGHT = 60;
const OWN_VERSION_QUESTION_WEIGHT = 42;

export function versionQuestions(statement: AskableStatement): PartialQuestion[] {
  const { opened, at, step, before, after, named, mentioned, isBackward, raised } = statement;
  if (isBackward || raised) return [];
  const writtenStorages = new Set(
    opened.trace.steps[step].log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" ? [entry.storage] : [],
    ),
  );
  if (!writtenStorages.size) return [];
  const out: PartialQuestion[] = [];
  for (const { name, uid, handle } of named) {
    if (handle.kind !== "tensor" || !writtenStorages.has(handle.storage ?? "")) continue;
    const versionBefore = findEntity(before, findEntity(before, uid, "tensor")?.counter, "counter")?.value;
    const versionAfter = findEntity(after, handle.counter, "counter")?.value;
    if (versionBefore === undefined || versionAfter === undefined) continue;
    const answer = choiceAnswer(`v${versionAfter}`, [
      `v${versionBefore}`,
      `v${versionBefore + 1}`,
      `v${versionAfter + 1}`,
    ]);
    if (!answer) continue;
    const isTarget = mentioned.targets.has(name.split(/[.[]/)[0]);
    const isSaved = opened.index.slotsKeepingStorage(handle.storage ?? "", at).length > 0;
    const weight =
      versionBefore === versionAfter
        ? UNNOTICED_VERSION_QUESTION_WEIGHT
        : isSaved
          ? KEPT_VERSION_QUESTION_WEIGHT
          : isTarget
            ? OWN_VERSION_QUESTION_WEIGHT
            : SHARED_VERSION_QUESTION_WEIGHT;
    const reason = versionBefore === versionAfter ? "predict_why_unnoticed" : "predict_why_counted";
    out.push({ kind: "version", what: name, uid, weight, reason, ...answer });
  }
  return out;
}
