/**
 * The stage: draws a step into its two panes, brings what it touched into sight, and highlights what belongs together.
 */

import { findEntity } from "../trace/entities.ts";
import { createHighlight, HIGHLIGHTABLE } from "./highlight.ts";
import { closestMarkTarget, markTargetsWithin, type Target } from "../browser/targets.ts";
import { uidOfSelection } from "../layout/pane.ts";
import {
  PANE_HEADING_HEIGHT,
  isNarrowStage,
  buildStageModel,
  planStage,
  scaleToFitAll,
  type PaneSide,
  type StageModel,
  type StagePlan,
} from "../layout/stage_plan.ts";
import { stageOverlayMarks } from "../marks/overlay.ts";
import { STAGE_LABELS, type StageLabels } from "../marks/labels.ts";
import { stageMarks } from "../marks/stage_marks.ts";
import { relatedHighlightKeys } from "./relatives.ts";
import { startDragScrolling } from "../browser/scrolling.ts";
import { createDivider } from "./divider.ts";
import { createStageMotion } from "./stage_motion.ts";
import { createStagePane } from "./stage_pane.ts";
import { markOutdated, type OutdatedParts } from "./outdated.ts";
import { createRowAnchor } from "./row_anchor.ts";
import { createTabs, paneOfStep } from "./tabs.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import type { RenderContext } from "../marks/render_context.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";

interface Stage {
  show: (opened: OpenTrace, i: number) => void;
  /** times as large */
  zoom: (by: number) => void;
  /** the scale at which nothing has to close, and again the one that reads best */
  toggleFit: () => void;
  /** show a big storage's cells from there on */
  showElements: (storage: string, from: number) => void;
  /** highlight what stays so, see `highlight.ts` */
  select: (key: string | null) => void;
  /** highlight what has one of these keys for a while, nothing where there are none */
  highlight: (keys: string[]) => void;
  /** mark what is of an earlier text */
  markOutdated: (older: OutdatedParts | null) => void;
  /** the folds that the reader opened or closed */
  toggled: () => ReadonlySet<string>;
}

/** Pixels at the right pane's foot that the buttons of the scale stand on. */
const SCALE_BUTTONS_HEIGHT = 36;
/** Beside names of so many times their size a small headline would be read after them. */
const MIN_LARGE_HEADLINE_SCALE = 1.3;
const SMALLEST_SCALE = 0.4;
const LARGEST_SCALE = 4;

/** What does something of its own when it is chosen; whatever else can be pointed at is selected. */
const CHOOSABLE = ["out of sight", "fold", "stretch", "pin", "slot", "missing gradient", "cell"] as const;

type Stretch = Extract<Target, { kind: "stretch" }>;

interface StageOptions {
  labels?: Partial<StageLabels>;
  /** what stands over the panes: larger over a large picture, in the same room */
  headline?: HTMLElement;
  /** called with the cell that was chosen by a click or by Enter */
  onCell?: (storage: string, index: number, dtype: string) => void;
  /** with a place of a big storage whose elements the trace does not know */
  onUnknownElements?: (storage: string, from: number) => void;
  /** with the scale that is drawn */
  onScale?: (k: number, isChosen: boolean) => void;
  /** with what the reader chose to stay highlighted */
  onSelect?: (key: string | null) => void;
  /** with a broken slot that was chosen */
  onBrokenSlot?: (node: string, slot: string) => void;
  /** with the tensor whose missing gradient was */
  onMissingGradient?: (uid: string) => void;
}

