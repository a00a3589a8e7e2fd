/** The page: wires its parts to the state. What the reader does becomes an action, what changes is drawn. */

import { comparisonAddress } from "./compare/address.ts";
import { createProgramPane } from "./page/program_pane.ts";
import { createCommandRegistry } from "./browser/commands.ts";
import { startCopyLink } from "./sharing/copy_link.ts";
import { startDownloadMenu } from "./picture/download.ts";
import { readDraft, writeDraft } from "./editor/drafts.ts";
import { tryFixes } from "./requests/fixes.ts";
import { checkGradients } from "./requests/gradient_check.ts";
import { loadFindings } from "./explain/findings_bundle.ts";
import { startKeyboardShortcuts } from "./browser/keys.ts";
import { startFileOpeningOnWorkbench } from "./open_file/workbench.ts";
import { startLessonOf } from "./page/lesson_loader.ts";
import { startLegend } from "./page/legend.ts";
import { nonDefaultModes, bytesLabel, liveBytesByStep } from "./trace/memory_totals.ts";
import { createAddress, fragmentOf } from "./page/address.ts";
import { pageCommands } from "./page/page_commands.ts";
import { readLivePreference, startLive } from "./page/live_loader.ts";
import { loadLocale } from "./words/page_locale.ts";
import * as select from "./page_state/selectors.ts";
import { initialState, reduce } from "./page_state/page_state.ts";
import { prepareCommandPalette } from "./command_palette/loader.ts";
import { startPredict } from "./page/predict_loader.ts";
import { loadPredict } from "./page/predict_bundle.ts";
import { makePaneBorderDraggable } from "./browser/pane_border.ts";
import { createPicturePane } from "./page/picture_pane.ts";
import { onFirstInteraction } from "./browser/first_interaction.ts";
import { startRerun } from "./sharing/rerun.ts";
import { ROOT } from "./requests/root.ts";
import { createRunner } from "./page/running.ts";
import { startSaving } from "./sharing/saving.ts";
import { createSiblingChips } from "./siblings/chips.ts";
import { addressAtNoteStep } from "./series/reader.ts";
import { startSeriesParts } from "./series/workbench.ts";
import { startSharing } from "./sharing/sharing.ts";
import { textAfterFix } from "./program/repair.ts";
import { createStore, hasChangedField } from "./browser/store.ts";
import { startThemeButton } from "./browser/theme.ts";
import { createSkippedForm } from "./page/unseen_form.ts";
import * as url from "./page_state/url.ts";
import { preferredView } from "./page/views.ts";
import type { About } from "./sharing/about.ts";
import type { PageState, ServedPage } from "./page_state/state.ts";

const { say } = await loadLocale(document.documentElement.lang);
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const optionValue = ({ value }: HTMLOptionElement) => value;

const served = JSON.parse(element("first").textContent ?? "{}");

/** What the server sent with the page. */
function readPage(): ServedPage {
  const { source = "", trace_url: traceUrl = null, saved = null } = served;
  const device = document.getElementById("device") as HTMLSelectElement | null;
  const devices = [...(device?.options ?? [])].map(optionValue);
  const isLive = readLivePreference(element("workbench").dataset.live ?? "off");
  const predicts = url.asksToPredict(location.search);
  return { source, traceUrl, trace: null, saved, devices, draft: readDraft(), isLive, predicts };
}

const page = readPage();
/** Resolved by the reader's first sign. */
const firstInteraction: Promise<void> = new Promise((resolve) => onFirstInteraction(() => resolve()));

const isFrontPage = page.saved === null && location.pathname === `${ROOT}/` && location.hash === "";

const store = createStore(reduce, initialState(page, preferredView()));
const { dispatch } = store;

/** Whether the picture is that of every first visit: what there is to say of that run is fetched once its reader does
 * something. */
function isOpeningProgram() {
  const { opened, page: shown } = store.state();
  return isFrontPage && shown.trace !== null && opened?.trace === shown.trace;
}

const program = createProgramPane(element, store, say, {
  show: (opened, step, text, more) => picture.preview.show(opened, step, text, more),
  clear: () => picture.preview.clear(),
});
const picture = createPicturePane(element, store, say, {
  about: aboutProgram,
  canRun: true,
  stopsAt: program.stopsAt,
  markLines: program.markLines,
  loadFindings: () => (isOpeningProgram() ? firstInteraction.then(loadFindings) : loadFindings()),
  checkGradients(backward) {
    const { opened, settings } = store.state();
    const { source, pasted } = opened?.trace.program ?? { source: "" };
    return checkGradients({ source: pasted ?? source, ...settings }, backward);
  },
  fixes: {
    attempt(finding, signal) {
      const { opened, settings } = store.state();
      const { source, pasted } = opened?.trace.program ?? { source: "" };
      const program = { source: pasted ?? source, ...settings, language: document.documentElement.lang };
      return tryFixes(program, finding, signal);
    },
    apply: (edits) => dispatch({ type: "fixApplied", edits }),
    compareAddress(edits) {
      const source = store.state().opened?.trace.program.source ?? "";
      return comparisonAddress(source, textAfterFix({ source }, edits));
    },
  },
  scaled(k, chosen) {
    const percent = `${Math.round(k * 100)}%`;
    element("scale").textContent = percent;
    element("scale").setAttribute("aria-label", `${percent}, ${say("whole")}`);
    element("scale").setAttribute("aria-pressed", String(chosen));
  },
});
const siblings = createSiblingChips(
  element("siblings"),
  say,
  (change) => dispatch({ type: "siblingChosen", ...change }),
  element("workbench").dataset.live === "off" ? null : element("live-foot"),
);
const address = createAddress(store.state, (next) => dispatch({ type: "linkOpened", address: next }));
const runner = createRunner(page.traceUrl, dispatch);

