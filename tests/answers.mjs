/** Answers questions about tensors for tests: a JSON list of traces with names on stdin, the answers as a JSON list on stdout. */

import { readFileSync, writeFileSync } from "node:fs";
import { RunFacts } from "../static/js/findings/run_facts.js";
import { resolve } from "../static/js/findings/resolve.js";
import { answerOf } from "../static/js/findings/tensor_question.js";
import { answerText } from "../static/js/findings/text.js";
import { findingLocale } from "../static/js/findings/words.js";
import { openTrace } from "../static/js/trace/state.js";

const { questions, language } = JSON.parse(readFileSync(0, "utf8"));
const { say } = findingLocale(language);

/** @param {{trace: import("../static/js/trace/wire.js").Trace, name: string, step: number | null}} question step: null for the last */
function reply({ trace, name, step }) {
  const facts = new RunFacts(openTrace(trace));
  const at = step ?? facts.steps.length - 1;
  const uid = resolve(facts, name, at);
  if (!uid) return null;
  const given = answerOf(facts, uid, at);
  const text = answerText(given, say);
  return {
    question: given.question,
    variant: given.finding?.variant ?? null,
    value: given.value?.cells ?? null,
    cause: given.finding?.cause ?? null,
    rows: given.rows.map((row, k) => ({ ...row, cells: row.value?.cells ?? null, text: text.rows[k] })),
    text,
  };
}

writeFileSync(1, JSON.stringify(questions.map(reply)));
