/** The pane of pictures, on the page and in an offline file: stage or loom, timeline, sentences, printed output. */

import { printHead } from "../sharing/about.js";
import { captionItems } from "../captions/caption_list.js";
import { loomLabels, sentences, stageLabels, stepTitle } from "../captions/captions.js";
import { createCurves } from "../timeline/curves.js";
import { createFindingsCard } from "../explain/findings_card.js";
import { createLoomLoader } from "../loom/loader.js";
import { onFirstInteraction } from "../browser/first_interaction.js";
import { hidesFuture } from "../trace/future.js";
import { createPrinted } from "./printed.js";
import { createQuestionCard } from "../explain/question_card.js";
import { ownKeys } from "../stage/relatives.js";
import { causingStep } from "../trace/saved_slots.js";
import { createStage } from "../stage/stage.js";
import { differs } from "../browser/store.js";
import { createTimeline } from "../timeline/timeline.js";
import { createViews } from "./views.js";

const ZOOM = 1.25;

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("../page_state/page_state.js").Action} Action */
/** @typedef {import("../explain/findings_card.js").ChainMark} ChainMark */

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{state: () => PageState, dispatch: (action: Action) => void}} store
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{about: () => import("../sharing/about.js").About, loadFindings: import("../explain/findings_card.js").LoadFindings, fixes?: import("../explain/fix_list.js").Fixing, checkGradients?: import("../requests/gradient_check.js").CheckGradients, stopsAt?: (i: number) => boolean, scaled?: (k: number, chosen: boolean) => void, canRun?: boolean,
 *   markLines?: (marks: import("../explain/findings_card.js").ChainMark[], errorExplained: boolean) => void}} options
 *   about: what a printed run is headed by; stopsAt: whether a step is at a breakpoint; scaled: called with the scale that is drawn; canRun: whether elements
 *   that the trace left out can be asked for; markLines: called with the chain of the finding that is open
 */
