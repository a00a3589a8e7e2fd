/** The workbench: makes the parts of the page, and draws each change of the state into them. */

import { startCommands } from "./page/page_commands.ts";
import { createProgramPane } from "./page/program/program_pane.ts";
import { comparisonAddress } from "./page_state/comparison_address.ts";
import { loadEditorTools, prebuiltHighlights } from "./editor/prebuilt_highlights.ts";
import { loadFindings } from "./explain/findings_bundle.ts";
import { startFileOpeningOnWorkbench } from "./open_file/workbench.ts";
import { startLessonOf } from "./page/lesson_loader.ts";
import { startLegend } from "./page/picture/legend.ts";
import { startMoreMenu } from "./page/start/more_menu.ts";
import { startNewProgramMenu } from "./page/start/new_program_menu.ts";
import { createFirstQuestion } from "./page/start/first_question.ts";
import { createServerWatch } from "./page/running/server_watch.ts";
import { keepLastAddress, rememberFeatureUse, lastAddress, readUsedFeatures } from "./page/start/visit_history.ts";
import { createAddressSync } from "./page/address.ts";
import { startLiveSwitch } from "./page/live_loader.ts";
import { loadLocale } from "./words/page_locale.ts";
import { isSavedProgram, programTextForAddress } from "./page_state/selectors.ts";
import { initialState, reduce } from "./page_state/page_state.ts";
import { startPredictButton } from "./page/predict_loader.ts";
import { loadPredict } from "./page/predict_bundle.ts";
import { makePaneBorderDraggable } from "./browser/pane_border.ts";
import { createPicturePane } from "./page/picture/picture_pane.ts";
import { onFirstInteraction } from "./browser/first_interaction.ts";
import { createDraftKeeper } from "./page/program/draft.ts";
import { elementById, type PageHost } from "./page/page_host.ts";
import { describeProgram } from "./page/program/program_name.ts";
import { createRunRequests } from "./page/running/run_requests.ts";
import { createRunner } from "./page/running/runner.ts";
import { createRunStatus } from "./page/running/run_status.ts";
import { isFrontPage, readServedPage, servedSeries } from "./page/served_page.ts";
import { createStepStatus } from "./page/picture/step_status.ts";
import { startSharingParts } from "./sharing/workbench.ts";
import { addressAtNoteStep } from "./page/series_reader.ts";
import { startSeriesParts } from "./series/workbench.ts";
import { createStore, hasChangedField } from "./browser/store.ts";
import { startThemeButton } from "./browser/theme.ts";
import { readAddress } from "./page_state/url.ts";
import { missingPackages } from "./program/missing_packages.ts";
import { notAProgramRefusal } from "./program/pasted_kind.ts";
import { isStillRunning } from "./trace/steps/truncated_trace.ts";
import type { PageState } from "./page_state/state.ts";
import type { Refusal, Repair, Trace } from "./trace/wire.ts";

const { say } = await loadLocale(document.documentElement.lang);
const page = readServedPage();
const isFront = isFrontPage(page);
/** The page without a name in its address: it shows what its reader had there last. */
const isWorkplace = document.getElementById("starts") !== null;
const isFirstVisit = isWorkplace && !readUsedFeatures().has("starts");
if (isFirstVisit) page.stopsBefore = document.getElementById("first-question")?.dataset.line;
const store = createStore(reduce, initialState(page));
const { state: currentState, dispatch } = store;
const host: PageHost = { elementById, say, state: currentState, dispatch };
const firstInteraction = new Promise<void>((resolve) => onFirstInteraction(resolve));

/** Only the first visit's page has its colours with it: it gets the grammar when somebody is there. */
const painted = isFront && isFirstVisit ? prebuiltHighlights(currentState().text) : null;
const editorTools = painted ? null : await loadEditorTools();

// The two panes know of each other: a card is drawn as a preview, and a step stops at a line.
const program = createProgramPane(
  elementById,
  store,
  say,
  {
    show: (opened, step, text, more) => picture.preview.show(opened, step, text, more),
    clear: () => picture.preview.clear(),
  },
  { tools: editorTools, painted: painted ?? [] },
);
if (!editorTools)
  void firstInteraction
    .then(loadEditorTools)
    .then(program.editor.useTools)
    .catch(() => {}); // the text can be written and run without them
