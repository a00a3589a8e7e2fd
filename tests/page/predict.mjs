/** The questions of predict mode for each trace of a JSON list on stdin, held against a second reading of it; on stdout, of each how many of which kind. */

import { readFileSync } from "node:fs";
import { questionsOf } from "../../static/js/predict/questions.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { assertTrue } from "../../static/js/tests/predict/predict_truth.ts";

const kinds = JSON.parse(readFileSync(0, "utf8")).map((trace) => {
  const questions = questionsOf(openTrace(trace));
  for (const question of questions) assertTrue(trace, question);
  return questions.map(({ kind }) => kind);
});
process.stdout.write(JSON.stringify(kinds));
