/**
 * The pane of pictures, on the page and in an offline file: a step or the whole run, timeline, sentences, printed
 * output. It draws each change of the state into its parts.
 */

import { printedRunHeader, type ProgramDescription } from "../../browser/program_description.ts";
import { captionListItems } from "../../captions/caption_list.ts";
import { headlineSentences, wholeRunCaption, type CaptionSentence } from "../../captions/captions.ts";
import { startHeadline } from "./headline.ts";
import { onFirstInteraction } from "../../browser/first_interaction.ts";
import { hasHiddenSteps, isStillRunning } from "../../trace/steps/truncated_trace.ts";
import { hasChangedField } from "../../browser/store.ts";
import { createPictureParts, type PictureOptions, type PictureParts } from "./picture_parts.ts";
import { liveBytesByStep } from "../../trace/modes_and_memory.ts";
import { hasTrainingAxis } from "../../training/loader.ts";
import { isWholeRunList, shownPicture } from "../../page_state/selectors.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { PageState } from "../../page_state/state.ts";
import type { PageHost } from "../page_host.ts";

const ZOOM = 1.25;
const wideScreen = matchMedia("(min-width: 861px)");

/** `about` is what a printed run is headed by. */
export function createPicturePane(
  host: PageHost,
  { about, ...options }: PictureOptions & { about: () => ProgramDescription },
) {
  const { elementById, state, dispatch } = host;
  startHeadline(elementById("headline"), host.say);
  const parts = createPictureParts(host, { ...options, told: () => showFinding(), explained: () => drawView() });
  const { stage, loom, timeline, findings, question } = parts;
  onFirstInteraction(loom.prepare); // printing can't wait for it
  printWithLoom(loom, elementById("loom"), () => state().opened, about);

  const zoom = { in: () => stage.zoom(ZOOM), out: () => stage.zoom(1 / ZOOM), fit: () => stage.toggleFit() };
  const shortcuts: Record<string, () => void> = {
    "+": zoom.in,
    "=": zoom.in,
    "-": zoom.out,
    0: zoom.fit,
    e: () => findings.focus(),
    w: () => question.askFocused(state().opened, state().step),
    l: () => state().opened?.count && parts.chooseView(state().view === "step" ? "run" : "step"),
  };
  /** What was found says more of a step than the step itself does. */
  function showFinding() {
    const { opened } = state();
    if (!opened?.count || elementById("stage").classList.contains("previewed")) return;
    placeFindings();
    showHeadline();
  }

  const showHeadline = createHeadlineText(host, parts);
  const { render, drawView, placeFindings } = createStateRenderer(host, parts, showHeadline);
  wideScreen.addEventListener("change", placeFindings);
  // a finding that comes now moves nobody
  for (const kind of ["pointerdown", "wheel", "keydown"])
    elementById("timeline").parentElement?.addEventListener(kind, () => dispatch({ type: "pictureUsed" }), {
      passive: true,
    });
  return {
    render,
    preview: createPreview(host, parts),
    stage,
    timeline,
    canAsk: question.canAsk,
    zoom,
    shortcuts,
  };
}

