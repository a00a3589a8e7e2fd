/** Predict mode as plain data: how far its reader has seen the run, what was asked and answered. Changes the page's state only. */

import { openTrace } from "../trace/state.js";
import { traceUntil, lastShownStep } from "../trace/future.js";
import { isRightNumber } from "./question.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("./question.js").Question} Question */
/**
 * @typedef {{at: number, text: string, key?: string, isRight: boolean, isSkipped: boolean}} Answer
 *   at: of the question; text: what was answered; key: of the sentence for it, as of a choice
 * @typedef {{whole: OpenTrace | null, reached: number, questions: Question[] | null, answers: Answer[], isTold: boolean,
 *   hasBegun: boolean, nudges: number, wasLive: boolean}} Predict
 *   whole: the run with its future, null until there is one; reached: the last step that is shown; questions: null until they
 *   are made; isTold: the answer to the last question is being read; hasBegun: the reader has gone on from the first step;
 *   nudges: how often the reader wanted to go on past a question; wasLive: programs ran while they were edited, before
 * @typedef {{choice: number} | {typed: string} | null} Given   null: the reader would rather see it
 */

/** @param {boolean} wasLive @returns {Predict} */
const emptyPrediction = (wasLive) => ({
  whole: null,
  reached: 0,
  questions: null,
  answers: [],
  isTold: false,
  hasBegun: false,
  nudges: 0,
  wasLive,
});

/** @param {PageState} state @param {boolean} on @param {number | null} step that is shown then @returns {PageState} */
export function switchPredict(state, on, step) {
  const { predict, opened } = state;
  if (on === (predict !== null)) return state;
  if (predict) {
    const wholeRun = predict.whole ?? opened;
    return { ...state, predict: null, opened: wholeRun, isLive: predict.wasLive };
  }
  const next = { ...state, isLive: false, question: null, selection: null, predict: emptyPrediction(state.isLive) };
  return opened ? hideFuture(next, opened, step) : next;
}

/** Show a run up to a step. @param {PageState} state @param {OpenTrace} whole @param {number | null} step null: the first
 * @returns {PageState} */
export function hideFuture(state, whole, step) {
  const { predict } = state;
  if (!predict) return { ...state, opened: whole };
  const last = Math.max(0, whole.count - 1);
  const reached = lastShownStep(whole.trace, Math.max(0, Math.min(step ?? 0, last)));
  return revealUntil(
    { ...state, predict: { ...emptyPrediction(predict.wasLive), whole } },
    reached,
    Math.min(step ?? 0, reached),
  );
}

/** @param {PageState} state @param {number} reached @param {number} step @returns {PageState} */
function revealUntil(state, reached, step) {
  const { whole } = /** @type {Predict} */ (state.predict);
  if (!whole) return state;
  const shown = traceUntil(whole.trace, reached);
  const opened = shown === whole.trace ? whole : openTrace(shown);
  return { ...state, opened, step, predict: { .../** @type {Predict} */ (state.predict), reached } };
}

/** The question that has to be answered before the next step is shown. @param {Predict | null} predict @returns {Question | null} */
export function dueQuestion(predict) {
  if (!predict?.questions || !predict.hasBegun || predict.isTold) return null;
  return questionAt(predict, predict.reached);
}

/** @param {Predict} predict @param {number} step */
function questionAt({ questions, answers }, step) {
  const isOpen = (/** @type {Question} */ { at }) => at === step && !answers.some((answer) => answer.at === at);
  return questions?.find(isOpen) ?? null;
}

/** Whether steps are hidden. @param {Predict | null} predict */
export const hidesSteps = (predict) => predict?.whole != null && predict.reached < predict.whole.count - 1;

/** How many were answered rightly, of how many. @param {Answer[]} answers */
export const scoreOf = (answers) => ({ right: answers.filter(({ isRight }) => isRight).length, asked: answers.length });

/** What is asked of a run has been made; where the reader has been at it before, it goes on from there.
 * @param {PageState} state @param {OpenTrace} whole @param {Question[]} questions @param {{answers: Answer[], reached: number} | null} progress
 * @returns {PageState} */
