/** The workbench: makes the parts of the page, and draws each change of the state into them. */

import { startCommands } from "./page/page_commands.ts";
import { createProgramPane } from "./page/program/program_pane.ts";
import { comparisonAddress } from "./page_state/comparison_address.ts";
import { loadEditorTools, paintedParts } from "./editor/painted.ts";
import { loadFindings } from "./explain/findings_bundle.ts";
import { startFileOpeningOnWorkbench } from "./open_file/workbench.ts";
import { startLessonOf } from "./page/lesson_loader.ts";
import { startLegend } from "./page/picture/legend.ts";
import { startMoreMenu } from "./page/start/more_menu.ts";
import { startNewProgramMenu } from "./page/start/starts.ts";
import { createFirstQuestion } from "./page/start/first_question.ts";
import { createServerWatch } from "./page/running/server_watch.ts";
import { keepLastAddress, rememberFeatureUse, lastAddress, featuresUsedBefore } from "./page/start/kept.ts";
import { createAddress } from "./page/address.ts";
import { startLive } from "./page/live_loader.ts";
import { loadLocale } from "./words/page_locale.ts";
import { isSavedProgram, programTextForAddress } from "./page_state/selectors.ts";
import { initialState, reduce } from "./page_state/page_state.ts";
import { startPredict } from "./page/predict_loader.ts";
import { loadPredict } from "./page/predict_bundle.ts";
import { makePaneBorderDraggable } from "./browser/pane_border.ts";
import { createPicturePane } from "./page/picture/picture_pane.ts";
import { onFirstInteraction } from "./browser/first_interaction.ts";
import { createDraftKeeper } from "./page/program/draft.ts";
import { element, type PageHost } from "./page/page_host.ts";
import { aboutProgram } from "./page/program/program_name.ts";
import { createRunRequests } from "./page/running/run_requests.ts";
import { createRunner } from "./page/running/running.ts";
import { createRunStatus } from "./page/running/run_status.ts";
import { isFrontPage, servedPage, servedSeries } from "./page/served_page.ts";
import { createStepStatus } from "./page/picture/step_status.ts";
import { startSharingParts } from "./sharing/workbench.ts";
import { addressAtNoteStep } from "./page/series_reader.ts";
import { startSeriesParts } from "./series/workbench.ts";
import { createStore, hasChangedField } from "./browser/store.ts";
import { startThemeButton } from "./browser/theme.ts";
import { readAddress } from "./page_state/url.ts";
import { packagesNotHere } from "./program/missing_packages.ts";
import { refusalOfOtherText } from "./program/other_text.ts";
import type { PageState } from "./page_state/state.ts";
import type { Refusal, Repair, Trace } from "./trace/wire.ts";

const { say } = await loadLocale(document.documentElement.lang);
const page = servedPage();
const isFront = isFrontPage(page);
/** The page without a name in its address: it shows what its reader had there last. */
const isWorkplace = document.getElementById("starts") !== null;
const isFirstVisit = isWorkplace && !featuresUsedBefore().has("starts");
if (isFirstVisit) page.stopsBefore = document.getElementById("first-question")?.dataset.line;
const store = createStore(reduce, initialState(page));
const { state: currentState, dispatch } = store;
const host: PageHost = { element, say, state: currentState, dispatch };
const firstInteraction = new Promise<void>((resolve) => onFirstInteraction(resolve));

/** Only the first visit's page has its colours with it: it gets the grammar when somebody is there. */
const painted = isFront && isFirstVisit ? paintedParts(currentState().text) : null;
const editorTools = painted ? null : await loadEditorTools();

// The two panes know of each other: a card is drawn as a preview, and a step stops at a line.
const program = createProgramPane(
  element,
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
  about: () => aboutProgram(element, currentState()),
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
const address = createAddress(
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
  element("scale").textContent = percent;
  element("scale").setAttribute("aria-label", `${percent}, ${say("whole")}`);
  element("scale").setAttribute("aria-pressed", String(isChosen));
}

/** What there is to see: the picture, why there is none, or a program that waits to be run. */
function showPanes(state: PageState, before: PageState | null) {
  if (!hasChangedField(state, before, "opened", "waiting")) return;
  const { opened, waiting } = state;
  const isEmpty = opened !== null && !opened.count;
  element("waiting").hidden = !waiting;
  element("timeline").hidden = waiting;
  for (const name of ["stage", "net", "loom"]) element(name).hidden = waiting || isEmpty;
  element("empty").hidden = !isEmpty;
  if (isEmpty) element("empty").textContent = say(opened.trace.outcome.status === "refused" ? "refused" : "no_steps");
  const refusal = isEmpty ? refusalOfOtherText(opened.trace) : null;
  if (refusal) void showFirstAnswer(refusal, opened?.trace.program.source ?? "");
  else if (isEmpty && packagesNotHere(opened.trace).length) void showMissingPackages(opened.trace);
  element<HTMLButtonElement>("takeaway").disabled = !opened?.count;
}

async function showFirstAnswer(refusal: Refusal, text: string) {
  const answer = await import("./page/program/first_answer.ts");
  await answer.showFirstAnswer({ host: element("empty"), refusal, text, startAnew: program.startAnew });
}

async function showMissingPackages(trace: Trace) {
  const panel = await import("./page/program/missing_packages.ts");
  const onRepair = (repair: Repair) => dispatch({ type: "repairRequested", repair });
  await panel.showMissingPackages({ host: element("empty"), trace, pageSay: say, onRepair });
}

/** A program that asked for CUDA, and ran on the CPU: said as long as its run is shown. */
function showOnCpuNotice(state: PageState, before: PageState | null) {
  if (!hasChangedField(state, before, "onCpu", "opened")) return;
  const { onCpu, opened } = state;
  const isShown = onCpu?.trace != null && opened?.trace === onCpu.trace;
  element("on-cpu").hidden = !isShown;
  const undo = () => dispatch({ type: "cpuRunUndone" });
  if (isShown)
    void import("./page/program/on_cpu.ts").then((parts) => parts.showOnCpu(element("on-cpu"), onCpu, say, undo));
}

async function loadSiblings() {
  const { createSiblingChips } = await import("./siblings/chips.ts");
  siblings = createSiblingChips(
    element("siblings"),
    say,
    (change) => dispatch({ type: "siblingChosen", ...change }),
    element("workbench").dataset.live === "off" ? null : element("live-foot"),
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
startLive({ toggle: document.querySelector("#live"), foot: element("live-foot") }, store, say, {
  editor: program.editor,
  markOutdated: picture.stage.markOutdated,
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
if (!isFirstVisit) startLegend(element("legend")); // on a first visit there is one thing to read
makePaneBorderDraggable(element("border"), { min: 240, max: () => Math.max(320, innerWidth * 0.6) });
element("closer").addEventListener("click", picture.zoom.in);
element("further").addEventListener("click", picture.zoom.out);
element("scale").addEventListener("click", picture.zoom.fit);
element("stop").addEventListener("click", runner.stop);

const onCopy = {
  copied(name: string) {
    element("where").textContent = `${name}: ${say("copied")}`;
  },
  failed: () => dispatch({ type: "problemFound", problem: { key: "not_copied" } }),
};
startSharingParts(host, picture.stage.toggled, onCopy);
startSeriesParts(element, { saved: page.saved, series: servedSeries }, store, say, {
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
