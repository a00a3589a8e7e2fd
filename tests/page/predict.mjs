/** The kinds of the questions of predict mode for a trace, each of which is held against a second reading of it. */

import { questionsOf } from "../../static/js/predict/questions.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { assertTrue } from "../../static/js/tests/predict/predict_truth.ts";

export default function kindsOfQuestions(trace) {
  const questions = questionsOf(openTrace(trace));
  for (const question of questions) assertTrue(trace, question);
  return questions.map(({ kind }) => kind);
}