export function createStage(
  host: HTMLElement,
  document: Document,
  { labels = {}, headline, ...callbacks }: StageOptions = {},
): Stage {
  const labelTexts = { ...STAGE_LABELS, ...labels };
  const { root, row, overlay, tabs, panes, divider } = createStageElements(host, document, labelTexts, {
    side(side) {
      shownSide = side;
      isSideChosen = true;
      draw();
      bringIntoSight();
    },
    share(share) {
      memoryShare = share;
      draw();
    },
  });

  const models = new WeakMap<OpenTrace, StageModel>();
  let shown: { opened: OpenTrace; i: number; plan: StagePlan | null; facts: RenderContext | null } | null = null;
  let hostSize = { w: host.clientWidth, h: host.clientHeight };
  /** From where on big storages show their cells. */
  const windowStarts = new Map<string, number>();
  let toggled = new Set<string>();
  let chosenScale: number | null = null;
  let memoryShare: number | null = divider.share;
  /** of a narrow stage, the pane that is shown; null until it was one */
  let shownSide: PaneSide | null = null;
  /** by the reader, who opens the panes from then on */
  let isSideChosen = false;
  /** the panes that a narrow stage has opened by itself in this run: each once, at the first step that is about it */
  const selfOpened = new Set<PaneSide>();
  let selection: string | null = null;
  let olderMarks: OutdatedParts | null = null;
  let drawnScale = "";
  let drawnBands = "";
  const rowAnchor = createRowAnchor(row);
  const motion = createStageMotion(document, panes, overlay);
  const highlight = createHighlight(
    row,
    (target) => (shown ? relatedHighlightKeys(shown.opened, shown.i, target) : []),
    callbacks.onSelect,
  );

  function modelOf(opened: OpenTrace) {
    const model = models.get(opened) ?? buildStageModel(opened);
    models.set(opened, model);
    return model;
  }

  function draw() {
    if (!shown || !hostSize.w || !hostSize.h) return;
    motion.end();
    const narrow = isNarrowStage(hostSize.w);
    const model = modelOf(shown.opened);
    const height = hostSize.h - (narrow ? tabs.height() : 0);
    const plan = planStage(
      model,
      shown.i,
      { w: hostSize.w, h: height },
      {
        scale: chosenScale,
        share: memoryShare,
        side: narrow ? sideOf(shown.opened, shown.i) : null,
        foot: SCALE_BUTTONS_HEIGHT,
        selected: uidOfSelection(selection),
        toggled,
      },
    );
    root.classList.toggle("narrow", narrow);
    headline?.classList.toggle("large", plan.k >= MIN_LARGE_HEADLINE_SCALE);
    for (const side of ["memory", "graph"] as PaneSide[])
      panes[side].resize(plan[side], plan.widths[side], plan.height, plan.k);
    divider.place(plan.widths.memory * plan.k, hostSize.w, narrow || !plan.widths.graph);
    const bands = { memory: panes.memory.band(), graph: panes.graph.band() };
    drawnBands = JSON.stringify(bands);
    const { facts, memory, graph } = stageMarks(plan, labelTexts, windowStarts, bands);
    if (memory) panes.memory.draw(memory.heading, memory.body);
    if (graph) panes.graph.draw(graph.heading, graph.body);
    shown = { ...shown, plan, facts };
    tabs.show(narrow, shownSide ?? "memory", facts);
    const scale = `${plan.k} ${chosenScale !== null}`;
    // what is written anew is laid out anew
    if (scale !== drawnScale) callbacks.onScale?.(plan.k, chosenScale !== null);
    drawnScale = scale;
    markOutdated(row, olderMarks);
    highlight.drawn();
  }

  /** The pane that a narrow stage shows of a step. */
  function sideOf(opened: OpenTrace, i: number): PaneSide {
    const side = paneOfStep(opened.at(i));
    if (side && !isSideChosen && !selfOpened.has(side)) {
      selfOpened.add(side);
      shownSide = side;
    }
    shownSide ??= "memory";
    if (shownSide === "graph" && !isSideChosen && isGraphEmpty(opened.state(i))) shownSide = "memory";
    return shownSide;
  }

  /** What lies over both panes: links, and what of the step is out of sight. */
  function drawLinks() {
    if (!shown?.plan || !shown.facts) return;
    const marks = stageOverlayMarks(shown.facts, shown.plan, panes, uidOfSelection(selection), labelTexts);
    const { k, height } = shown.plan;
    const viewBox = `0 0 ${Math.round(hostSize.w / k)} ${Math.round(height + PANE_HEADING_HEIGHT)}`;
    if (overlay.getAttribute("viewBox") !== viewBox) overlay.setAttribute("viewBox", viewBox);
    patchHost(document, overlay, marks);
  }

  /** Scroll each pane to what the step touched, and draw what came into sight. */
  function bringIntoSight() {
    panes.memory.bringIntoSight();
    panes.graph.bringIntoSight();
    drawScrolled();
    drawLinks();
  }

  /** Draw what was scrolled into sight. */
  function drawScrolled() {
    if (JSON.stringify({ memory: panes.memory.band(), graph: panes.graph.band() }) !== drawnBands) draw();
  }

  function onScroll() {
    drawScrolled();
    drawLinks();
  }

  /** A click, or a key on what has the focus. */
  function onChoose(event: Event) {
    const key = event instanceof KeyboardEvent ? event.key : null;
    if (key === "Escape") return highlight.deselect();
    if (key !== null && key !== "Enter") return;
    const chosen = closestMarkTarget(event.target, CHOOSABLE);
    const target = chosen?.target;
    if (target?.kind === "out of sight") panes[target.pane].scrollTo(target.y);
    else if (target?.kind === "fold") toggleFold(target.key);
    else if (target?.kind === "stretch") openStretch(target, shareOfWidth(chosen?.element, event));
    else if (target?.kind === "cell") callbacks.onCell?.(target.storage, target.index, target.dtype);
    else if (target?.kind === "missing gradient" && callbacks.onMissingGradient) callbacks.onMissingGradient(target.of);
    else if ((target?.kind === "pin" || target?.kind === "slot") && target.broken && callbacks.onBrokenSlot)
      callbacks.onBrokenSlot(target.node, target.slot);
    else highlight.choose(event);
  }

  /**
   * Shows a big storage's cells from a point of a stretch of it on; those that the trace does not have are asked for.
   * `share` is where the point is, from 0 to 1.
   */
  function openStretch({ storage: uid, from: first, span, dtype }: Stretch, share: number) {
    const from = first + Math.floor(share * span);
    const storage = shown ? findEntity(shown.opened.state(shown.i), uid, "storage") : undefined;
    const windows = storage?.windows?.[dtype] ?? [];
    if (!windows.some(([start, values]) => start <= from && from < start + values.length))
      return callbacks.onUnknownElements?.(uid, from);
    windowStarts.set(uid, from);
    draw();
  }

  /** Open or close a fold; the focus stays on it. */
  function toggleFold(key: string) {
    toggled = new Set(toggled);
    if (!toggled.delete(key)) toggled.add(key);
    const before = motion.drawing(shown?.plan);
    draw();
    drawLinks();
    motion.playLayout(before, shown?.plan);
    const fold = markTargetsWithin(root).find(({ target }) => target.kind === "fold" && target.key === key)?.element;
    if (fold instanceof SVGElement) fold.focus({ preventScroll: true });
  }

  function onWheel(event: WheelEvent) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scaleTo((shown?.plan?.k ?? 1) * Math.exp(-event.deltaY / 300));
  }

  /** Null: the scale that fits. */
  function scaleTo(scale: number | null) {
    chosenScale = scale === null ? null : Math.max(SMALLEST_SCALE, Math.min(LARGEST_SCALE, scale));
    draw();
    bringIntoSight();
  }

  root.addEventListener("wheel", onWheel, { passive: false });
  root.addEventListener("click", onChoose);
  root.addEventListener("keydown", onChoose);
  row.addEventListener("pointerover", (event) => rowAnchor.isRealMove(event) && highlight.point(event));
  row.addEventListener("pointerleave", highlight.highlightOnlySelection);
  row.addEventListener("focusin", highlight.point);
  row.addEventListener("focusout", highlight.highlightOnlySelection);
  for (const { scroller } of Object.values(panes)) {
    startDragScrolling(scroller, (target) => closestMarkTarget(target, HIGHLIGHTABLE) !== null);
    scroller.addEventListener("scroll", onScroll, { passive: true });
  }
  new ResizeObserver(() => {
    const newSize = { w: host.clientWidth, h: host.clientHeight };
    if (newSize.w === hostSize.w && newSize.h === hostSize.h && shown?.plan) return;
    hostSize = newSize;
    draw();
    bringIntoSight();
  }).observe(host);

  return {
    show(opened, i) {
      // of a run that hides its future, more is shown
      const sameRun = shown?.opened.trace.program === opened.trace.program;
      if (!sameRun) {
        windowStarts.clear();
        toggled = new Set();
        selfOpened.clear();
      }
      motion.end();
      const stepBefore = sameRun ? (shown?.i ?? null) : null;
      const before = motion.drawing(shown?.plan);
      const restoreRow = rowAnchor.hold(sameRun);
      shown = { opened, i, plan: null, facts: null };
      if (!hostSize.w) hostSize = { w: host.clientWidth, h: host.clientHeight };
      draw();
      if (restoreRow()) drawLinks();
      else bringIntoSight();
      motion.playStep(before, shown.plan, stepBefore);
    },
    select(key) {
      selection = key;
      highlight.select(key);
      const before = motion.drawing(shown?.plan);
      draw();
      drawLinks();
      motion.playLayout(before, shown?.plan);
    },
    highlight: highlight.light,
    markOutdated(next) {
      markOutdated(row, next);
      olderMarks = next;
    },
    showElements(uid, from) {
      windowStarts.set(uid, from);
      draw();
      const strip = shown?.plan?.memory?.anchors.get(uid);
      if (strip) panes.memory.scrollTo(strip.y);
    },
    zoom: (factor) => scaleTo((shown?.plan?.k ?? 1) * factor),
    toggleFit() {
      if (chosenScale !== null || !shown) return scaleTo(null);
      scaleTo(scaleToFitAll(modelOf(shown.opened), hostSize, memoryShare));
    },
    toggled: () => toggled,
  };
}