/** What draws a change of the state: of another run first, then of its step, then of what is chosen in it. */
function createStateRenderer(host: PageHost, parts: PictureParts, showHeadline: () => void) {
  const { elementById, state: currentState } = host;
  const { stage, tooltips, loom, net, timeline, training, printed, curves, findings, question, views } = parts;

  const programPane = elementById("findings").parentElement;
  const afterFindings = elementById("findings").nextElementSibling;

  /** What is wrong stands in a drawer below a list of rows, where it takes no room from the code; else by the code. */
  function placeFindings() {
    const card = elementById("findings");
    const isList = shownPicture(currentState()) === "net" && wideScreen.matches;
    const isDrawer = isList && findings.hasGrave() && !document.body.classList.contains("embed");
    const [pane, next] = isDrawer
      ? [elementById("timeline").parentElement, elementById("timeline")]
      : [programPane, afterFindings];
    if (card.parentElement === pane) return;
    pane?.insertBefore(card, next);
    findings.setDrawer(isDrawer);
  }

  function showView(state: PageState) {
    const picture = shownPicture(state);
    placeFindings();
    views.show(state.view);
    Object.assign(elementById("workbench").dataset, { shownView: state.view, shownPicture: picture });
    for (const name of ["stage", "net", "loom"]) elementById(name).classList.toggle("aside", name !== picture);
  }

  function openRun({ opened, predict }: PageState, before: PageState | null) {
    const isPartial = opened !== null && hasHiddenSteps(opened.trace);
    const isRunning = opened !== null && isStillRunning(opened.trace);
    const hidesMore = isPartial && !isRunning; // from a reader who predicts
    const isGrowth = before?.opened != null && isStillRunning(before.opened.trace);
    const isContinuation = isGrowth || (predict !== null && predict.whole === before?.predict?.whole);
    printed.open(opened?.trace ?? null, hidesMore);
    curves.open(opened && !hasTrainingAxis(opened.trace) ? opened.trace : null);
    const timelineOptions = { hidesMore, requestsMoreAtEnd: predict !== null, isContinuation };
    timeline.setSteps(opened?.trace.steps ?? [], timelineOptions);
    findings.open(isPartial ? null : opened); // what a whole run means is not known before its end
    elementById("views").hidden = !opened?.count || isRunning;
    elementById("workbench").dataset.outcome = opened?.trace.outcome.status ?? "";
    if (opened && !opened.count) timeline.show(0);
    training.markFindings([]);
    if (!opened?.count || isPartial) training.show(null, 0);
    if (!opened?.count) elementById("sentences").replaceChildren();
  }

  function drawStep(opened: OpenTrace, state: PageState) {
    const { step } = state;
    const picture = shownPicture(state);
    elementById("stage").classList.remove("previewed");
    tooltips.hide();
    if (picture === "loom") loom.show(opened, step);
    else if (picture === "net") net.show(opened, step, isWholeRunList(state) ? "run" : "step");
    else stage.show(opened, step);
  }

  /** Write down, for who waits for it, that a run is drawn. */
  async function announce(opened: OpenTrace, state: PageState) {
    const picture = shownPicture(state);
    if (picture === "loom") await loom.prepare();
    if (picture === "net") await net.prepare().then(showHeadline); // it has names for the step's rows then
    if (currentState().opened === opened) elementById("workbench").dataset.steps = String(opened.count);
  }

  /** What there is around the picture to say of a step. */
  function showStep(opened: OpenTrace, { step }: PageState) {
    timeline.show(step);
    if (!hasHiddenSteps(opened.trace)) training.show(opened.trace, step, liveBytesByStep(opened));
    findings.show(step);
    question.showStep(step);
    showHeadline();
    printed.show(step);
    curves.show(step);
    elementById("workbench").dataset.step = String(step);
  }

  /** What an explanation colours. */
  function drawView() {
    const { opened } = currentState();
    if (opened?.count && shownPicture(currentState()) !== "stage") drawStep(opened, currentState());
  }

  /** `before` is null the first time. */
  function render(state: PageState, before: PageState | null) {
    const { opened, step, selection, revealed } = state;
    const changed = (...fields: (keyof PageState)[]) => hasChangedField(state, before, ...fields);
    if (changed("view", "opened")) showView(state);
    if (changed("opened")) openRun(state, before);
    if (opened?.count && changed("opened", "step", "view")) drawStep(opened, state);
    if (opened && changed("opened")) void announce(opened, state);
    if (opened?.count && changed("opened", "step", "view")) showStep(opened, state);
    if (changed("selection")) stage.select(selection);
    if (changed("opened", "step", "selection"))
      question.offer(opened && hasHiddenSteps(opened.trace) ? null : opened, selection, step);
    if (changed("question")) question.show(opened, state.question);
    if (revealed && changed("revealed")) stage.showElements(revealed.storage, revealed.at);
  }

  return { render, drawView, placeFindings };
}

/** A step of another run in the place of the own one. */
function createPreview(host: PageHost, { stage, timeline, findings }: PictureParts) {
  const { elementById, state } = host;
  return {
    /** `text` is what the foot says of it; `more` are sentences besides the step's own. */
    show(opened: OpenTrace, i: number, text: string, more: string[]) {
      if (shownPicture(state()) !== "stage" || state().predict) return;
      timeline.pause();
      elementById("stage").classList.add("previewed");
      stage.show(opened, i);
      elementById("where").textContent = text;
      const moreSentences = more.map((text) => ({ text, tone: "going" }));
      writeSentences(host, [...headlineSentences(opened, i, {}, host.say), ...moreSentences]);
    },
    clear() {
      const { opened, step } = state();
      if (!elementById("stage").classList.contains("previewed")) return;
      elementById("stage").classList.remove("previewed");
      if (!opened?.count) return;
      stage.show(opened, step);
      timeline.show(step);
      writeSentences(host, headlineSentences(opened, step, { why: findings.explanationOfError() }, host.say));
    },
  };
}

/** What is said over the picture: what the step did, or what the whole run amounts to, the same at all steps. */
function createHeadlineText(host: PageHost, { findings, net }: PictureParts) {
  return async () => {
    const { opened, step, view } = host.state();
    if (!opened?.count) return;
    if (view !== "step") {
      const sentences = await import("../../nets/whole_run/run_sentences.ts").catch(() => null);
      const now = host.state();
      if (now.opened !== opened || now.step !== step || now.view !== view) return;
      const said = sentences?.runSentences(opened, document.documentElement.lang) ?? [];
      if (said.length) return writeSentences(host, wholeRunCaption(said));
    }
    const isList = shownPicture(host.state()) === "net";
    const known = {
      found: isList && wideScreen.matches ? findings.sentenceAt(step) : null,
      ofRow: isList ? net.headline(opened, step) : null,
      why: findings.explanationOfError(),
    };
    writeSentences(host, headlineSentences(opened, step, known, host.say));
  };
}

function writeSentences({ elementById }: PageHost, sentences: CaptionSentence[]) {
  elementById("sentences").replaceChildren(...captionListItems(sentences));
}

/** On paper the whole run stands under a heading. `host` is the loom's. */
function printWithLoom(
  loom: PictureParts["loom"],
  host: HTMLElement,
  current: () => OpenTrace | null,
  about: () => ProgramDescription,
) {
  addEventListener("beforeprint", () => {
    const opened = current();
    if (!opened?.count) return;
    loom.print(opened);
    host.prepend(printedRunHeader(about()));
  });
  addEventListener("afterprint", () => {
    loom.clearPrint();
    host.querySelector(".print-head")?.remove();
  });
}
