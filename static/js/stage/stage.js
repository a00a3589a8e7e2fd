/** The stage: draws a step into its two panes, brings what it touched into sight, and highlights what belongs together. */

import { find } from "../trace/entities.js";
import { createHighlight, HIGHLIGHTABLE_SELECTOR } from "./highlight.js";
import { selectedUid } from "../layout/pane.js";
import { HEADING, isNarrow, sideOf, stageModel, stagePlan, scaleToFitAll } from "../layout/stage_plan.js";
import { createMarkCache } from "../marks/mark_cache.js";
import { drawOverlay } from "../marks/overlay.js";
import { LABELS } from "../marks/labels.js";
import { stageMarks } from "../marks/stage_marks.js";
import { relatedKeys } from "./relatives.js";
import { scrollByDragging } from "../browser/scrolling.js";
import { createDivider } from "./divider.js";
import { createStagePane, MOVE_MS } from "./stage_pane.js";
import { markOlder } from "./older.js";
import { createRowAnchor } from "./row_hold.js";
import { createTabs } from "./tabs.js";
import { patch, SVG } from "../browser/svg.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../layout/stage_plan.js").Side} Side */
/** @typedef {import("../layout/stage_plan.js").StagePlan} StagePlan */
/** @typedef {{show: (opened: OpenTrace, i: number) => void, zoom: (by: number) => void, toggleFit: () => void,
 *   peek: (storage: string, from: number) => void, select: (key: string | null) => void, light: (keys: string[]) => void,
 *   markOlder: (older: import("./older.js").Older | null) => void, toggled: () => ReadonlySet<string>}} Stage
 *   zoom: times as large; toggleFit: the scale at which nothing has to close, and again the one that reads best; peek: show
 *   a big storage's cells from there on; select: highlight what stays so, see `highlight.js`; light: highlight what has one
 *   of these keys for a while, nothing where there are none; markOlder: mark what is of an earlier text; toggled: the folds that the reader opened or closed */

/** Pixels at the right pane's foot that the buttons of the scale stand on. */
const SCALE_BUTTONS_HEIGHT = 36;
const SMALLEST_SCALE = 0.4;
const LARGEST_SCALE = 4;

/**
 * @param {HTMLElement} host
 * @param {Document} document
 * @param {{labels?: Partial<import("../marks/labels.js").Labels>, cell?: (storage: string, index: number, dtype: string) => void,
 *   elements?: (storage: string, from: number) => void, scaled?: (k: number, chosen: boolean) => void,
 *   selected?: (key: string | null) => void, pin?: (node: string, slot: string) => void,
 *   asked?: (uid: string) => void}} [options]
 *   cell: called with the cell that was chosen by a click or by Enter; elements: with those of a big storage that the
 *   trace does not know; scaled: with the scale that is drawn; selected: with what the reader chose to stay highlighted;
 *   pin: with a broken slot that was chosen; asked: with the tensor whose missing gradient was
 * @returns {Stage}
 */
