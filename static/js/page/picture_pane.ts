/** The pane of pictures, on the page and in an offline file: stage or loom, timeline, sentences, printed output. */

import { printHead, type About } from "../sharing/about.ts";
import { captionListItems } from "../captions/caption_list.ts";
import { loomLabels, captionSentences, stageLabels, stepTitle } from "../captions/captions.ts";
import { createSeriesCurves } from "../timeline/curves.ts";
import { createFindingsCard, type ChainMark, type LoadFindings } from "../explain/findings_card.ts";
import { createLazyLoom } from "../loom/loader.ts";
import { onFirstInteraction } from "../browser/first_interaction.ts";
import { hasHiddenSteps } from "../trace/future.ts";
import { createPrinted } from "./printed.ts";
import { createQuestionCard } from "../explain/question_card.ts";
import { ownKeys } from "../stage/relatives.ts";
import { stepThatMadeBackwardFail } from "../trace/saved_slots.ts";
import { createStage } from "../stage/stage.ts";
import { hasChangedField } from "../browser/store.ts";
import { createTimeline } from "../timeline/timeline.ts";
import { createViews } from "./views.ts";
import type { FixActions } from "../explain/fix_list.ts";
import type { Action } from "../page_state/actions.ts";
import type { CheckGradients } from "../requests/gradient_check.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

const ZOOM = 1.25;

interface PicturePaneOptions {
  /** what a printed run is headed by */
  about: () => About;
  loadFindings: LoadFindings;
  fixes?: FixActions;
  checkGradients?: CheckGradients;
  /** whether a step is at a breakpoint */
  stopsAt?: (i: number) => boolean;
  /** called with the scale that is drawn */
  scaled?: (k: number, chosen: boolean) => void;
  /** whether elements that the trace left out can be asked for */
  canRun?: boolean;
  /** called with the chain of the finding that is open */
  markLines?: (marks: ChainMark[], errorExplained: boolean) => void;
}