const picture = createPicturePane(host, {
  about: () => describeProgram(elementById, currentState()),
  canRun: true,
  stopsAt: program.stopsAt,
  markLines: program.markLines,
  loadFindings: loadFindingsOfRun,
  ...createRunRequests(host),
  onScale: showScale,
});
let siblings: ReturnType<typeof import("./siblings/chips.ts").createSiblingChips> | null = null;
// without chips nothing else is missing
void (isFirstVisit ? firstInteraction : Promise.resolve()).then(loadSiblings).catch(() => {});
const runStatus = createRunStatus(host);
const stepStatus = createStepStatus(host);
const moreMenu = startMoreMenu(host);
const firstQuestion = createFirstQuestion(host, isFirstVisit);
const serverWatch = createServerWatch(host);
const starts = startNewProgramMenu(host, {
  isFirstVisit,
  editEmptied: program.startAnew,
  showOpening() {
    firstQuestion.ask();
    dispatch({ type: "pageProgramChosen", stopsBefore: firstQuestion.line });
  },
});
const draft = createDraftKeeper(host);
const runner = createRunner(page.traceUrl, dispatch);
const address = createAddressSync(
  currentState,
  (next) => dispatch({ type: "linkOpened", address: next }),
  isWorkplace ? keepLastAddress : undefined,
);

/** The run of the front page is that of every first visit: what there is to say of it is fetched once its reader does
 * something. */
async function loadFindingsOfRun() {
  const { opened, page: shown } = currentState();
  if (isFront && shown.trace !== null && opened?.trace === shown.trace) await firstInteraction;
  return loadFindings();
}

function showScale(k: number, isChosen: boolean) {
  const percent = `${Math.round(k * 100)}%`;
  elementById("scale").textContent = percent;
  elementById("scale").setAttribute("aria-label", `${percent}, ${say("whole")}`);
  elementById("scale").setAttribute("aria-pressed", String(isChosen));
}

/** What there is to see: the picture, why there is none, or a program that waits to be run. */
function showPanes(state: PageState, before: PageState | null) {
  if (!hasChangedField(state, before, "opened", "waiting")) return;
  const { opened, waiting } = state;
  const isEmpty = opened !== null && !opened.count;
  elementById("waiting").hidden = !waiting;
  elementById("timeline").hidden = waiting;
  for (const name of ["stage", "net", "loom"]) elementById(name).hidden = waiting || isEmpty;
  elementById("empty").hidden = !isEmpty;
  if (isEmpty)
    elementById("empty").textContent = say(opened.trace.outcome.status === "refused" ? "refused" : "no_steps");
  const refusal = isEmpty ? notAProgramRefusal(opened.trace) : null;
  if (refusal) void showWhyNoProgram(refusal, opened?.trace.program.source ?? "");
  else if (isEmpty && missingPackages(opened.trace).length) void showMissingPackages(opened.trace);
  elementById<HTMLButtonElement>("takeaway").disabled = !opened?.count || isStillRunning(opened.trace);
}

async function showWhyNoProgram(refusal: Refusal, text: string) {
  const answer = await import("./page/program/no_program_panel.ts");
  await answer.showNoProgramPanel({ host: elementById("empty"), refusal, text, startAnew: program.startAnew });
}

async function showMissingPackages(trace: Trace) {
  const panel = await import("./page/program/missing_packages.ts");
  const onRepair = (repair: Repair) => dispatch({ type: "repairRequested", repair });
  await panel.showMissingPackages({ host: elementById("empty"), trace, pageSay: say, onRepair });
}

/** A program that asked for CUDA, and ran on the CPU: said as long as its run is shown. */
function showOnCpuNotice(state: PageState, before: PageState | null) {
  if (!hasChangedField(state, before, "onCpu", "opened")) return;
  const { onCpu, opened } = state;
  const isShown = onCpu?.trace != null && opened?.trace === onCpu.trace;
  elementById("on-cpu").hidden = !isShown;
  const undo = () => dispatch({ type: "cpuRunUndone" });
  if (isShown)
    void import("./page/program/on_cpu_notice.ts").then((parts) =>
      parts.drawOnCpuNotice(elementById("on-cpu"), onCpu, say, undo),
    );
}

