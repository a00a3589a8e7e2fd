/** The page of one trace that is only looked at: the offline file and the frame in another site's page. */

import { noteAndAddress } from "../browser/program_description.ts";
import { setProgramFiles } from "../trace/program_files.ts";
import { captionListItems } from "../captions/caption_list.ts";
import { outcomeSentence } from "../captions/captions.ts";
import { startCodeFold } from "../editor/code_fold.ts";
import { createCodeListing, type LoadHighlighter } from "../editor/code_listing.ts";
import { startKeyboardShortcuts } from "../browser/keys.ts";
import { errorGlossText, programMessages } from "../program/program_messages.ts";
import { initialState, reduce } from "../page_state/page_state.ts";
import { elementById } from "./page_host.ts";
import { createPicturePane } from "./picture/picture_pane.ts";
import { questionBeforeNextStep } from "../page_state/predict_mode.ts";
import { startPredictButton, type LoadPredict } from "./predict_loader.ts";
import { startSeriesReader, type SeriesNote, type Series } from "./series_reader.ts";
import { pictureOfProgram } from "../page_state/selectors.ts";
import { isLandingOnWholeRun } from "../trace/steps/landing.ts";
import { lineHighlightTone } from "../trace/steps/stepping.ts";
import { createStore, hasChangedField } from "../browser/store.ts";
import { startThemeButton } from "../browser/theme.ts";
import * as url from "../page_state/url.ts";
import type { showFindingPicture } from "../verdict/finding_picture_view.ts";
import type { verdictOf } from "../verdict/verdict.ts";
import type { LoadFindings } from "../explain/findings_card.ts";
import type { Step, Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

/** `step` and `view` count where the fragment doesn't say a step. */
function addressFromFragment(fragment: string, step: number | null, view: url.View | null = null): url.Address {
  const position = url.readPosition(fragment);
  const emptyAddress = { source: null, seed: null, device: null, input: null, focus: null, broken: false };
  // then the content's own step is of the future
  const predicts = position.predict || url.isPredictModeRequested(location.search);
  return {
    ...emptyAddress,
    ...position,
    step: position.step ?? (predicts ? null : step),
    view: position.view ?? (predicts ? null : view),
  };
}

interface ViewerContent {
  trace: Trace;
  /** null for the opening one */
  step: number | null;
  /** of the step; null where the run decides */
  view?: url.View | null;
  title: string;
  note?: string;
  address?: string;
  /** that the program is shown of */
  series?: Series;
  /** whether it opens with its finding over the picture, unless its address has a step */
  verdict?: boolean;
}

interface ViewerParts {
  loadFindings: LoadFindings;
  loadPredict: LoadPredict;
  loadFindingPicture?: () => Promise<{ showFindingPicture: typeof showFindingPicture; verdictOf: typeof verdictOf }>;
  /** of a series */
  loadNote?: () => Promise<SeriesNote>;
  /** the program's colours */
  loadHighlighter?: LoadHighlighter;
}

/** Show a trace to step through. */
export function startViewer(
  {
    trace,
    step: initialStep,
    view: initialView = null,
    title,
    note = "",
    address = "",
    series,
    verdict = false,
  }: ViewerContent,
  say: Locale["say"],
  { loadFindings, loadPredict, loadFindingPicture, loadNote, loadHighlighter }: ViewerParts,
) {
  setProgramFiles(trace.program);
  const about = { title, note, address, recorded: recordingOriginText(trace, say) };
  /** In a frame, the link to the permalink. */
  const permalink = document.querySelector("a[data-away]") as HTMLAnchorElement | null;
  const store = createStore(
    reduce,
    initialState({
      source: trace.program.source,
      traceUrl: null,
      trace,
      saved: null,
      devices: [],
      draft: null,
      predicts: url.isPredictModeRequested(location.search),
    }),
  );
  const { dispatch } = store;

  elementById("input-shown").hidden = !trace.runtime.input;
  elementById("input-text").textContent = trace.runtime.input ?? "";
  const code = createCodeListing(elementById("listing"), {
    source: trace.program.source,
    files: trace.program.files,
    onLine: (line) => dispatch({ type: "lineChosen", line }),
    loadHighlighter,
  });
  const picture = createPicturePane(
    { elementById, ...store, say },
    {
      about: () => about,
      loadFindings,
      markLines: (marks) => code.showChain(marks, say),
    },
  );

  const showStepLine = ({ line, kind }: Step) => code.setStepLine(line, lineHighlightTone(kind));

  /** Why there are no steps. */
  function showErrors() {
    const errors = programMessages(trace, say, () => {}).filter(({ kind }) => kind === "error");
    code.showErrors(errors.map(({ line }) => line));
    const sentences = errors.map(({ text }) => ({ text, tone: "bad" }));
    elementById("headline").classList.add("whole");
    elementById("sentences").replaceChildren(...captionListItems([outcomeSentence(trace, say), ...sentences]));
  }

  /** What torch's exception means, under its sentence. */
  function showGloss({ outcome: { error } }: Trace, step: number) {
    const text = error?.step === step ? errorGlossText(error, say) : "";
    if (text) elementById("sentences").append(...captionListItems([{ text, tone: "plain" }]));
  }

  function render(state: PageState, before: PageState | null) {
    const { opened, step, selection, view } = state;
    picture.render(state, before);
    if (hasChangedField(state, before, "opened", "step") && opened?.count) showStepLine(opened.trace.steps[step]);
    else if (hasChangedField(state, before, "opened") && opened) showErrors();
    if (hasChangedField(state, before, "opened", "step", "predict"))
      code.setNextLine(questionBeforeNextStep(state.predict)?.line ?? null);
    if (hasChangedField(state, before, "opened", "step") && opened?.count) showGloss(opened.trace, step);
    if (permalink)
      permalink.hash =
        url.stepFragment(opened?.count ? step : null) +
        url.selectionFragment(selection) +
        url.viewFragment(view) +
        url.predictFragment(state.predict !== null);
  }

  /** The finding over the picture, until the reader steps or looks at something else. */
  async function openWithFindingPicture(load: NonNullable<typeof loadFindingPicture>) {
    const { opened, step } = store.state();
    const [view, findings] = await Promise.all([load(), loadFindings()]).catch(() => [null, null]);
    const sayFinding = await findings?.sentences().catch(() => null);
    const state = store.state();
    if (!view || !sayFinding || !opened || state.opened !== opened || state.step !== step || state.predict) return;
    const found = view.verdictOf(opened, sayFinding);
    if (!found) {
      // then it opens as the page does
      const isOfWholeRun = pictureOfProgram(state) === "list" && isLandingOnWholeRun(opened.trace);
      if (isOfWholeRun) dispatch({ type: "viewChosen", view: "run" });
      return;
    }
    const host = elementById(document.body.classList.contains("embed") ? "workbench" : "shown-picture");
    host.classList.add("verdict-view-host");
    const go = (cause: number) => dispatch({ type: "stepChosen", step: cause });
    const subject = { opened, title, say: sayFinding, language: document.documentElement.lang };
    const remove = view.showFindingPicture(host, found, subject, go);
    store.subscribe((now, before) => {
      if (hasChangedField(now, before, "step", "opened", "selection", "predict", "view")) remove();
    });
  }

  startPredictButton(elementById, store, say, { load: loadPredict, loadFindings, failed() {} });
  if (series && loadNote) startSeriesReader(series, store, say, { note: loadNote, isSaved: () => true });
  startThemeButton(elementById("theme"));
  elementById("title").textContent = title;
  elementById("about").replaceChildren(...noteAndAddress(about));
  startCodeFold(elementById("listing"), elementById("fold"), code.scrollToStep);
  new ResizeObserver(code.scrollToStep).observe(elementById("listing")); // a finding that comes takes room from it
  window.addEventListener("load", code.scrollToStep); // where the page wasn't read to its end, it is scrolled back
  const shortcuts = { ...picture.shortcuts, q: () => elementById("predict-button").click() };
  startKeyboardShortcuts({ focused: () => false }, shortcuts, { run() {}, key: picture.timeline.key });
  render(store.state(), null);
  store.subscribe(render);
  // a verdict lies over the step that it speaks of
  const first = addressFromFragment(location.hash, initialStep, initialView ?? (verdict ? "step" : null));
  dispatch({ type: "pageOpened", address: first });
  const opensAtStep = url.readPosition(location.hash).step !== null;
  if (verdict && loadFindingPicture && !opensAtStep && store.state().predict === null)
    void openWithFindingPicture(loadFindingPicture);
  window.addEventListener("hashchange", () =>
    dispatch({ type: "linkOpened", address: addressFromFragment(location.hash, null) }),
  );
}

/** Where a run was recorded that no server ran: by whom, with what, and which part of it; empty for a server's run. */
function recordingOriginText({ runtime, steps }: Trace, say: Locale["say"]): string {
  if (!runtime.recorded) return "";
  const { torch, python, device, device_name: name } = runtime;
  const sentences = [say("recorded_own", { torch, python, device: name ? `${device} (${name})` : device })];
  for (const { name: label, first_line: first, last_line: last } of (runtime.regions ?? []).slice(0, 3)) {
    if (label) sentences.push(say("recorded_region", { label }));
    if (first && last) sentences.push(say("recorded_lines", { first, last }));
  }
  const more = (runtime.regions?.length ?? 0) - 3;
  if (more > 0) sentences.push(say("recorded_more", { n: more }));
  if (steps.some(({ skipped }) => skipped)) sentences.push(say("recorded_thinned"));
  return sentences.join(" ");
}
