/** The page: wires its parts to the state. What the reader does becomes an action, what changes is drawn. */

import { compareAddress } from "./compare/address.js";
import { createProgramPane } from "./page/program_pane.js";
import { createRegistry } from "./browser/commands.js";
import { startCopyLink } from "./sharing/copy_link.js";
import { startDownloads } from "./picture/download.js";
import { readDraft, writeDraft } from "./editor/drafts.js";
import { tryFixes } from "./requests/fixes.js";
import { checkGradients } from "./requests/gradient_check.js";
import { loadFindings } from "./explain/findings_bundle.js";
import { startKeys } from "./browser/keys.js";
import { startOpening } from "./open_file/workbench.js";
import { startLessonOf } from "./page/lesson_loader.js";
import { startLegend } from "./page/legend.js";
import { activeModes, bytesLabel, liveBytes } from "./trace/memory_totals.js";
import { createAddress, fragmentOf } from "./page/address.js";
import { pageCommands } from "./page/page_commands.js";
import { readLivePreference, startLive } from "./page/live_loader.js";
import { loadLocale } from "./words/page_locale.js";
import * as select from "./page_state/selectors.js";
import { initialState, reduce } from "./page_state/page_state.js";
import { preparePalette } from "./page/palette_loader.js";
import { startPredict } from "./page/predict_loader.js";
import { loadPredict } from "./page/predict_bundle.js";
import { startPaneBorder } from "./browser/pane_border.js";
import { createPicturePane } from "./page/picture_pane.js";
import { onFirstInteraction } from "./browser/first_interaction.js";
import { startRerun } from "./sharing/rerun.js";
import { ROOT } from "./requests/root.js";
import { createRunner } from "./page/running.js";
import { startSaving } from "./sharing/saving.js";
import { createSiblingChips } from "./siblings/chips.js";
import { atNote } from "./series/reader.js";
import { startSeriesParts } from "./series/workbench.js";
import { startSharing } from "./sharing/sharing.js";
import { fixedText } from "./program/repair.js";
import { createStore, differs } from "./browser/store.js";
import { startTheme } from "./browser/theme.js";
import { createSkippedForm } from "./page/unseen_form.js";
import * as url from "./page_state/url.js";
import { preferredView } from "./page/views.js";

/** @typedef {import("./page_state/page_state.js").PageState} PageState */

const { say } = await loadLocale(document.documentElement.lang);
/** @template {HTMLElement} T @param {string} id @returns {T} */
const element = (id) => /** @type {T} */ (document.getElementById(id));
const optionValue = (/** @type {HTMLOptionElement} */ { value }) => value;

const served = JSON.parse(element("first").textContent ?? "{}");

/** What the server sent with the page. @returns {import("./page_state/page_state.js").Page} */
function readPage() {
  const { source = "", trace_url: traceUrl = null, saved = null } = served;
  const device = /** @type {HTMLSelectElement | null} */ (document.getElementById("device"));
  const devices = [...(device?.options ?? [])].map(optionValue);
  const isLive = readLivePreference(element("workbench").dataset.live ?? "off");
  const predicts = url.asksToPredict(location.search);
  return { source, traceUrl, trace: null, saved, devices, draft: readDraft(), isLive, predicts };
}

const page = readPage();
/** Resolved by the reader's first sign. @type {Promise<void>} */
const firstInteraction = new Promise((resolve) => onFirstInteraction(() => resolve()));

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
      return compareAddress(source, fixedText({ source }, edits));
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
const runner = createRunner({ form: element("run-form"), result: element("run") }, page.traceUrl, dispatch);

/** The run that is asked for is the one that goes on. @param {PageState} state @param {PageState | null} before */
function startPendingRun({ pending }, before) {
  if (pending?.id === before?.pending?.id) return;
  if (!pending) return runner.cancel();
  if (select.runsProgram(pending)) picture.timeline.pause();
  runner.start(pending);
}

/** What there is to see: the picture, why there is none, or a program that waits to be run. @param {PageState} state */
function showPanes({ opened, waiting }) {
  const isEmpty = opened !== null && !opened.count;
  element("waiting").hidden = !waiting;
  element("timeline").hidden = waiting;
  element("stage").hidden = element("loom").hidden = waiting || isEmpty;
  element("empty").hidden = !isEmpty;
  if (isEmpty) element("empty").textContent = say(opened.trace.outcome.status === "refused" ? "refused" : "no_steps");
  /** @type {HTMLButtonElement} */ (element("takeaway")).disabled = !opened?.count;
}

/** @type {number[]} bytes alive after each step */
let bytesByStep = [];
/** What is in force at the step, how much memory is alive, and which iterations were skipped before it.
 * @param {PageState} state @param {PageState | null} before */