async function loadSiblings() {
  const { createSiblingChips } = await import("./siblings/chips.ts");
  siblings = createSiblingChips(
    elementById("siblings"),
    say,
    (change) => dispatch({ type: "siblingChosen", ...change }),
    elementById("workbench").dataset.live === "off" ? null : elementById("live-foot"),
  );
  showSiblings(currentState());
}

function showSiblings(state: PageState) {
  siblings?.render(state.predict ? { ...state, opened: null } : state);
}

/** Draws a change of the state, part by part; `before` is null the first time. */
function render(state: PageState, before: PageState | null) {
  program.render(state, before);
  runStatus.render(state, before);
  showPanes(state, before);
  showOnCpuNotice(state, before);
  picture.render(state, before);
  showSiblings(state);
  stepStatus.render(state, before);
  moreMenu.render(state, before);
  firstQuestion.render(state);
  if (hasChangedField(state, before, "text", "opened")) starts.render(state, before);
  draft.render(state, before);
  runner.render(state, before, picture.timeline.pause);
  address.render(state, before);
  serverWatch.render(state, before);
  if (state.pending?.reason === "run" && before && state.pending !== before.pending) rememberFeatureUse("starts");
}

/** The page that compares begins with this program on both sides; a page in another language, where this one is. */
function startPageLinks() {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-compare]"))
    link.addEventListener("click", async (event) => {
      event.preventDefault();
      const source = programTextForAddress(currentState());
      location.assign(source.trim() ? await comparisonAddress(source, source) : link.href);
    });
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-keep]"))
    link.addEventListener("click", () => {
      link.hash = location.hash;
    });
}

// Parts that hear of the state themselves, or only ask for actions.
startLiveSwitch({ toggle: document.querySelector("#live"), foot: elementById("live-foot") }, store, say, {
  editor: program.editor,
  markOutdated: picture.stage.markOutdated,
});
startPredictButton(elementById, store, say, {
  load: loadPredict,
  loadFindings,
  failed: () => dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  fetched: ({ saved }) => page.saved && Object.assign(page.saved, saved),
});
void startLessonOf(document.getElementById("lesson"), store, say, { run: program.run, edit: program.editor.focus });
startThemeButton(elementById("theme"));
startFileOpeningOnWorkbench({ button: elementById("open-file"), field: elementById("file") }, dispatch);
if (!isFirstVisit) startLegend(elementById("legend")); // on a first visit there is one thing to read
makePaneBorderDraggable(elementById("border"), { min: 240, max: () => Math.max(320, innerWidth * 0.6) });
elementById("closer").addEventListener("click", picture.zoom.in);
elementById("further").addEventListener("click", picture.zoom.out);
elementById("scale").addEventListener("click", picture.zoom.fit);
elementById("stop").addEventListener("click", runner.stop);

const onCopy = {
  copied(name: string) {
    elementById("where").textContent = `${name}: ${say("copied")}`;
  },
  failed: () => dispatch({ type: "problemFound", problem: { key: "not_copied" } }),
};
startSharingParts(host, picture.stage.toggled, onCopy);
startSeriesParts(elementById, { saved: page.saved, series: servedSeries }, store, say, {
  isSaved: isSavedProgram,
  ...onCopy,
});
startCommands(host, program, picture);
startPageLinks();

render(currentState(), null);
store.subscribe(render);
const openingAddress = addressAtNoteStep(
  await readAddress(location.hash || (isWorkplace && !isFirstVisit && lastAddress()) || ""),
  page.predicts ? null : (servedSeries?.step ?? null),
);
const chosenSettings = program.chosenSettings();
dispatch({ type: "pageOpened", address: openingAddress });
// made while the page was getting ready
if (chosenSettings) dispatch({ type: "settingsChanged", settings: chosenSettings });
