/** The stage: draws a step into its two panes, brings what it touched into sight, and highlights what belongs together. */

import { findEntity } from "../trace/entities.ts";
import { createHighlight, HIGHLIGHTABLE_SELECTOR } from "./highlight.ts";
import { uidOfSelection } from "../layout/pane.ts";
import {
  PANE_HEADING_HEIGHT,
  isNarrowStage,
  defaultPaneOf,
  buildStageModel,
  planStage,
  scaleToFitAll,
  type PaneSide,
  type StageModel,
  type StagePlan,
} from "../layout/stage_plan.ts";
import { createMarkCache, type MarkCache } from "../marks/mark_cache.ts";
import { stageOverlayMarks } from "../marks/overlay.ts";
import { STAGE_LABELS, type StageLabels } from "../marks/labels.ts";
import { stageMarks } from "../marks/stage_marks.ts";
import { relatedKeys } from "./relatives.ts";
import { scrollByDragging } from "../browser/scrolling.ts";
import { createDivider } from "./divider.ts";
import { createStagePane, MOVE_MS } from "./stage_pane.ts";
import { markOlder, type Older } from "./older.ts";
import { createRowAnchor } from "./row_hold.ts";
import { createTabs } from "./tabs.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import type { StepFacts } from "../marks/step_facts.ts";
import type { OpenTrace } from "../trace/state.ts";

interface Stage {
  show: (opened: OpenTrace, i: number) => void;
  /** times as large */
  zoom: (by: number) => void;
  /** the scale at which nothing has to close, and again the one that reads best */
  toggleFit: () => void;
  /** show a big storage's cells from there on */
  peek: (storage: string, from: number) => void;
  /** highlight what stays so, see `highlight.ts` */
  select: (key: string | null) => void;
  /** highlight what has one of these keys for a while, nothing where there are none */
  light: (keys: string[]) => void;
  /** mark what is of an earlier text */
  markOlder: (older: Older | null) => void;
  /** the folds that the reader opened or closed */
  toggled: () => ReadonlySet<string>;
}

/** Pixels at the right pane's foot that the buttons of the scale stand on. */
const SCALE_BUTTONS_HEIGHT = 36;
const SMALLEST_SCALE = 0.4;
const LARGEST_SCALE = 4;

interface StageOptions {
  labels?: Partial<StageLabels>;
  /** called with the cell that was chosen by a click or by Enter */
  cell?: (storage: string, index: number, dtype: string) => void;
  /** with those of a big storage that the trace does not know */
  elements?: (storage: string, from: number) => void;
  /** with the scale that is drawn */
  scaled?: (k: number, chosen: boolean) => void;
  /** with what the reader chose to stay highlighted */
  selected?: (key: string | null) => void;
  /** with a broken slot that was chosen */
  pin?: (node: string, slot: string) => void;
  /** with the tensor whose missing gradient was */
  asked?: (uid: string) => void;
}