/** The run that is asked for is the one that goes on. */
function startPendingRun({ pending }: PageState, before: PageState | null) {
  if (pending?.id === before?.pending?.id) return;
  if (!pending) return runner.cancel();
  if (select.doesRequestRunProgram(pending)) picture.timeline.pause();
  runner.start(pending);
}

/** What there is to see: the picture, why there is none, or a program that waits to be run. */
function showPanes({ opened, waiting }: PageState) {
  const isEmpty = opened !== null && !opened.count;
  element("waiting").hidden = !waiting;
  element("timeline").hidden = waiting;
  element("stage").hidden = element("loom").hidden = waiting || isEmpty;
  element("empty").hidden = !isEmpty;
  if (isEmpty) element("empty").textContent = say(opened.trace.outcome.status === "refused" ? "refused" : "no_steps");
  (element("takeaway") as HTMLButtonElement).disabled = !opened?.count;
}

/** bytes alive after each step */
let bytesByStep: number[] = [];
/** What is in force at the step, how much memory is alive, and which iterations were skipped before it. */
function showStepFacts(state: PageState, before: PageState | null) {
  const { opened, step } = state;
  if (!hasChangedField(state, before, "opened", "step", "text")) return;
  const gap = select.skippedIterationsBeforeStep(state);
  element("unseen").hidden = !gap || state.predict !== null;
  if (gap) showSkippedIterations(gap);
  if (!hasChangedField(state, before, "opened", "step")) return;
  element("modes").replaceChildren();
  element("alive").textContent = "";
  if (!opened?.count) return;
  if (hasChangedField(state, before, "opened")) bytesByStep = liveBytesByStep(opened);
  const modeChips = nonDefaultModes(opened.at(step).entities).map((name) => {
    const chip = document.createElement("span");
    chip.className = "mode";
    chip.textContent = name;
    return chip;
  });
  element("modes").replaceChildren(...modeChips);
  element("alive").textContent = say("alive", { size: bytesLabel(bytesByStep[step]) });
}

const showSkippedIterations = createSkippedForm(
  { form: element("unseen"), text: element("unseen-text"), field: element("unseen-at") },
  say,
  (index) => dispatch({ type: "iterationRequested", index }),
);

/** Keeps what the reader writes, and offers what was kept to a page that shows another program. */
function keepDraft(state: PageState, before: PageState | null) {
  if (before && state.text !== before.text && !state.waiting && !select.isPageProgram(state)) writeDraft(state.text);
  const draft = select.draftNotShown(state);
  element("kept").hidden = draft === null;
}

/** @param before null: the first time */
function render(state: PageState, before: PageState | null) {
  program.render(state, before);
  if (hasChangedField(state, before, "opened", "waiting")) showPanes(state);
  picture.render(state, before);
  siblings.render(state.predict ? { ...state, opened: null } : state);
  showStepFacts(state, before);
  keepDraft(state, before);
  startPendingRun(state, before);
  if (before) address.render(state, before);
}

/** What a program is called: the scenario or saved program that it is, else the first thing that it does. */
function programName({ source, pasted = null }: { source: string; pasted?: string | null }) {
  const { scenario, saved, title } = element("workbench").dataset;
  const name = scenario ?? saved;
  if (name && title && [source, pasted].includes(store.state().page.source)) return { name, title };
  return { name: "program", title: select.titleFromFirstStatement(source) };
}

function aboutProgram(): About {
  const state = store.state();
  const isPageProgram = select.isPageProgram(state);
  const { title } = programName(state.opened?.trace.program ?? { source: state.text });
  const note = isPageProgram
    ? page.saved
      ? page.saved.note || page.saved.description
      : (element("workbench").dataset.question ?? "")
    : "";
  const address = page.saved && isPageProgram ? new URL(page.saved.url, location.href).href : location.href;
  return { title, note, address };
}