/** Whether no node is left but those of leaves. */
function isGraphEmpty(entities: Entities) {
  for (const entity of entities.values()) if (entity.kind === "node" && !entity.variable) return false;
  return true;
}

/** Where in an element's width a pointer chose it; 0 for a key. */
function shareOfWidth(element: Element | undefined, event: Event) {
  if (!element || !(event instanceof MouseEvent)) return 0;
  const { left, width } = element.getBoundingClientRect();
  return width ? Math.min(1, Math.max(0, (event.clientX - left) / width)) : 0;
}

/**
 * Tabs over both panes with their divider, and what lies over them. `on.side`: a pane was chosen; `on.share`: the
 * memory's part of the width was.
 */
function createStageElements(
  host: HTMLElement,
  document: Document,
  words: StageLabels,
  on: { side: (side: PaneSide) => void; share: (share: number | null) => void },
) {
  const root = document.createElement("div");
  root.className = "stage";
  const tabs = createTabs(document, words, on.side);
  const panes = { memory: createStagePane(document, "memory"), graph: createStagePane(document, "graph") };
  const divider = createDivider(document, words, on.share);
  const row = document.createElement("div");
  row.className = "stage-panes";
  const overlay = document.createElementNS(SVG_NAMESPACE, "svg");
  overlay.setAttribute("class", "stage-svg stage-overlay");
  row.append(panes.memory.root, divider.element, panes.graph.root, overlay);
  root.append(tabs.element, row);
  host.append(root);
  return { root, row, overlay, tabs, panes, divider };
}