function showStepFacts(state, before) {
  const { opened, step } = state;
  if (!differs(state, before, "opened", "step", "text")) return;
  const gap = select.skippedGap(state);
  element("unseen").hidden = !gap || state.predict !== null;
  if (gap) showSkippedIterations(gap);
  if (!differs(state, before, "opened", "step")) return;
  element("modes").replaceChildren();
  element("alive").textContent = "";
  if (!opened?.count) return;
  if (differs(state, before, "opened")) bytesByStep = liveBytes(opened);
  const modeChips = activeModes(opened.at(step).entities).map((name) => {
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

/** Keeps what the reader writes, and offers what was kept to a page that shows another program.
 * @param {PageState} state @param {PageState | null} before */
function keepDraft(state, before) {
  if (before && state.text !== before.text && !state.waiting && !select.isPageProgram(state)) writeDraft(state.text);
  const draft = select.keptDraft(state);
  element("kept").hidden = draft === null;
}

/** @param {PageState} state @param {PageState | null} before null: the first time */
function render(state, before) {
  program.render(state, before);
  if (differs(state, before, "opened", "waiting")) showPanes(state);
  picture.render(state, before);
  siblings.render(state.predict ? { ...state, opened: null } : state);
  showStepFacts(state, before);
  keepDraft(state, before);
  startPendingRun(state, before);
  if (before) address.render(state, before);
}

/** What a program is called: the scenario or saved program that it is, else the first thing that it does.
 * @param {{source: string, pasted?: string | null}} program */
function programName({ source, pasted = null }) {
  const { scenario, saved, title } = element("workbench").dataset;
  const name = scenario ?? saved;
  if (name && title && [source, pasted].includes(store.state().page.source)) return { name, title };
  return { name: "program", title: select.firstStatement(source) };
}

/** @returns {import("./sharing/about.js").About} */
function aboutProgram() {
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
startTheme(element("theme"));
startOpening({ button: element("open-file"), field: element("file") }, dispatch);
startLegend(element("legend"));
startPaneBorder(element("border"), { min: 240, max: () => Math.max(320, innerWidth * 0.6) });
element("closer").addEventListener("click", picture.zoom.in);
element("further").addEventListener("click", picture.zoom.out);
element("scale").addEventListener("click", picture.zoom.fit);
element("stop").addEventListener("click", runner.stop);
element("kept-show").addEventListener("click", () => {
  const source = select.keptDraft(store.state());
  if (source !== null) dispatch({ type: "programEdited", text: source });
});
startCopyLink(
  element("copy"),
  () => fragmentOf(store.state()),
  say,
  (problem) => dispatch({ type: "problemFound", problem }),
);
startDownloads(
  {
    button: element("takeaway"),
    menu: element("takeaway-menu"),
    body: /** @type {HTMLTemplateElement} */ (element("offline")),
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
        source: select.programText(state),
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
      const step = state.opened ? select.addressStep(state) : null;
      location.assign(`${ROOT}/s/${id}?lang=${document.documentElement.lang}${url.stepFragment(step)}`);
    },
  },
);
if (page.saved) startRerun({ button: element("rerun"), status: element("rerun-told") }, say, page.saved.id);
const copyCallbacks = {
  copied(/** @type {string} */ name) {
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

const helpDialog = /** @type {HTMLDialogElement} */ (element("help"));
element("help-button").addEventListener("click", () => helpDialog.showModal());
helpDialog.addEventListener("click", (event) => {
  if (event.target === helpDialog) helpDialog.close(); // on the backdrop
});
const openPalette = preparePalette({ available: () => registry.available() }, program, store);
const registry = createRegistry(pageCommands({ element, state: store.state, program, picture, openPalette }));
const pressControl = (/** @type {string} */ name) => registry.press(`Mod+${name}`);
startKeys(program, {}, { run: () => pressControl("Enter"), key: registry.press, letter: pressControl });
for (const button of document.querySelectorAll("[data-commands]"))
  button.addEventListener("click", () => {
    helpDialog.close();
    openPalette();
  });
/** The page that compares begins with this program on both sides. */
const compareLink = /** @type {HTMLAnchorElement | null} */ (document.querySelector("a[data-compare]"));
compareLink?.addEventListener("click", async (event) => {
  event.preventDefault();
  const source = select.programText(store.state());
  location.assign(source.trim() ? await compareAddress(source, source) : compareLink.href);
});
for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-keep]")))
  link.addEventListener("click", () => {
    link.hash = location.hash;
  });

render(store.state(), null);
store.subscribe(render);
const opening = atNote(await url.readAddress(location.hash), page.predicts ? null : (served.series?.step ?? null));
const chosenSettings = program.chosenSettings();
dispatch({ type: "pageOpened", address: opening });
if (chosenSettings) dispatch({ type: "settingsChanged", settings: chosenSettings }); // made while the page was getting ready
