/** The questions of a run: for each statement that is worth one, what it does, made from the trace alone. */

import { liveBytesQuestions } from "./live_bytes_questions.ts";
import { gradientQuestions } from "./gradient_questions.ts";
import { raisesQuestions } from "./raises_questions.ts";
import { leafQuestions, sharingQuestions } from "./sharing_questions.ts";
import { valueQuestions } from "./value_questions.ts";
import { versionQuestions } from "./version_questions.ts";
import { askableStatements, type AskableStatement } from "./askable_statements.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { PredictQuestion } from "../page_state/predict_question.ts";

const QUESTION_MAKERS = [
  raisesQuestions,
  valueQuestions,
  gradientQuestions,
  versionQuestions,
  sharingQuestions,
  leafQuestions,
  liveBytesQuestions,
];
const MAX_QUESTIONS = 24;
/** What a question loses with each one of its kind that was asked before: a row of alike ones teaches nothing. */
const REPEAT_PENALTY = 9;
const MIN_QUESTION_WEIGHT = 40;
/** So often a statement of a loop is asked about. */
const MAX_QUESTIONS_OF_STATEMENT = 2;

/** The questions in the order of the run, one at most for a statement each time that it runs. */
export function questionsOf(opened: OpenTrace): PredictQuestion[] {
  return [...questionsByStatement(opened)].flatMap((question) => question ?? []);
}

/**
 * The questions, statement by statement, null for one that is not worth a question: whoever draws a page meanwhile can
 * stop in between.
 */
export function* questionsByStatement(opened: OpenTrace): Generator<PredictQuestion | null> {
  /** how often a kind was asked, and a statement */
  const counts = new Map<string, number>();
  const countOf = (key: string) => counts.get(key) ?? 0;
  for (const statement of askableStatements(opened)) {
    if (countOf("all") >= MAX_QUESTIONS) break;
    const isAsked = countOf(`stmt ${statement.stmt}`) < MAX_QUESTIONS_OF_STATEMENT;
    const best = isAsked ? bestQuestion(statement, countOf) : null;
    yield best;
    if (!best) continue;
    for (const key of ["all", best.kind, questionKey(best), `stmt ${statement.stmt}`])
      counts.set(key, countOf(key) + 1);
  }
}

/** `countOf` says how often something was asked. */
function bestQuestion(statement: AskableStatement, countOf: (key: string) => number): PredictQuestion | null {
  const { at, step, line, stmt } = statement;
  let best: { question: PredictQuestion; worth: number } | null = null;
  for (const proposed of QUESTION_MAKERS.flatMap((ask) => ask(statement))) {
    const question = { at, step, line, stmt, ...proposed } as PredictQuestion;
    const value = question.weight - REPEAT_PENALTY * countOf(question.kind);
    if (value < MIN_QUESTION_WEIGHT || countOf(questionKey(question)) || (best && best.worth >= value)) continue;
    best = { question, worth: value };
  }
  return best?.question ?? null;
}

/** The same question of the same statement; a gradient may be added to, so that is asked again. */
function questionKey({ stmt, kind, what, choices }: PredictQuestion) {
  return `${kind} ${stmt} ${what} ${kind === "grad" ? choices.map(({ text }) => text).join() : ""}`;
}
