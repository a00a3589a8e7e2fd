/**
 * Predict mode while it lasts: makes the questions of a run, shows the card, takes keys, and keeps the score in the
 * browser.
 */

import { hasChangedField } from "../browser/store.ts";
import { createPredictCard, cardPhase } from "./card.ts";
import { scoreOfAnswers } from "../page_state/predict_mode.ts";
import { readPredictProgress, writePredictProgress } from "./progress.ts";
import { questionsByStatement } from "./questions.ts";
import { answerReason } from "./reason.ts";
import type { LoadFindings } from "../explain/findings_card.ts";
import type { Action } from "../page_state/actions.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";
import type { PredictQuestion } from "../page_state/predict_question.ts";
import type { PageState } from "../page_state/state.ts";

/** So long the page waits for its questions at a time. */
const MAKE_QUESTIONS_SLICE_MS = 12;

interface PredictStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

/**
 * `host` is the card's. `say` has the page's sentences, and those of predict mode. `next` gives the link to the program
 * after this one, in an order.
 */
export function startPredictMode(
  host: HTMLElement,
  store: PredictStore,
  say: { page: Translate; own: Translate },
  loadFindings: LoadFindings,
  next: () => HTMLAnchorElement | null,
) {
  const { dispatch, state: currentState } = store;
  const card = createPredictCard(host, say.own, {
    answer: (given) => dispatch({ type: "predictionMade", given }),
    goOn: () => dispatch({ type: "predictContinued" }),
    again: () => dispatch({ type: "predictRestarted" }),
    leave: () => dispatch({ type: "predictSwitched", on: false }),
    go: (step) => dispatch({ type: "stepChosen", step }),
    next,
  });
  let best = 0;
  let wasDone = false;

  /** Read the run for what is worth a question; the page goes on meanwhile. */
  async function makeQuestions(whole: OpenTrace) {
    const questions: PredictQuestion[] = [];
    let sliceEnd = 0; // the picture comes first
    for (const question of questionsByStatement(whole)) {
      if (question) questions.push(question);
      if (performance.now() < sliceEnd) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      sliceEnd = performance.now() + MAKE_QUESTIONS_SLICE_MS;
      if (currentState().predict?.whole !== whole) return;
    }
    const savedProgress = readPredictProgress(whole.trace.program.source);
    best = savedProgress?.best ?? 0;
    wasDone = savedProgress?.isDone ?? false;
    dispatch({
      type: "questionsMade",
      whole,
      questions,
      kept: savedProgress && !savedProgress.isDone ? savedProgress : null,
    });
  }

  function saveProgress({ predict }: PageState) {
    if (!predict?.whole || !predict.questions || !predict.hasBegun) return;
    const { answers, reached, questions } = predict;
    const isDone = cardPhase(predict) === "summary";
    if (isDone) best = Math.max(best, scoreOfAnswers(answers).right);
    wasDone ||= isDone;
    writePredictProgress(predict.whole.trace.program.source, { answers, reached, of: questions.length, isDone, best });
  }

  async function showReason() {
    const { predict } = currentState();
    const lastAnswer = predict?.answers[predict.answers.length - 1];
    const question = predict?.questions?.find(({ at }) => at === lastAnswer?.at);
    if (!predict?.whole || !question) return;
    const text = await answerReason(question, predict.whole, say, loadFindings);
    if (currentState().predict?.answers === predict.answers && currentState().predict?.isTold) card.showReason(text);
  }

  /** `before` is null the first time. */
  function render(state: PageState, before: PageState | null) {
    const { predict } = state;
    const predictBefore = before?.predict ?? null;
    if (!predict || predict === predictBefore) return;
    if (predict.whole && !predict.questions && predict.whole !== predictBefore?.whole)
      void makeQuestions(predict.whole);
    card.show(predict, { best, wasDone });
    if (predict.isTold && !predictBefore?.isTold) void showReason();
    if (predict.nudges > (predictBefore?.nudges ?? 0)) card.focusFirst();
    if (predictBefore && hasChangedField(predict, predictBefore, "answers", "reached", "hasBegun", "isTold"))
      saveProgress(state);
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (!currentState().predict || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target?.closest("dialog, textarea, select, [contenteditable=true], input:not([type=radio], [type=range])"))
      return;
    if (event.key === "Enter" && target?.closest("button, a, summary, input, #stage, #loom, #slider")) return;
    if (card.key(event.key)) event.preventDefault();
  });

  store.subscribe(render);
  render(currentState(), null);
}
