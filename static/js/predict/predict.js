/** Predict mode while it lasts: makes the questions of a run, shows the card, takes keys, and keeps the score in the browser. */

import { differs } from "../browser/store.js";
import { createCard, phaseOf } from "./card.js";
import { scoreOf } from "./mode.js";
import { readProgress, writeProgress } from "./progress.js";
import { questionsByUnit } from "./questions.js";
import { reasonOf } from "./reason.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */

/** So long the page waits for its questions at a time. */
const SLICE_MS = 12;

/**
 * @param {HTMLElement} host of the card
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {{page: Say, own: Say}} say the page's sentences, and those of predict mode
 * @param {import("../explain/findings_card.js").LoadFindings} loadFindings
 * @param {() => HTMLAnchorElement | null} next the link to the program after this one, in an order
 */
export function startPredicting(host, store, say, loadFindings, next) {
  const { dispatch, state: currentState } = store;
  const card = createCard(host, say.own, {
    answer: (given) => dispatch({ type: "predictionMade", given }),
    goOn: () => dispatch({ type: "predictContinued" }),
    again: () => dispatch({ type: "predictRestarted" }),
    leave: () => dispatch({ type: "predictSwitched", on: false }),
    go: (step) => dispatch({ type: "stepChosen", step }),
    next,
  });
  let best = 0;
  let wasDone = false;

  /** Read the run for what is worth a question; the page goes on meanwhile. @param {import("../trace/state.js").OpenTrace} whole */
  async function makeQuestions(whole) {
    /** @type {import("./question.js").Question[]} */
    const questions = [];
    let sliceEnd = 0; // the picture comes first
    for (const question of questionsByUnit(whole)) {
      if (question) questions.push(question);
      if (performance.now() < sliceEnd) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      sliceEnd = performance.now() + SLICE_MS;
      if (currentState().predict?.whole !== whole) return;
    }
    const savedProgress = readProgress(whole.trace.program.source);
    best = savedProgress?.best ?? 0;
    wasDone = savedProgress?.isDone ?? false;
    dispatch({
      type: "questionsMade",
      whole,
      questions,
      kept: savedProgress && !savedProgress.isDone ? savedProgress : null,
    });
  }

  /** @param {PageState} state */
  function saveProgress({ predict }) {
    if (!predict?.whole || !predict.questions || !predict.hasBegun) return;
    const { answers, reached, questions } = predict;
    const isDone = phaseOf(predict) === "summary";
    if (isDone) best = Math.max(best, scoreOf(answers).right);
    wasDone ||= isDone;
    writeProgress(predict.whole.trace.program.source, { answers, reached, of: questions.length, isDone, best });
  }

  async function showReason() {
    const { predict } = currentState();
    const lastAnswer = predict?.answers[predict.answers.length - 1];
    const question = predict?.questions?.find(({ at }) => at === lastAnswer?.at);
    if (!predict?.whole || !question) return;
    const text = await reasonOf(question, predict.whole, say, loadFindings);
    if (currentState().predict?.answers === predict.answers && currentState().predict?.isTold) card.showReason(text);
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const { predict } = state;
    const predictBefore = before?.predict ?? null;
    if (!predict || predict === predictBefore) return;
    if (predict.whole && !predict.questions && predict.whole !== predictBefore?.whole)
      void makeQuestions(predict.whole);
    card.show(predict, { best, wasDone });
    if (predict.isTold && !predictBefore?.isTold) void showReason();
    if (predict.nudges > (predictBefore?.nudges ?? 0)) card.focusFirst();
    if (predictBefore && differs(predict, predictBefore, "answers", "reached", "hasBegun", "isTold"))
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