export function withQuestions(state, whole, questions, progress) {
  const { predict } = state;
  if (predict?.whole !== whole || predict.questions) return state;
  const next = { ...state, predict: { ...predict, questions } };
  if (!progress || progress.reached >= whole.count - 1) return next;
  const answers = progress.answers.filter(({ at }) => questions.some((question) => question.at === at));
  const reached = Math.max(predict.reached, Math.min(progress.reached, whole.count - 1));
  const resumedState = { ...next, predict: { ...next.predict, answers, hasBegun: reached > 0 } };
  return revealUntil(resumedState, reached, reached);
}

/** The step after the last one that is shown, unless there is a question first. @param {PageState} state @returns {PageState} */
export function showNext(state) {
  const { predict } = state;
  if (!predict?.questions || !hidesSteps(predict)) return closeAnswer(state);
  if (predict.isTold || !predict.hasBegun) {
    const next = { ...state, predict: { ...predict, isTold: false, hasBegun: true } };
    return dueQuestion(next.predict) ? atLastRevealed(next) : revealNextStep(next);
  }
  if (!dueQuestion(predict)) return revealNextStep(state);
  return atLastRevealed({ ...state, predict: { ...predict, nudges: predict.nudges + 1 } });
}

/** @param {PageState} state @returns {PageState} */
function revealNextStep(state) {
  const { predict } = state;
  if (!predict?.whole) return state;
  const reached = lastShownStep(predict.whole.trace, predict.reached + 1);
  return revealUntil(
    { ...state, selection: null, predict: { ...predict, isTold: false } },
    reached,
    predict.reached + 1,
  );
}

/** @param {PageState} state @returns {PageState} */
function atLastRevealed(state) {
  const { reached } = /** @type {Predict} */ (state.predict);
  return state.step === reached ? state : { ...state, step: Math.min(reached, (state.opened?.count ?? 1) - 1) };
}

/** The last answer has been read, and there is nothing more to show. @param {PageState} state @returns {PageState} */
function closeAnswer(state) {
  const { predict } = state;
  return predict?.isTold ? { ...state, selection: null, predict: { ...predict, isTold: false } } : state;
}

/** To the next question, past the steps that need none; where there is none, to the end. @param {PageState} state @returns {PageState} */
export function skipToNextQuestion(state) {
  const { predict } = state;
  if (!predict?.whole || !predict.questions) return state;
  const stateWithoutAnswer = { ...state, selection: null, predict: { ...predict, isTold: false, hasBegun: true } };
  const next = predict.questions.find(({ at }) => at >= predict.reached && questionAt(predict, at));
  const reached = next ? next.at : predict.whole.count - 1;
  return reached === predict.reached
    ? atLastRevealed(stateWithoutAnswer)
    : revealUntil(stateWithoutAnswer, reached, reached);
}

/** The reader has answered: the steps up to the one that tells are shown. @param {PageState} state @param {Given} given @returns {PageState} */
export function withAnswer(state, given) {
  const { predict } = state;
  const question = dueQuestion(predict);
  if (!predict?.whole || !question) return state;
  const answer = { at: question.at, ...judgeAnswer(question, given), isSkipped: given === null };
  const next = {
    ...state,
    predict: { ...predict, answers: [...predict.answers, answer], isTold: true, hasBegun: true },
  };
  const shown = revealUntil(next, lastShownStep(predict.whole.trace, question.step), question.step);
  const isThere = question.uid !== null && shown.opened?.state(question.step).has(question.uid);
  return { ...shown, selection: isThere ? `handle:${question.uid}` : null };
}

/** @param {Question} question @param {Given} answer @returns {{text: string, key?: string, isRight: boolean}} */
function judgeAnswer(question, answer) {
  if (answer === null) return { text: "", isRight: false };
  if ("typed" in answer)
    return { text: answer.typed.trim().slice(0, 40), isRight: isRightNumber(question, answer.typed) };
  return { ...question.choices[answer.choice], isRight: answer.choice === question.right };
}

/** From the first step again, with nothing answered. @param {PageState} state @returns {PageState} */
export function restartPrediction(state) {
  const { predict } = state;
  if (!predict?.whole) return state;
  const { questions } = predict;
  const next = hideFuture({ ...state, selection: null, question: null }, predict.whole, 0);
  return { ...next, predict: { .../** @type {Predict} */ (next.predict), questions } };
}
