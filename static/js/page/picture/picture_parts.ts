/** The parts of the pane of pictures: each is made here, with what it does when its reader chooses something. */

import { loomLabels, stageLabels, stepTitle } from "../../captions/captions.ts";
import { createSeriesCurves } from "../../timeline/curves.ts";
import { createFindingsCard, type LoadFindings } from "../../explain/findings_card.ts";
import type { ChainMark } from "../../findings/chain_marks.ts";
import { createLazyTrainingAxis } from "../../training/loader.ts";
import { createLazyLoom } from "../../loom/loader.ts";
import { createLazyNet } from "../../nets/net_loader.ts";
import { createOutputPane } from "./output_pane.ts";
import { createQuestionCard } from "../../explain/question_card.ts";
import { highlightKeysOfEntities } from "../../stage/relatives.ts";
import { stepThatMadeBackwardFail } from "../../trace/saved_slots.ts";
import { createStage } from "../../stage/stage.ts";
import { createTimeline, type TimelineOptions } from "../../timeline/timeline.ts";
import { isWholeRunList, shownPicture } from "../../page_state/selectors.ts";
import { startTooltips } from "../../tooltips/loader.ts";
import { createViewSwitch } from "./view_switch.ts";
import type { CheckPanelLoader } from "../../explain/check_panel.ts";
import type { FixActions } from "../../explain/fix_list.ts";
import type { Locale } from "../../words/sentences.ts";
import type { View } from "../../page_state/url.ts";
import type { PageHost } from "../page_host.ts";

export interface PictureOptions {
  loadFindings: LoadFindings;
  fixes?: FixActions;
  loadCheckPanel?: CheckPanelLoader;
  /** whether a step is at a breakpoint */
  stopsAt?: (i: number) => boolean;
  /** called with the scale that is drawn */
  onScale?: (k: number, isChosen: boolean) => void;
  /** whether elements that the trace left out can be asked for */
  canRun?: boolean;
  /** called when a run is explained, and when another finding is opened */
  told?: () => void;
  /** called when a run is explained */
  explained?: () => void;
  /** called with the chain of the finding that is open */
  markLines?: (marks: ChainMark[], errorExplained: boolean) => void;
}

export type PictureParts = ReturnType<typeof createPictureParts>;

export function createPictureParts(host: PageHost, options: PictureOptions) {
  const { elementById, dispatch, say } = host;
  const go = (step: number) => dispatch({ type: "stepChosen", step });
  const chooseView = (view: View) => dispatch({ type: "viewChosen", view });
  const stage = createPageStage(host, options);
  const net = createLazyNet([elementById("net"), document, { go, showWholeRun: () => chooseView("run") }], () =>
    dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  const loom = createLazyLoom([elementById("loom"), document, { labels: loomLabels(say), go }], () =>
    dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  const timeline = createPageTimeline(host, go, {
    stopsAt: options.stopsAt,
    nextRow(direction) {
      const isStepOfList = host.state().view === "step" && shownPicture(host.state()) === "net";
      return isStepOfList && !host.state().predict ? net.nextRow(direction) : null;
    },
  });
  const record = options.canRun ? (n: number) => dispatch({ type: "roundRequested", n }) : null;
  const training = createLazyTrainingAxis([elementById("training"), say, { go, record }], () =>
    dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  const chain = createChainMarks((marks, errorExplained) => {
    timeline.markChain(marks);
    net.tell(marks);
    options.markLines?.(marks, errorExplained);
  });
  return {
    stage,
    tooltips: startTooltips([elementById("stage"), elementById("loom")], () => {
      const { opened, step } = host.state();
      return opened?.count ? { opened, step } : null;
    }),
    timeline,
    net,
    training,
    loom,
    printed: createOutputPane({ pane: elementById("printed-box"), text: elementById("printed") }, say, go),
    curves: createSeriesCurves(elementById("curves"), say, go),
    findings: createFindingsCard(elementById("findings"), say, {
      load: options.loadFindings,
      fixes: options.fixes,
      loadCheckPanel: options.loadCheckPanel,
      go,
      light: (link) => stage.highlight(link ? highlightKeysOfEntities(link.uids, link.slot) : []),
      found: (trace, step) => dispatch({ type: "findingMade", trace, step }),
      mark: chain.ofFinding,
      told: options.told,
      causes(steps) {
        training.markFindings(steps);
        options.explained?.();
      },
    }),
    question: createQuestionCard(
      { card: answerSection(say, elementById("findings")), stage: elementById("stage") },
      say,
      {
        load: options.loadFindings,
        go,
        light: (uids) => stage.highlight(highlightKeysOfEntities(uids)),
        mark: chain.ofAnswer,
        loadCheckPanel: options.loadCheckPanel,
        ask: (uid) => dispatch({ type: "questionAsked", uid }),
        close: () => dispatch({ type: "questionClosed" }),
      },
    ),
    views: createViewSwitch(elementById("views"), chooseView),
    chooseView,
  };
}

/** The stage; a choice on it becomes an action. */
function createPageStage({ elementById, dispatch, say }: PageHost, { onScale, canRun = false }: PictureOptions) {
  return createStage(elementById("stage"), document, {
    labels: stageLabels(say),
    headline: elementById("headline"),
    onScale,
    onCell: (storage, index, dtype) => dispatch({ type: "cellChosen", storage, index, dtype }),
    onUnknownElements: canRun ? (storage, at) => dispatch({ type: "elementsRequested", storage, at }) : undefined,
    onSelect: (key) => dispatch({ type: "selectionChanged", key }),
    onBrokenSlot: (node, slot) => dispatch({ type: "pinChosen", node, slot }),
    onMissingGradient(uid) {
      dispatch({ type: "selectionChanged", key: `handle:${uid}` });
      dispatch({ type: "questionAsked", uid });
    },
  });
}

/** The timeline of the trace that is open. */
function createPageTimeline(
  { elementById, state, say }: PageHost,
  go: (step: number) => void,
  { stopsAt = () => false, nextRow }: Pick<TimelineOptions, "nextRow"> & Pick<PictureOptions, "stopsAt">,
) {
  const parts = {
    root: elementById("timeline"),
    slider: elementById<HTMLInputElement>("slider"),
    marks: elementById("marks"),
    chain: elementById("chain"),
    label: elementById("where"),
  };
  return createTimeline(parts, {
    go,
    stopsAt,
    nextRow,
    describe(i) {
      const { opened } = state();
      if (!opened?.count) return say("no_steps");
      return isWholeRunList(state()) ? say("whole_run") : stepTitle(opened.trace, i, say);
    },
    causeOf(i) {
      const { opened } = state();
      return opened && opened.trace.outcome.error?.step === i ? stepThatMadeBackwardFail(opened) : null;
    },
    reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
  });
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
    /** Null: no answer is open. */
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