/** @param element an element of the page, by its id */
export function createPicturePane(
  element: <T extends HTMLElement>(id: string) => T,
  { state: current, dispatch }: { state: () => PageState; dispatch: (action: Action) => void },
  say: Locale["say"],
  { about, loadFindings, fixes, checkGradients, stopsAt, scaled, markLines, canRun = false }: PicturePaneOptions,
) {
  const go = (step: number) => dispatch({ type: "stepChosen", step });
  const stage = createStage(element("stage"), document, {
    ...stageActions(dispatch, canRun),
    labels: stageLabels(say),
    scaled,
  });
  const loom = createLazyLoom([element("loom"), document, { labels: loomLabels(say), go }], () =>
    dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  const timeline = createTimeline(
    {
      root: element("timeline"),
      slider: element("slider"),
      marks: element("marks"),
      chain: element("chain"),
      label: element("where"),
    },
    {
      go,
      describe,
      stopsAt: stopsAt ?? (() => false),
      causeOf,
      reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
    },
  );
  const chain = createChainMarks((marks, errorExplained) => {
    timeline.markChain(marks);
    markLines?.(marks, errorExplained);
  });
  const printed = createPrinted({ pane: element("printed-box"), text: element("printed") }, say, go);
  const curves = createSeriesCurves(element("curves"), say, go);
  const findings = createFindingsCard(element("findings"), say, {
    load: loadFindings,
    fixes,
    go,
    light: (link) => stage.light(link ? ownKeys(link.uids, link.slot) : []),
    mark: chain.ofFinding,
  });
  const question = createQuestionCard({ card: answerSection(say, element("findings")), stage: element("stage") }, say, {
    load: loadFindings,
    go,
    light: (uids) => stage.light(ownKeys(uids)),
    mark: chain.ofAnswer,
    check: checkGradients,
    ask: (uid) => dispatch({ type: "questionAsked", uid }),
    close: () => dispatch({ type: "questionClosed" }),
  });
  const views = createViews(element("views"), (view) => dispatch({ type: "viewChosen", view }));
  onFirstInteraction(loom.prepare); // printing can't wait for it
  printWithLoom(loom, element("loom"), () => current().opened, about);

  /** The step that made the run raise, asked of the step at which it did. */
  function causeOf(i: number) {
    const { opened } = current();
    return opened && opened.trace.outcome.error?.step === i ? stepThatMadeBackwardFail(opened) : null;
  }

  function describe(i: number) {
    const { opened } = current();
    if (!opened?.count) return say("no_steps");
    return stepTitle(opened.trace, i, say);
  }

  /** Write down, for who waits for it, that a run is drawn. */
  async function announce(opened: OpenTrace, view: PageState["view"]) {
    if (view === "loom") await loom.prepare();
    if (current().opened !== opened) return;
    element("workbench").dataset.steps = String(opened.count);
  }

  /** @param before null: the first time */
  function render(state: PageState, before: PageState | null) {
    const { opened, step, view } = state;
    if (hasChangedField(state, before, "view")) {
      views.show(view);
      element("workbench").dataset.shownView = view;
      element("stage").classList.toggle("aside", view !== "stage");
      element("loom").classList.toggle("aside", view !== "loom");
    }
    if (hasChangedField(state, before, "opened")) {
      const steps = opened?.trace.steps ?? [];
      const hidesMore = opened !== null && hasHiddenSteps(opened.trace);
      const continuesRun = state.predict !== null && state.predict.whole === before?.predict?.whole;
      printed.open(opened?.trace ?? null, hidesMore);
      curves.open(opened?.trace ?? null);
      timeline.open(steps, { hidesMore, goesPast: state.predict !== null, goesOn: continuesRun });
      findings.open(hidesMore ? null : opened); // what a whole run means is not known before its end
      element("views").hidden = !opened?.count;
      if (opened && !opened.count) timeline.show(0);
      if (!opened?.count) element("sentences").replaceChildren();
    }
    if (opened?.count && hasChangedField(state, before, "opened", "step", "view")) {
      element("stage").classList.remove("previewed");
      if (view === "loom") loom.show(opened, step);
      else stage.show(opened, step);
    }
    if (opened && hasChangedField(state, before, "opened")) announce(opened, view);
    if (opened?.count && hasChangedField(state, before, "opened", "step")) {
      timeline.show(step);
      findings.show(step);
      question.showStep(step);
      element("sentences").replaceChildren(...captionListItems(captionSentences(opened, step, say)));
      printed.show(step);
      curves.show(step);
      element("workbench").dataset.step = String(step);
    }
    if (hasChangedField(state, before, "selection")) stage.select(state.selection);
    if (hasChangedField(state, before, "opened", "step", "selection"))
      question.offer(opened && hasHiddenSteps(opened.trace) ? null : opened, state.selection, step);
    if (hasChangedField(state, before, "question")) question.show(opened, state.question);
    if (state.revealed && hasChangedField(state, before, "revealed"))
      stage.peek(state.revealed.storage, state.revealed.at);
  }

  /** A step of another run in the place of the own one. */
  const preview = {
    /** @param text what the foot says of it @param more sentences besides the step's own */
    show(opened: OpenTrace, i: number, text: string, more: string[]) {
      if (current().view !== "stage" || current().predict) return;
      timeline.pause();
      element("stage").classList.add("previewed");
      stage.show(opened, i);
      element("where").textContent = text;
      const goingSentences = more.map((sentence) => ({ text: sentence, tone: "going" }));
      element("sentences").replaceChildren(
        ...captionListItems([...captionSentences(opened, i, say), ...goingSentences]),
      );
    },
    clear() {
      const { opened, step } = current();
      if (!element("stage").classList.contains("previewed")) return;
      element("stage").classList.remove("previewed");
      if (!opened?.count) return;
      stage.show(opened, step);
      timeline.show(step);
      element("sentences").replaceChildren(...captionListItems(captionSentences(opened, step, say)));
    },
  };

  const zoom = { in: () => stage.zoom(ZOOM), out: () => stage.zoom(1 / ZOOM), fit: () => stage.toggleFit() };
  return {
    render,
    stage,
    preview,
    timeline,
    canAsk: question.canAsk,
    zoom,
    shortcuts: {
      "+": zoom.in,
      "=": zoom.in,
      "-": zoom.out,
      0: zoom.fit,
      e: () => findings.focus(),
      w: () => question.askFocused(current().opened, current().step),
      l: () => current().opened?.count && views.toggle(),
    } as Record<string, () => void>,
  };
}

/** What a choice on the stage asks the page for. */
function stageActions(dispatch: (action: Action) => void, canRun: boolean) {
  return {
    cell: (storage: string, index: number, dtype: string) => dispatch({ type: "cellChosen", storage, index, dtype }),
    elements: canRun
      ? (storage: string, element: number) => dispatch({ type: "elementsRequested", storage, at: element })
      : undefined,
    selected: (key: string | null) => dispatch({ type: "selectionChanged", key }),
    pin: (node: string, slot: string) => dispatch({ type: "pinChosen", node, slot }),
    asked(uid: string) {
      dispatch({ type: "selectionChanged", key: `handle:${uid}` });
      dispatch({ type: "questionAsked", uid });
    },
  };
}

/** The lines of the answer that is open, or else of the finding. */
function createChainMarks(show: (marks: ChainMark[], errorExplained: boolean) => void) {
  let findingMarks: ChainMark[] = [];
  let answerMarks: ChainMark[] | null = null;
  let isErrorExplained = false;
  return {
    ofFinding(marks: ChainMark[], errorExplained: boolean) {
      findingMarks = marks;
      isErrorExplained = errorExplained;
      show(answerMarks ?? findingMarks, isErrorExplained);
    },
    /** @param marks null: none is open */
    ofAnswer(marks: ChainMark[] | null) {
      answerMarks = marks;
      show(answerMarks ?? findingMarks, isErrorExplained);
    },
  };
}

/** The place of an answer, before the findings. */
function answerSection(say: Locale["say"], findings: HTMLElement) {
  const section = document.createElement("section");
  section.id = "answer";
  section.className = "findings";
  section.hidden = true;
  section.setAttribute("aria-label", say("answer"));
  findings.before(section);
  return section;
}

/** On paper the whole run stands under a heading. @param host of the loom */
function printWithLoom(
  loom: ReturnType<typeof createLazyLoom>,
  host: HTMLElement,
  current: () => OpenTrace | null,
  about: () => About,
) {
  addEventListener("beforeprint", () => {
    const opened = current();
    if (!opened?.count) return;
    loom.print(opened);
    host.prepend(printHead(about()));
  });
  addEventListener("afterprint", () => {
    loom.clearPrint();
    host.querySelector(".print-head")?.remove();
  });
}
