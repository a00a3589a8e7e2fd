/** Answers a question about a tensor, for tests. */

import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { resolvePath } from "../../static/js/findings/facts/resolve.ts";
import { answerAboutTensor } from "../../static/js/findings/gradients/tensor_question.ts";
import { answerText } from "../../static/js/findings/finding_text.ts";
import { findingLocale } from "../../static/js/findings/locale.ts";
import { openTrace } from "../../static/js/trace/state.ts";

/** What there is to say of a tensor; at the last step, where the question has none. */
export default function reply({ trace, name, step }, language) {
  const facts = new RunFacts(openTrace(trace));
  const at = step ?? facts.steps.length - 1;
  const uid = resolvePath(facts, name, at);
  if (!uid) return null;
  const given = answerAboutTensor(facts, uid, at);
  const text = answerText(given, findingLocale(language).say);
  return {
    question: given.question,
    variant: given.finding?.variant ?? null,
    value: given.value?.cells ?? null,
    cause: given.finding?.cause ?? null,
    rows: given.rows.map((row, k) => ({ ...row, cells: row.value?.cells ?? null, text: text.rows[k] })),
    text,
  };
}
