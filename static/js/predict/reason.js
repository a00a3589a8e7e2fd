/** Why an answer is right, in one sentence: the page's own on that step, or one on what the question is about. */

import { sentences } from "../captions/captions.js";

/** @typedef {import("./question.js").Question} Question */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */

/** The notes that tell of what is asked. @type {Partial<Record<Question["kind"], RegExp>>} */
const RELEVANT_NOTES = {
  value: /^(written|shares|grad_stepped)/,
  grad: /^grad_/,
  shares: /^(shares|new|copies)/,
  raises: /^(raised|caught)/,
  bytes: /^freed/,
};

/**
 * @param {Question} question @param {import("../trace/state.js").OpenTrace} whole
 * @param {{page: Say, own: Say}} say the page's sentences, and those of predict mode
 * @param {import("../explain/findings_card.js").LoadFindings} loadFindings
 * @returns {Promise<string>} names stand in backticks
 */
export async function reasonOf(question, whole, say, loadFindings) {
  const { reason, what, other, line } = question;
  if (reason === "predict_why_grad") {
    const noneReason = await reasonOfNone(question, whole, loadFindings);
    if (noneReason) return noneReason;
  } else if (reason) return say.own(reason, { what, other, line });
  return stepSentence(question, whole, say.page);
}

/** What the page says of a step of the statement, of that with the question's subject first. @param {Question} question
 * @param {import("../trace/state.js").OpenTrace} whole @param {Say} say */
function stepSentence({ kind, at, step, what }, whole, say) {
  const stepSentences = [];
  for (let i = at + 1; i <= step; i++) stepSentences.push(...sentences(whole, i, say));
  const relevantSentences = stepSentences.filter(({ key }) => RELEVANT_NOTES[kind]?.test(key ?? ""));
  const name = what.split("[")[0];
  const aboutSubject = relevantSentences.find(({ text }) => text.includes(name)) ?? relevantSentences[0];
  return (aboutSubject ?? sentences(whole, step, say)[0])?.text ?? "";
}

/** Why there is no gradient, as the page answers it. @param {Question} question @param {import("../trace/state.js").OpenTrace} whole
 * @param {import("../explain/findings_card.js").LoadFindings} loadFindings */
async function reasonOfNone({ uid, step }, whole, loadFindings) {
  try {
    const findingsApi = await loadFindings();
    const say = await findingsApi.sentences();
    return findingsApi.answerText(findingsApi.answerOf(new findingsApi.RunFacts(whole), uid ?? "", step), say).what;
  } catch {
    return ""; // offline, or the server has a newer page
  }
}