startLive({ toggle: document.querySelector("#live"), foot: element("live-foot") }, store, say, {
  editor: program.editor,
  markOlder: picture.stage.markOlder,
});
startPredict(element, store, say, {
  load: loadPredict,
  loadFindings,
  failed: () => dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  fetched: ({ saved }) => page.saved && Object.assign(page.saved, saved),
});
void startLessonOf(document.getElementById("lesson"), store, say, { run: program.run, edit: program.editor.focus });
startThemeButton(element("theme"));
startFileOpeningOnWorkbench({ button: element("open-file"), field: element("file") }, dispatch);
startLegend(element("legend"));
makePaneBorderDraggable(element("border"), { min: 240, max: () => Math.max(320, innerWidth * 0.6) });
element("closer").addEventListener("click", picture.zoom.in);
element("further").addEventListener("click", picture.zoom.out);
element("scale").addEventListener("click", picture.zoom.fit);
element("stop").addEventListener("click", runner.stop);
element("kept-show").addEventListener("click", () => {
  const source = select.draftNotShown(store.state());
  if (source !== null) dispatch({ type: "programEdited", text: source });
});
startCopyLink(
  element("copy"),
  () => fragmentOf(store.state()),
  say,
  (problem) => dispatch({ type: "problemFound", problem }),
);
startDownloadMenu(
  {
    button: element("takeaway"),
    menu: element("takeaway-menu"),
    body: element("offline") as HTMLTemplateElement,
  },
  () => {
    const { opened, step } = store.state();
    if (!opened?.count) return null;
    return {
      opened,
      toggled: picture.stage.toggled(),
      step,
      name: programName(opened.trace.program).name,
      about: aboutProgram(),
    };
  },
  () => dispatch({ type: "problemFound", problem: { key: "take_failed" } }),
);
startSaving(
  { button: element("save"), sheet: element("saving") },
  {
    say,
    content() {
      const state = store.state();
      const parent = page.saved && (select.isSavedProgram(state) ? page.saved.parent : page.saved.id);
      const focus = select.shownFocus(state);
      return {
        source: select.programTextForAddress(state),
        language: document.documentElement.lang,
        settings: { ...state.settings, ...(focus && { focus }) },
        ...(parent && { parent }),
      };
    },
    initial() {
      if (!page.saved) return { title: programName({ source: store.state().text }).title };
      const { title, description, note } = page.saved;
      return { title, description, note };
    },
    onSaved(id) {
      const state = store.state();
      const step = state.opened ? select.stepForAddress(state) : null;
      location.assign(`${ROOT}/s/${id}?lang=${document.documentElement.lang}${url.stepFragment(step)}`);
    },
  },
);
if (page.saved) startRerun({ button: element("rerun"), status: element("rerun-told") }, say, page.saved.id);
const copyCallbacks = {
  copied(name: string) {
    element("where").textContent = `${name}: ${say("copied")}`;
  },
  failed: () => dispatch({ type: "problemFound", problem: { key: "not_copied" } }),
};
startSeriesParts(element, { saved: page.saved, series: served.series ?? null }, store, say, {
  isSaved: select.isSavedProgram,
  ...copyCallbacks,
});
startSharing(
  element("takeaway-menu"),
  () => {
    const state = store.state();
    if (!page.saved || !select.isSavedProgram(state) || !select.isUpToDate(state)) return null;
    return {
      url: new URL(page.saved.url, location.href).href,
      title: page.saved.title,
      step: state.step,
      fragment:
        url.stepFragment(state.step) + url.viewFragment(state.view) + url.predictFragment(state.predict !== null),
    };
  },
  copyCallbacks,
);

const helpDialog = element("help") as HTMLDialogElement;
element("help-button").addEventListener("click", () => helpDialog.showModal());
helpDialog.addEventListener("click", (event) => {
  if (event.target === helpDialog) helpDialog.close(); // on the backdrop
});
const openPalette = prepareCommandPalette({ available: () => registry.available() }, program, store);
const registry = createCommandRegistry(pageCommands({ element, state: store.state, program, picture, openPalette }));
const pressControl = (name: string) => registry.press(`Mod+${name}`);
startKeyboardShortcuts(program, {}, { run: () => pressControl("Enter"), key: registry.press, letter: pressControl });
for (const button of document.querySelectorAll("[data-commands]"))
  button.addEventListener("click", () => {
    helpDialog.close();
    openPalette();
  });
/** The page that compares begins with this program on both sides. */
const compareLink = document.querySelector("a[data-compare]") as HTMLAnchorElement | null;
compareLink?.addEventListener("click", async (event) => {
  event.preventDefault();
  const source = select.programTextForAddress(store.state());
  location.assign(source.trim() ? await comparisonAddress(source, source) : compareLink.href);
});
for (const link of document.querySelectorAll("a[data-keep]") as NodeListOf<HTMLAnchorElement>)
  link.addEventListener("click", () => {
    link.hash = location.hash;
  });

render(store.state(), null);
store.subscribe(render);
const opening = addressAtNoteStep(
  await url.readAddress(location.hash),
  page.predicts ? null : (served.series?.step ?? null),
);
const chosenSettings = program.chosenSettings();
dispatch({ type: "pageOpened", address: opening });
if (chosenSettings) dispatch({ type: "settingsChanged", settings: chosenSettings }); // made while the page was getting ready