export function createStage(
  host: HTMLElement,
  document: Document,
  { labels = {}, cell, elements, scaled, selected, pin, asked }: StageOptions = {},
): Stage {
  const labelTexts = { ...STAGE_LABELS, ...labels };
  const { root, row, overlay, tabs, panes, divider } = createStageElements(host, document, labelTexts, {
    side(side) {
      chosenSide = side;
      draw();
      bringIntoSight();
    },
    share(share) {
      memoryShare = share;
      draw();
    },
  });

  const models = new WeakMap<OpenTrace, StageModel>();
  const markCaches = new WeakMap<OpenTrace, MarkCache>();
  let shown: { opened: OpenTrace; i: number; plan: StagePlan | null; facts: StepFacts | null } | null = null;
  let hostSize = { w: host.clientWidth, h: host.clientHeight };
  /** From where on big storages show their cells. */
  const windowStarts = new Map<string, number>();
  let toggled = new Set<string>();
  let chosenScale: number | null = null;
  let memoryShare: number | null = divider.share;
  let chosenSide: PaneSide | null = null;
  let selection: string | null = null;
  let lastStepTime = Number.NEGATIVE_INFINITY;
  let olderMarks: Older | null = null;
  let drawnScale = "";
  let drawnBands = "";
  const rowAnchor = createRowAnchor(row);
  const highlight = createHighlight(
    row,
    (attribute) => (shown ? relatedKeys(shown.opened, shown.i, attribute) : []),
    selected,
  );

  function modelOf(opened: OpenTrace) {
    const model = models.get(opened) ?? buildStageModel(opened);
    models.set(opened, model);
    return model;
  }

  function markCacheOf(opened: OpenTrace) {
    const markCache = markCaches.get(opened) ?? createMarkCache();
    markCaches.set(opened, markCache);
    return markCache;
  }

  function draw(animated = false) {
    if (!shown || !hostSize.w || !hostSize.h) return;
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
        side: chosenSide,
        foot: SCALE_BUTTONS_HEIGHT,
        selected: uidOfSelection(selection),
        toggled,
      },
    );
    root.classList.toggle("narrow", narrow);
    for (const side of ["memory", "graph"] as PaneSide[])
      panes[side].resize(plan[side], plan.widths[side], plan.height, plan.k);
    divider.place(plan.widths.memory * plan.k, hostSize.w, narrow || !plan.widths.graph);
    const bands = { memory: panes.memory.band(), graph: panes.graph.band() };
    drawnBands = JSON.stringify(bands);
    const { facts, memory, graph } = stageMarks(plan, labelTexts, windowStarts, bands, markCacheOf(shown.opened));
    if (memory) panes.memory.draw(memory.heading, memory.body, animated);
    if (graph) panes.graph.draw(graph.heading, graph.body, animated);
    shown = { ...shown, plan, facts };
    tabs.show(narrow, chosenSide ?? defaultPaneOf(model, shown.i), facts);
    const scale = `${plan.k} ${chosenScale !== null}`;
    if (scale !== drawnScale) scaled?.(plan.k, chosenScale !== null); // what is written anew is laid out anew
    drawnScale = scale;
    markOlder(row, olderMarks);
    highlight.drawn();
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
    const closest = (selector: string) => (event.target instanceof Element ? event.target.closest(selector) : null);
    const linkEnd = closest("[data-bring]");
    if (linkEnd) return scrollToTarget(linkEnd.getAttribute("data-bring") ?? "");
    const fold = closest("[data-fold]");
    if (fold) return toggleFold(fold.getAttribute("data-fold") ?? "");
    const strip = closest("[data-open]");
    if (strip) return openStrip(strip, event);
    const brokenPin = closest("[data-pin].stale, [data-pin].changed, [data-slot].stale, [data-slot].changed");
    if (brokenPin && pin) {
      const [node, slot] = (brokenPin.getAttribute("data-pin") ?? brokenPin.getAttribute("data-slot") ?? "").split(
        /:(.*)/s,
      );
      return pin(node, slot);
    }
    const missingGrad = closest(".placeholder[data-grad-of]");
    if (missingGrad && asked) return asked(missingGrad.getAttribute("data-grad-of") ?? "");
    const cellBox = closest("[data-cell]");
    if (!cellBox) return highlight.choose(event);
    const [storage, index] = (cellBox.getAttribute("data-cell") ?? "").split(":");
    cell?.(storage, Number(index), cellBox.getAttribute("data-dtype") ?? "");
  }

  /** Scroll to the end of a link that was out of sight. @param target a pane and a height in it */
  function scrollToTarget(target: string) {
    const [side, y] = target.split(" ");
    panes[side === "graph" ? "graph" : "memory"].scrollTo(Number(y));
  }

  /** Show a big storage's cells from the point of its strip on that was clicked; those that the trace does not have
   * are asked for. */
  function openStrip(strip: Element, event: Event) {
    const [uid, first] = (strip.getAttribute("data-open") ?? "").split(":");
    const { left, width } = strip.getBoundingClientRect();
    const share = event instanceof MouseEvent && width ? Math.min(1, Math.max(0, (event.clientX - left) / width)) : 0;
    const from = Number(first) + Math.floor(share * Number(strip.getAttribute("data-span") ?? 0));
    const storage = shown ? findEntity(shown.opened.state(shown.i), uid, "storage") : undefined;
    const windows = storage?.windows?.[strip.getAttribute("data-dtype") ?? ""] ?? [];
    if (!windows.some(([start, values]) => start <= from && from < start + values.length)) return elements?.(uid, from);
    windowStarts.set(uid, from);
    draw();
  }

  /** Open or close a fold; the focus stays on it. */
  function toggleFold(key: string) {
    toggled = new Set(toggled);
    if (!toggled.delete(key)) toggled.add(key);
    draw(true);
    drawLinks();
    const fold = [...root.querySelectorAll("[data-fold]")].find((el) => el.getAttribute("data-fold") === key);
    if (fold instanceof SVGElement) fold.focus({ preventScroll: true });
  }

  function onWheel(event: WheelEvent) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scaleTo((shown?.plan?.k ?? 1) * Math.exp(-event.deltaY / 300));
  }

  /** @param scale null: the one that fits */
  function scaleTo(scale: number | null) {
    chosenScale = scale === null ? null : Math.max(SMALLEST_SCALE, Math.min(LARGEST_SCALE, scale));
    draw();
    bringIntoSight();
  }

  root.addEventListener("wheel", onWheel, { passive: false });
  root.addEventListener("click", onChoose);
  root.addEventListener("keydown", onChoose);
  row.addEventListener("pointerover", (event) => rowAnchor.isRealMove(event) && highlight.point(event));
  row.addEventListener("pointerleave", highlight.redraw);
  row.addEventListener("focusin", highlight.point);
  row.addEventListener("focusout", highlight.redraw);
  for (const { scroller } of Object.values(panes)) {
    scrollByDragging(scroller, HIGHLIGHTABLE_SELECTOR);
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
      const sameRun = shown?.opened.trace.program === opened.trace.program; // of a run that hides its future, more is shown
      if (!sameRun) {
        windowStarts.clear();
        toggled = new Set();
      }
      const isNextStep = sameRun && Math.abs(i - (shown?.i ?? 0)) === 1;
      const isSlowStepping = performance.now() - lastStepTime > MOVE_MS; // whoever steps faster than rows move sees where they come to stand
      lastStepTime = performance.now();
      const restoreRow = rowAnchor.hold(sameRun);
      shown = { opened, i, plan: null, facts: null };
      if (!hostSize.w) hostSize = { w: host.clientWidth, h: host.clientHeight };
      draw(isNextStep && isSlowStepping && !matchMedia("(prefers-reduced-motion: reduce)").matches);
      if (restoreRow()) drawLinks();
      else bringIntoSight();
    },
    select(key) {
      selection = key;
      highlight.select(key);
      draw(true);
      drawLinks();
    },
    light: highlight.light,
    markOlder(next) {
      markOlder(row, next);
      olderMarks = next;
    },
    peek(uid, from) {
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

/**
 * Tabs over both panes with their divider, and what lies over them.
 * @param on side: a pane was chosen; share: the memory's part of the width was
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
