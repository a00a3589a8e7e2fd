/** The page of one trace that is only looked at: the offline file and the frame in another site's page. */

import { aboutLines } from "../sharing/about.js";
import { setProgramFiles } from "../trace/program_files.js";
import { recordedText } from "../captions/recorded.js";
import { captionItems } from "../captions/caption_list.js";
import { outcomeSentence } from "../captions/captions.js";
import { startCodeFold } from "../editor/code_fold.js";
import { createCodeListing } from "../editor/code_listing.js";
import { startKeys } from "../browser/keys.js";
import { glossText, messages } from "../program/messages.js";
import { initialState, reduce } from "../page_state/page_state.js";
import { createPicturePane } from "./picture_pane.js";
import { dueQuestion } from "../predict/mode.js";
import { startPredict } from "./predict_loader.js";
import { startSeries } from "../series/reader.js";
import { lineTone } from "../trace/stepping.js";
import { createStore, differs } from "../browser/store.js";
import { startTheme } from "../browser/theme.js";
import * as url from "../page_state/url.js";
import { preferredView } from "./views.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */

/** @template {HTMLElement} T @param {string} id @returns {T} */
const element = (id) => /** @type {T} */ (document.getElementById(id));

/** @param {string} fragment @param {number | null} step where the fragment doesn't say one @returns {url.Address} */
function addressOf(fragment, step) {
  const position = url.readPosition(fragment);
  const emptyAddress = { source: null, seed: null, device: null, input: null, focus: null, broken: false };
  const predicts = position.predict || url.asksToPredict(location.search); // then the content's own step is of the future
  return { ...emptyAddress, ...position, step: position.step ?? (predicts ? null : step) };
}

/**
 * Show a trace to step through.
 * @param {{trace: import("../trace/wire.js").Trace, step: number | null, title: string, note?: string, address?: string,
 *   series?: import("../series/reader.js").Series}} content
 *   step: null for the opening one; series: that the program is shown of
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {import("../explain/findings_card.js").LoadFindings} loadFindings
 * @param {import("./predict_loader.js").LoadPredict} loadPredict
 * @param {() => Promise<import("../series/reader.js").Note>} [loadNote] of a series
 */
export function startViewer(
  { trace, step: initialStep, title, note = "", address = "", series },
  say,
  loadFindings,
  loadPredict,
  loadNote,
) {
  setProgramFiles(trace.program);
  const about = { title, note, address, recorded: recordedText(trace, say) };
  /** In a frame, the link to the permalink. */
  const permalink = /** @type {HTMLAnchorElement | null} */ (document.querySelector("a[data-away]"));
  const store = createStore(
    reduce,
    initialState(
      {
        source: trace.program.source,
        traceUrl: null,
        trace,
        saved: null,
        devices: [],
        draft: null,
        predicts: url.asksToPredict(location.search),
      },
      preferredView(),
    ),
  );
  const { dispatch } = store;

  element("input-shown").hidden = !trace.runtime.input;
  element("input-text").textContent = trace.runtime.input ?? "";
  const code = createCodeListing(element("listing"), {
    source: trace.program.source,
    files: trace.program.files,
    onLine: (line) => dispatch({ type: "lineChosen", line }),
  });
  const picture = createPicturePane(element, store, say, {
    about: () => about,
    loadFindings,
    markLines: (marks) => code.showChain(marks, say),
  });

  /** @param {import("../trace/wire.js").Step} step */
  const showStepLine = ({ line, kind }) => code.setStepLine(line, lineTone(kind));

  /** Why there are no steps. */
  function showErrors() {
    const errors = messages(trace, say, () => {}).filter(({ kind }) => kind === "error");
    code.showErrors(errors.map(({ line }) => line));
    const sentences = errors.map(({ text }) => ({ text, tone: "bad" }));
    element("sentences").replaceChildren(...captionItems([outcomeSentence(trace, say), ...sentences]));
  }

  /** What torch's exception means, under its sentence. @param {import("../trace/wire.js").Trace} trace @param {number} step */
  function showGloss({ outcome: { error } }, step) {
    const text = error?.step === step ? glossText(error, say) : "";
    if (text) element("sentences").append(...captionItems([{ text, tone: "plain" }]));
  }

  /** @param {PageState} state @param {PageState | null} before */
  function render(state, before) {
    const { opened, step, selection, view } = state;
    picture.render(state, before);
    if (differs(state, before, "opened", "step") && opened?.count) showStepLine(opened.trace.steps[step]);
    else if (differs(state, before, "opened") && opened) showErrors();
    if (differs(state, before, "opened", "step", "predict")) code.setNextLine(dueQuestion(state.predict)?.line ?? null);
    if (differs(state, before, "opened", "step") && opened?.count) showGloss(opened.trace, step);
    if (permalink)
      permalink.hash =
        url.stepFragment(opened?.count ? step : null) +
        url.selectionFragment(selection) +
        url.viewFragment(view) +
        url.predictFragment(state.predict !== null);
  }

  startPredict(element, store, say, { load: loadPredict, loadFindings, failed() {} });
  if (series && loadNote) startSeries(series, store, say, { note: loadNote, isSaved: () => true });
  startTheme(element("theme"));
  element("title").textContent = title;
  element("about").replaceChildren(...aboutLines(about));
  startCodeFold(element("listing"), element("fold"), code.scrollToStep);
  const shortcuts = { ...picture.shortcuts, q: () => element("predict-button").click() };
  startKeys({ focused: () => false }, shortcuts, { run() {}, key: picture.timeline.key });
  render(store.state(), null);
  store.subscribe(render);
  dispatch({ type: "pageOpened", address: addressOf(location.hash, initialStep) });
  window.addEventListener("hashchange", () =>
    dispatch({ type: "linkOpened", address: addressOf(location.hash, null) }),
  );
}
