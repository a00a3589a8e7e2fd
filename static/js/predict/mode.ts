/** Predict mode as plain data: how far its reader has seen the run, what was asked and answered. Changes the page's state only. */

import { openTrace, type OpenTrace } from "../trace/state.ts";
import { truncateTrace, lastStepToShow } from "../trace/future.ts";
import { isRightNumber, type Question } from "./question.ts";
import type { Answer, Predict, Given } from "./answers.ts";
import type { PageState } from "../page_state/state.ts";

const emptyPrediction = (wasLive: boolean): Predict => ({
  whole: null,
  reached: 0,
  questions: null,
  answers: [],
  isTold: false,
  hasBegun: false,
  nudges: 0,
  wasLive,
});

/** @param step that is shown then */
export function switchPredict(state: PageState, on: boolean, step: number | null): PageState {
  const { predict, opened } = state;
  if (on === (predict !== null)) return state;
  if (predict) {
    const wholeRun = predict.whole ?? opened;
    return { ...state, predict: null, opened: wholeRun, isLive: predict.wasLive };
  }
  const next = { ...state, isLive: false, question: null, selection: null, predict: emptyPrediction(state.isLive) };
  return opened ? hideFuture(next, opened, step) : next;
}

/** Show a run up to a step. @param step null: the first */
export function hideFuture(state: PageState, whole: OpenTrace, step: number | null): PageState {
  const { predict } = state;
  if (!predict) return { ...state, opened: whole };
  const last = Math.max(0, whole.count - 1);
  const reached = lastStepToShow(whole.trace, Math.max(0, Math.min(step ?? 0, last)));
  return revealUntil(
    { ...state, predict: { ...emptyPrediction(predict.wasLive), whole } },
    reached,
    Math.min(step ?? 0, reached),
  );
}

function revealUntil(state: PageState, reached: number, step: number): PageState {
  const { whole } = state.predict as Predict;
  if (!whole) return state;
  const shown = truncateTrace(whole.trace, reached);
  const opened = shown === whole.trace ? whole : openTrace(shown);
  return { ...state, opened, step, predict: { ...(state.predict as Predict), reached } };
}

/** The question that has to be answered before the next step is shown. */
export function dueQuestion(predict: Predict | null): Question | null {
  if (!predict?.questions || !predict.hasBegun || predict.isTold) return null;
  return questionAt(predict, predict.reached);
}

function questionAt({ questions, answers }: Predict, step: number) {
  const isOpen = ({ at }: Question) => at === step && !answers.some((answer) => answer.at === at);
  return questions?.find(isOpen) ?? null;
}

/** Whether steps are hidden. */
export const hidesSteps = (predict: Predict | null) =>
  predict?.whole != null && predict.reached < predict.whole.count - 1;

/** How many were answered rightly, of how many. */
export const scoreOf = (answers: Answer[]) => ({
  right: answers.filter(({ isRight }) => isRight).length,
  asked: answers.length,
});

/** What is asked of a run has been made; where the reader has been at it before, it goes on from there. */
export function withQuestions(
  state: PageState,
  whole: OpenTrace,
  questions: Question[],
  progress: { answers: Answer[]; reached: number } | null,
): PageState {
  const { predict } = state;
  if (predict?.whole !== whole || predict.questions) return state;
  const next = { ...state, predict: { ...predict, questions } };
  if (!progress || progress.reached >= whole.count - 1) return next;
  const answers = progress.answers.filter(({ at }) => questions.some((question) => question.at === at));
  const reached = Math.max(predict.reached, Math.min(progress.reached, whole.count - 1));
  const resumedState = { ...next, predict: { ...next.predict, answers, hasBegun: reached > 0 } };
  return revealUntil(resumedState, reached, reached);
}

/** The step after the last one that is shown, unless there is a question first. */
export function showNext(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.questions || !hidesSteps(predict)) return closeAnswer(state);
  if (predict.isTold || !predict.hasBegun) {
    const next = { ...state, predict: { ...predict, isTold: false, hasBegun: true } };
    return dueQuestion(next.predict) ? atLastRevealed(next) : revealNextStep(next);
  }
  if (!dueQuestion(predict)) return revealNextStep(state);
  return atLastRevealed({ ...state, predict: { ...predict, nudges: predict.nudges + 1 } });
}

function revealNextStep(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole) return state;
  const reached = lastStepToShow(predict.whole.trace, predict.reached + 1);
  return revealUntil(
    { ...state, selection: null, predict: { ...predict, isTold: false } },
    reached,
    predict.reached + 1,
  );
}

function atLastRevealed(state: PageState): PageState {
  const { reached } = state.predict as Predict;
  return state.step === reached ? state : { ...state, step: Math.min(reached, (state.opened?.count ?? 1) - 1) };
}

/** The last answer has been read, and there is nothing more to show. */
function closeAnswer(state: PageState): PageState {
  const { predict } = state;
  return predict?.isTold ? { ...state, selection: null, predict: { ...predict, isTold: false } } : state;
}

/** To the next question, past the steps that need none; where there is none, to the end. */
export function skipToNextQuestion(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole || !predict.questions) return state;
  const stateWithoutAnswer = { ...state, selection: null, predict: { ...predict, isTold: false, hasBegun: true } };
  const next = predict.questions.find(({ at }) => at >= predict.reached && questionAt(predict, at));
  const reached = next ? next.at : predict.whole.count - 1;
  return reached === predict.reached
    ? atLastRevealed(stateWithoutAnswer)
    : revealUntil(stateWithoutAnswer, reached, reached);
}

/** The reader has answered: the steps up to the one that tells are shown. */
export function withAnswer(state: PageState, given: Given): PageState {
  const { predict } = state;
  const question = dueQuestion(predict);
  if (!predict?.whole || !question) return state;
  const answer = { at: question.at, ...judgeAnswer(question, given), isSkipped: given === null };
  const next = {
    ...state,
    predict: { ...predict, answers: [...predict.answers, answer], isTold: true, hasBegun: true },
  };
  const shown = revealUntil(next, lastStepToShow(predict.whole.trace, question.step), question.step);
  const isThere = question.uid !== null && shown.opened?.state(question.step).has(question.uid);
  return { ...shown, selection: isThere ? `handle:${question.uid}` : null };
}

function judgeAnswer(question: Question, answer: Given): { text: string; key?: string; isRight: boolean } {
  if (answer === null) return { text: "", isRight: false };
  if ("typed" in answer)
    return { text: answer.typed.trim().slice(0, 40), isRight: isRightNumber(question, answer.typed) };
  return { ...question.choices[answer.choice], isRight: answer.choice === question.right };
}

/** From the first step again, with nothing answered. */
export function restartPrediction(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole) return state;
  const { questions } = predict;
  const next = hideFuture({ ...state, selection: null, question: null }, predict.whole, 0);
  return { ...next, predict: { ...(next.predict as Predict), questions } };
}
