/** Why an answer is right, in one sentence: the page's own on that step, or one on what the question is about. */

import { captionSentences } from "../captions/captions.ts";
import type { LoadFindings } from "../explain/findings_card.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";
import type { PredictQuestion } from "../page_state/predict_question.ts";

/** The notes that tell of what is asked. */
const NOTES_BY_QUESTION_KIND: Partial<Record<PredictQuestion["kind"], RegExp>> = {
  value: /^(written|shares|grad_stepped)/,
  grad: /^grad_/,
  shares: /^(shares|new|copies)/,
  raises: /^(raised|caught)/,
  bytes: /^freed/,
};

/** The sentence has names in backticks. `say` has the page's sentences, and those of predict mode. */
export async function answerReason(
  question: PredictQuestion,
  whole: OpenTrace,
  say: { page: Translate; own: Translate },
  loadFindings: LoadFindings,
): Promise<string> {
  const { reason, what, other, line } = question;
  if (reason === "predict_why_grad") {
    const noneReason = await reasonForNoneGrad(question, whole, loadFindings);
    if (noneReason) return noneReason;
  } else if (reason) return say.own(reason, { what, other, line });
  return stepSentenceForQuestion(question, whole, say.page);
}

/** What the page says of a step of the statement, of that with the question's subject first. */
function stepSentenceForQuestion({ kind, at, step, what }: PredictQuestion, whole: OpenTrace, say: Translate) {
  const stepSentences = [];
  for (let i = at + 1; i <= step; i++) stepSentences.push(...captionSentences(whole, i, say));
  const relevantSentences = stepSentences.filter(({ key }) => NOTES_BY_QUESTION_KIND[kind]?.test(key ?? ""));
  const name = what.split("[")[0];
  const aboutSubject = relevantSentences.find(({ text }) => text.includes(name)) ?? relevantSentences[0];
  return (aboutSubject ?? captionSentences(whole, step, say)[0])?.text ?? "";
}

/** Why there is no gradient, as the page answers it. */
async function reasonForNoneGrad({ uid, step }: PredictQuestion, whole: OpenTrace, loadFindings: LoadFindings) {
  try {
    const findingsApi = await loadFindings();
    const say = await findingsApi.sentences();
    return findingsApi.answerText(findingsApi.answerAboutTensor(new findingsApi.RunFacts(whole), uid ?? "", step), say)
      .what;
  } catch {
    return ""; // offline, or the server has a newer page
  }
}