export function createStage(host, document, { labels = {}, cell, elements, scaled, selected, pin, asked } = {}) {
  const labelTexts = { ...LABELS, ...labels };
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

  /** @type {WeakMap<OpenTrace, import("../layout/stage_plan.js").StageModel>} */
  const models = new WeakMap();
  /** @type {WeakMap<OpenTrace, import("../marks/mark_cache.js").MarkCache>} */
  const markCaches = new WeakMap();
  /** @type {{opened: OpenTrace, i: number, plan: StagePlan | null, facts: import("../marks/step_facts.js").StepFacts | null} | null} */
  let shown = null;
  let hostSize = { w: host.clientWidth, h: host.clientHeight };
  /** From where on big storages show their cells. @type {Map<string, number>} */
  const windowStarts = new Map();
  /** @type {Set<string>} */
  let toggled = new Set();
  /** @type {number | null} */
  let chosenScale = null;
  /** @type {number | null} */
  let memoryShare = divider.share;
  /** @type {Side | null} */
  let chosenSide = null;
  /** @type {string | null} */
  let selection = null;
  let lastStepTime = Number.NEGATIVE_INFINITY;
  /** @type {import("./older.js").Older | null} */
  let olderMarks = null;
  let drawnScale = "";
  let drawnBands = "";
  const rowAnchor = createRowAnchor(row);
  const highlight = createHighlight(
    row,
    (attribute) => (shown ? relatedKeys(shown.opened, shown.i, attribute) : []),
    selected,
  );

  /** @param {OpenTrace} opened */
  function modelOf(opened) {
    const model = models.get(opened) ?? stageModel(opened);
    models.set(opened, model);
    return model;
  }

  /** @param {OpenTrace} opened */
  function markCacheOf(opened) {
    const markCache = markCaches.get(opened) ?? createMarkCache();
    markCaches.set(opened, markCache);
    return markCache;
  }

  /** @param {boolean} [animated] */
  function draw(animated = false) {
    if (!shown || !hostSize.w || !hostSize.h) return;
    const narrow = isNarrow(hostSize.w);
    const model = modelOf(shown.opened);
    const height = hostSize.h - (narrow ? tabs.height() : 0);
    const plan = stagePlan(
      model,
      shown.i,
      { w: hostSize.w, h: height },
      {
        scale: chosenScale,
        share: memoryShare,
        side: chosenSide,
        foot: SCALE_BUTTONS_HEIGHT,
        selected: selectedUid(selection),
        toggled,
      },
    );
    root.classList.toggle("narrow", narrow);
    for (const side of /** @type {Side[]} */ (["memory", "graph"]))
      panes[side].resize(plan[side], plan.widths[side], plan.height, plan.k);
    divider.place(plan.widths.memory * plan.k, hostSize.w, narrow || !plan.widths.graph);
    const bands = { memory: panes.memory.band(), graph: panes.graph.band() };
    drawnBands = JSON.stringify(bands);
    const { facts, memory, graph } = stageMarks(plan, labelTexts, windowStarts, bands, markCacheOf(shown.opened));
    if (memory) panes.memory.draw(memory.heading, memory.body, animated);
    if (graph) panes.graph.draw(graph.heading, graph.body, animated);
    shown = { ...shown, plan, facts };
    tabs.show(narrow, chosenSide ?? sideOf(model, shown.i), facts);
    const scale = `${plan.k} ${chosenScale !== null}`;
    if (scale !== drawnScale) scaled?.(plan.k, chosenScale !== null); // what is written anew is laid out anew
    drawnScale = scale;
    markOlder(row, olderMarks);
    highlight.drawn();
  }

  /** What lies over both panes: links, and what of the step is out of sight. */
  function drawLinks() {
    if (!shown?.plan || !shown.facts) return;
    const marks = drawOverlay(shown.facts, shown.plan, panes, selectedUid(selection), labelTexts);
    const { k, height } = shown.plan;
    const viewBox = `0 0 ${Math.round(hostSize.w / k)} ${Math.round(height + HEADING)}`;
    if (overlay.getAttribute("viewBox") !== viewBox) overlay.setAttribute("viewBox", viewBox);
    patch(document, overlay, marks);
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

  /** A click, or a key on what has the focus. @param {Event} event */
  function onChoose(event) {
    const key = event instanceof KeyboardEvent ? event.key : null;
    if (key === "Escape") return highlight.deselect();
    if (key !== null && key !== "Enter") return;
    const closest = (/** @type {string} */ selector) =>
      event.target instanceof Element ? event.target.closest(selector) : null;
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

  /** Scroll to the end of a link that was out of sight. @param {string} target a pane and a height in it */
  function scrollToTarget(target) {
    const [side, y] = target.split(" ");
    panes[side === "graph" ? "graph" : "memory"].scrollTo(Number(y));
  }

  /** Show a big storage's cells from the point of its strip on that was clicked; those that the trace does not have are
   * asked for. @param {Element} strip @param {Event} event */
  function openStrip(strip, event) {
    const [uid, first] = (strip.getAttribute("data-open") ?? "").split(":");
    const { left, width } = strip.getBoundingClientRect();
    const share = event instanceof MouseEvent && width ? Math.min(1, Math.max(0, (event.clientX - left) / width)) : 0;
    const from = Number(first) + Math.floor(share * Number(strip.getAttribute("data-span") ?? 0));
    const storage = shown ? find(shown.opened.state(shown.i), uid, "storage") : undefined;
    const windows = storage?.windows?.[strip.getAttribute("data-dtype") ?? ""] ?? [];
    if (!windows.some(([start, values]) => start <= from && from < start + values.length)) return elements?.(uid, from);
    windowStarts.set(uid, from);
    draw();
  }

  /** Open or close a fold; the focus stays on it. @param {string} key */
  function toggleFold(key) {
    toggled = new Set(toggled);
    if (!toggled.delete(key)) toggled.add(key);
    draw(true);
    drawLinks();
    const fold = [...root.querySelectorAll("[data-fold]")].find((el) => el.getAttribute("data-fold") === key);
    if (fold instanceof SVGElement) fold.focus({ preventScroll: true });
  }

  /** @param {WheelEvent} event */
  function onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scaleTo((shown?.plan?.k ?? 1) * Math.exp(-event.deltaY / 300));
  }

  /** @param {number | null} scale null: the one that fits */
  function scaleTo(scale) {
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

/** Tabs over both panes with their divider, and what lies over them. @param {HTMLElement} host @param {Document} document
 * @param {import("../marks/labels.js").Labels} words @param {{side: (side: Side) => void, share: (share: number | null) => void}} on
 *   side: a pane was chosen; share: the memory's part of the width was */
function createStageElements(host, document, words, on) {
  const root = document.createElement("div");
  root.className = "stage";
  const tabs = createTabs(document, words, on.side);
  const panes = { memory: createStagePane(document, "memory"), graph: createStagePane(document, "graph") };
  const divider = createDivider(document, words, on.share);
  const row = document.createElement("div");
  row.className = "stage-panes";
  const overlay = document.createElementNS(SVG, "svg");
  overlay.setAttribute("class", "stage-svg stage-overlay");
  row.append(panes.memory.root, divider.element, panes.graph.root, overlay);
  root.append(tabs.element, row);
  host.append(root);
  return { root, row, overlay, tabs, panes, divider };
}
