/**
 * Predict mode as plain data: how far its reader has seen the run, what was asked and answered. Changes the page's
 * state only.
 */

import { openTrace, type OpenTrace } from "../trace/state.ts";
import { truncateTrace, lastStepToShow } from "../trace/steps/truncated_trace.ts";
import { isTypedAnswerRight, type PredictQuestion } from "./predict_question.ts";
import type { GivenAnswer, PredictState, AnswerInput } from "./predict_state.ts";
import type { PageState } from "./state.ts";

const emptyPredictState = (wasLive: boolean): PredictState => ({
  whole: null,
  reached: 0,
  questions: null,
  answers: [],
  isTold: false,
  hasBegun: false,
  nudges: 0,
  wasLive,
});

/** Switches predict mode on or off; `step` is shown then. */
export function switchPredictMode(state: PageState, on: boolean, step: number | null): PageState {
  const { predict, opened } = state;
  if (on === (predict !== null)) return state;
  if (predict) {
    const wholeRun = predict.whole ?? opened;
    return { ...state, predict: null, opened: wholeRun, isLive: predict.wasLive };
  }
  const next = { ...state, isLive: false, question: null, selection: null, predict: emptyPredictState(state.isLive) };
  return opened ? hideFutureSteps(next, opened, step) : next;
}

/** Shows a run up to a step; null: the first. */
export function hideFutureSteps(state: PageState, whole: OpenTrace, step: number | null): PageState {
  const { predict } = state;
  if (!predict) return { ...state, opened: whole };
  const last = Math.max(0, whole.count - 1);
  const reached = lastStepToShow(whole.trace, Math.max(0, Math.min(step ?? 0, last)));
  return revealStepsUntil(
    { ...state, predict: { ...emptyPredictState(predict.wasLive), whole } },
    reached,
    Math.min(step ?? 0, reached),
  );
}

function revealStepsUntil(state: PageState, reached: number, step: number): PageState {
  const { whole } = state.predict as PredictState;
  if (!whole) return state;
  const shown = truncateTrace(whole.trace, reached);
  const opened = shown === whole.trace ? whole : openTrace(shown);
  return { ...state, opened, step, predict: { ...(state.predict as PredictState), reached } };
}

/** The question that has to be answered before the next step is shown. */
export function questionBeforeNextStep(predict: PredictState | null): PredictQuestion | null {
  if (!predict?.questions || !predict.hasBegun || predict.isTold) return null;
  return unansweredQuestionAt(predict, predict.reached);
}

function unansweredQuestionAt({ questions, answers }: PredictState, step: number) {
  const isOpen = ({ at }: PredictQuestion) => at === step && !answers.some((answer) => answer.at === at);
  return questions?.find(isOpen) ?? null;
}

/** Whether steps are hidden. */
export const areStepsHidden = (predict: PredictState | null) =>
  predict?.whole != null && predict.reached < predict.whole.count - 1;

/** How many were answered rightly, of how many. */
export const scoreOfAnswers = (answers: GivenAnswer[]) => ({
  right: answers.filter(({ isRight }) => isRight).length,
  asked: answers.length,
});

/** What is asked of a run has been made; where the reader has been at it before, it goes on from there. */
export function withQuestions(
  state: PageState,
  whole: OpenTrace,
  questions: PredictQuestion[],
  progress: { answers: GivenAnswer[]; reached: number } | null,
): PageState {
  const { predict } = state;
  if (predict?.whole !== whole || predict.questions) return state;
  const next = { ...state, predict: { ...predict, questions } };
  if (!progress || progress.reached >= whole.count - 1) return next;
  const answers = progress.answers.filter(({ at }) => questions.some((question) => question.at === at));
  const reached = Math.max(predict.reached, Math.min(progress.reached, whole.count - 1));
  const resumedState = { ...next, predict: { ...next.predict, answers, hasBegun: reached > 0 } };
  return revealStepsUntil(resumedState, reached, reached);
}

/** The step after the last one that is shown, unless there is a question first. */
export function revealNextStepOrAsk(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.questions || !areStepsHidden(predict)) return closeLastAnswer(state);
  if (predict.isTold || !predict.hasBegun) {
    const next = { ...state, predict: { ...predict, isTold: false, hasBegun: true } };
    return questionBeforeNextStep(next.predict) ? goToLastRevealedStep(next) : revealNextStep(next);
  }
  if (!questionBeforeNextStep(predict)) return revealNextStep(state);
  return goToLastRevealedStep({ ...state, predict: { ...predict, nudges: predict.nudges + 1 } });
}

function revealNextStep(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole) return state;
  const reached = lastStepToShow(predict.whole.trace, predict.reached + 1);
  return revealStepsUntil(
    { ...state, selection: null, predict: { ...predict, isTold: false } },
    reached,
    predict.reached + 1,
  );
}

function goToLastRevealedStep(state: PageState): PageState {
  const { reached } = state.predict as PredictState;
  return state.step === reached ? state : { ...state, step: Math.min(reached, (state.opened?.count ?? 1) - 1) };
}

/** The last answer has been read, and there is nothing more to show. */
function closeLastAnswer(state: PageState): PageState {
  const { predict } = state;
  return predict?.isTold ? { ...state, selection: null, predict: { ...predict, isTold: false } } : state;
}

/** To the next question, past the steps that need none; where there is none, to the end. */
export function skipToNextQuestion(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole || !predict.questions) return state;
  const stateWithoutAnswer = { ...state, selection: null, predict: { ...predict, isTold: false, hasBegun: true } };
  const next = predict.questions.find(({ at }) => at >= predict.reached && unansweredQuestionAt(predict, at));
  const reached = next ? next.at : predict.whole.count - 1;
  return reached === predict.reached
    ? goToLastRevealedStep(stateWithoutAnswer)
    : revealStepsUntil(stateWithoutAnswer, reached, reached);
}

/** The reader has answered: the steps up to the one that tells are shown. */
export function withReaderAnswer(state: PageState, given: AnswerInput): PageState {
  const { predict } = state;
  const question = questionBeforeNextStep(predict);
  if (!predict?.whole || !question) return state;
  const answer = { at: question.at, ...judgeAnswer(question, given), isSkipped: given === null };
  const next = {
    ...state,
    predict: { ...predict, answers: [...predict.answers, answer], isTold: true, hasBegun: true },
  };
  const shown = revealStepsUntil(next, lastStepToShow(predict.whole.trace, question.step), question.step);
  const isThere = question.uid !== null && shown.opened?.state(question.step).has(question.uid);
  return { ...shown, selection: isThere ? `handle:${question.uid}` : null };
}

function judgeAnswer(question: PredictQuestion, answer: AnswerInput): { text: string; key?: string; isRight: boolean } {
  if (answer === null) return { text: "", isRight: false };
  if ("typed" in answer)
    return { text: answer.typed.trim().slice(0, 40), isRight: isTypedAnswerRight(question, answer.typed) };
  return { ...question.choices[answer.choice], isRight: answer.choice === question.right };
}

/** From the first step again, with nothing answered. */
export function restartPrediction(state: PageState): PageState {
  const { predict } = state;
  if (!predict?.whole) return state;
  const { questions } = predict;
  const next = hideFutureSteps({ ...state, selection: null, question: null }, predict.whole, 0);
  return { ...next, predict: { ...(next.predict as PredictState), questions } };
}