export function createPicturePane(
  element,
  { state: current, dispatch },
  say,
  { about, loadFindings, fixes, checkGradients, stopsAt, scaled, markLines, canRun = false },
) {
  const go = (/** @type {number} */ step) => dispatch({ type: "stepChosen", step });
  const stage = createStage(element("stage"), document, {
    ...stageActions(dispatch, canRun),
    labels: stageLabels(say),
    scaled,
  });
  const loom = createLoomLoader([element("loom"), document, { labels: loomLabels(say), go }], () =>
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
  const curves = createCurves(element("curves"), say, go);
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

  /** The step that made the run raise, asked of the step at which it did. @param {number} i */
  function causeOf(i) {
    const { opened } = current();
    return opened && opened.trace.outcome.error?.step === i ? causingStep(opened) : null;
  }

  /** @param {number} i */
  function describe(i) {
    const { opened } = current();
    if (!opened?.count) return say("no_steps");
    return stepTitle(opened.trace, i, say);
  }

  /** Write down, for who waits for it, that a run is drawn.
   * @param {import("../trace/state.js").OpenTrace} opened @param {PageState["view"]} view */
  async function announce(opened, view) {
    if (view === "loom") await loom.prepare();
    if (current().opened !== opened) return;
    element("workbench").dataset.steps = String(opened.count);
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const { opened, step, view } = state;
    if (differs(state, before, "view")) {
      views.show(view);
      element("workbench").dataset.shownView = view;
      element("stage").classList.toggle("aside", view !== "stage");
      element("loom").classList.toggle("aside", view !== "loom");
    }
    if (differs(state, before, "opened")) {
      const steps = opened?.trace.steps ?? [];
      const hidesMore = opened !== null && hidesFuture(opened.trace);
      const continuesRun = state.predict !== null && state.predict.whole === before?.predict?.whole;
      printed.open(opened?.trace ?? null, hidesMore);
      curves.open(opened?.trace ?? null);
      timeline.open(steps, { hidesMore, goesPast: state.predict !== null, goesOn: continuesRun });
      findings.open(hidesMore ? null : opened); // what a whole run means is not known before its end
      element("views").hidden = !opened?.count;
      if (opened && !opened.count) timeline.show(0);
      if (!opened?.count) element("sentences").replaceChildren();
    }
    if (opened?.count && differs(state, before, "opened", "step", "view")) {
      element("stage").classList.remove("previewed");
      if (view === "loom") loom.show(opened, step);
      else stage.show(opened, step);
    }
    if (opened && differs(state, before, "opened")) announce(opened, view);
    if (opened?.count && differs(state, before, "opened", "step")) {
      timeline.show(step);
      findings.show(step);
      question.showStep(step);
      element("sentences").replaceChildren(...captionItems(sentences(opened, step, say)));
      printed.show(step);
      curves.show(step);
      element("workbench").dataset.step = String(step);
    }
    if (differs(state, before, "selection")) stage.select(state.selection);
    if (differs(state, before, "opened", "step", "selection"))
      question.offer(opened && hidesFuture(opened.trace) ? null : opened, state.selection, step);
    if (differs(state, before, "question")) question.show(opened, state.question);
    if (state.revealed && differs(state, before, "revealed")) stage.peek(state.revealed.storage, state.revealed.at);
  }

  /** A step of another run in the place of the own one. */
  const preview = {
    /** @param {import("../trace/state.js").OpenTrace} opened @param {number} i @param {string} text what the foot says of it
     * @param {string[]} more sentences besides the step's own */
    show(opened, i, text, more) {
      if (current().view !== "stage" || current().predict) return;
      timeline.pause();
      element("stage").classList.add("previewed");
      stage.show(opened, i);
      element("where").textContent = text;
      const goingSentences = more.map((sentence) => ({ text: sentence, tone: "going" }));
      element("sentences").replaceChildren(...captionItems([...sentences(opened, i, say), ...goingSentences]));
    },
    clear() {
      const { opened, step } = current();
      if (!element("stage").classList.contains("previewed")) return;
      element("stage").classList.remove("previewed");
      if (!opened?.count) return;
      stage.show(opened, step);
      timeline.show(step);
      element("sentences").replaceChildren(...captionItems(sentences(opened, step, say)));
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
    /** @type {Record<string, () => void>} */
    shortcuts: {
      "+": zoom.in,
      "=": zoom.in,
      "-": zoom.out,
      0: zoom.fit,
      e: () => findings.focus(),
      w: () => question.askFocused(current().opened, current().step),
      l: () => current().opened?.count && views.toggle(),
    },
  };
}

/** What a choice on the stage asks the page for. @param {(action: Action) => void} dispatch @param {boolean} canRun */
function stageActions(dispatch, canRun) {
  return {
    cell: (/** @type {string} */ storage, /** @type {number} */ index, /** @type {string} */ dtype) =>
      dispatch({ type: "cellChosen", storage, index, dtype }),
    elements: canRun
      ? (/** @type {string} */ storage, /** @type {number} */ element) =>
          dispatch({ type: "elementsRequested", storage, at: element })
      : undefined,
    selected: (/** @type {string | null} */ key) => dispatch({ type: "selectionChanged", key }),
    pin: (/** @type {string} */ node, /** @type {string} */ slot) => dispatch({ type: "pinChosen", node, slot }),
    asked(/** @type {string} */ uid) {
      dispatch({ type: "selectionChanged", key: `handle:${uid}` });
      dispatch({ type: "questionAsked", uid });
    },
  };
}

/** The lines of the answer that is open, or else of the finding.
 * @param {(marks: ChainMark[], errorExplained: boolean) => void} show */
function createChainMarks(show) {
  /** @type {ChainMark[]} */
  let findingMarks = [];
  /** @type {ChainMark[] | null} */
  let answerMarks = null;
  let isErrorExplained = false;
  return {
    /** @param {ChainMark[]} marks @param {boolean} errorExplained */
    ofFinding(marks, errorExplained) {
      findingMarks = marks;
      isErrorExplained = errorExplained;
      show(answerMarks ?? findingMarks, isErrorExplained);
    },
    /** @param {ChainMark[] | null} marks null: none is open */
    ofAnswer(marks) {
      answerMarks = marks;
      show(answerMarks ?? findingMarks, isErrorExplained);
    },
  };
}

/** The place of an answer, before the findings. @param {import("../words/locale.js").Locale["say"]} say @param {HTMLElement} findings */
function answerSection(say, findings) {
  const section = document.createElement("section");
  section.id = "answer";
  section.className = "findings";
  section.hidden = true;
  section.setAttribute("aria-label", say("answer"));
  findings.before(section);
  return section;
}

/** On paper the whole run stands under a heading. @param {ReturnType<typeof createLoomLoader>} loom @param {HTMLElement} host of the loom
 * @param {() => import("../trace/state.js").OpenTrace | null} current @param {() => import("../sharing/about.js").About} about */
function printWithLoom(loom, host, current, about) {
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
