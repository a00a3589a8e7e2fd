/** The stage: draws the picture of a step into a host element, at a scale, and highlights what belongs together. */

import { find } from "./entities.js";
import { createHighlight, HIGHLIGHTABLE } from "./highlight.js";
import { changedHeights, plan as makePlan, toggleFold as togglePlanFold } from "./layout/plan.js";
import { ALL, TALL, visibleBand } from "./layout/view.js";
import { scene } from "./marks/scene.js";
import { relatives } from "./relatives.js";
import { scrollByDragging, scrollSideways, scrollToNews } from "./scrolling.js";
import { createSurface, fitScale, wholeScale, widestPlan } from "./stage_surface.js";

/** @typedef {import("./state.js").OpenTrace} OpenTrace */
/** @typedef {import("./layout/plan.js").Plan} Plan */
/** @typedef {{show: (opened: OpenTrace, i: number) => void, zoom: (by: number) => void, toggleFit: () => void,
 *   peek: (storage: string, from: number) => void, select: (key: string | null) => void,
 *   plan: (opened: OpenTrace) => Plan | null}} Stage
 *   zoom: times as large; toggleFit: the scale that shows all of it, and again the one that reads best; peek: show a big storage's cells from
 *   there on; select: highlight what stays so, see `highlight.js`; plan: the one that is drawn, if it is */

/** Pixels of width below which the graph lies under the memory. */
const NARROW = 700;
const SMALLEST_STACKED = 0.62;
/** Below the memory a graph may be scrolled sideways for as much before it is folded. */
const FOLDED_STACKED = 900;
const SMALLEST_CHOSEN = 0.12;
const LARGEST_CHOSEN = 4;

/**
 * @param {HTMLElement} host
 * @param {Document} document
 * @param {{labels?: Partial<import("./marks/labels.js").Labels>, cell?: (storage: string, index: number, dtype: string) => void,
 *   elements?: (storage: string, from: number) => void, scaled?: (k: number, chosen: boolean) => void,
 *   selected?: (key: string | null) => void}} [options]
 *   cell: called with the cell that was chosen by a click or by Enter; elements: with those of a big storage that the
 *   trace does not know; scaled: with the scale that is drawn; selected: with what the reader chose to stay highlighted
 * @returns {Stage}
 */
export function createStage(host, document, { labels = {}, cell, elements, scaled, selected } = {}) {
  const root = document.createElement("div");
  root.className = "stage";
  const main = createSurface(document, "memory");
  const below = createSurface(document, "graph");
  root.append(main.box, below.box);
  host.append(root);
  /** @type {WeakMap<OpenTrace, Map<boolean, Plan>>} */
  const plans = new WeakMap();
  /** @type {{opened: OpenTrace, i: number} | null} */
  let shown = null;
  const highlight = createHighlight(
    root,
    (attribute) => (shown ? relatives(shown.opened, shown.i, attribute) : []),
    selected,
  );
  /** @type {import("./layout/view.js").View} */
  let visible = { memory: ALL, graph: ALL };
  let room = { w: host.clientWidth, h: host.clientHeight };
  /** From where on big storages show their cells. @type {Map<string, number>} */
  const peeks = new Map();
  /** @type {number | null} the scale that the reader chose */
  let chosen = null;

  /** @param {OpenTrace} opened @param {boolean} stacked */
  function planFor(opened, stacked) {
    /** @type {Map<boolean, Plan>} */
    const cached = plans.get(opened) ?? new Map();
    plans.set(opened, cached);
    const plan =
      cached.get(stacked) ??
      makePlan(opened, {
        stacked,
        room: stacked ? Math.max(widestPlan(room.w), FOLDED_STACKED) : widestPlan(room.w) || Infinity,
      });
    cached.set(stacked, plan);
    return plan;
  }

  const isStacked = () => root.classList.contains("stacked");

  function draw() {
    if (!shown) return;
    const stacked = room.w > 0 && room.w < NARROW;
    const plan = planFor(shown.opened, stacked);
    root.classList.toggle("stacked", stacked);
    root.classList.toggle("dense", plan.metrics.dense);
    if (stacked) drawStacked(plan, shown);
    else drawBeside(plan, shown);
    scaled?.(main.scale, chosen !== null);
    highlight.drawn();
  }

  /** Memory above, graph below. @param {Plan} plan @param {{opened: OpenTrace, i: number}} at */
  function drawStacked(plan, { opened, i }) {
    const { memory, graph } = plan;
    const above = fitScale(memory, { w: room.w, h: 0 }, { smallest: SMALLEST_STACKED, chosen });
    const under = fitScale(graph, { w: room.w, h: 0 }, { chosen });
    visible = {
      memory: visibleRange(above.k, memory.height, 0),
      graph: visibleRange(under.k, graph.height, above.height * above.k),
      peeks,
    };
    main.resize(above);
    below.resize(under);
    below.box.hidden = graph.boxes.size === 0;
    const picture = scene(plan, opened, i, labels, visible);
    main.draw({ memory: picture.memory, between: picture.between });
    below.draw({ graph: picture.graph });
  }

  /** Memory and graph side by side. @param {Plan} plan @param {{opened: OpenTrace, i: number}} at */
  function drawBeside(plan, { opened, i }) {
    const size = bothSides(plan);
    const drawn = fitScale(size, room, { chosen });
    const range = visibleRange(drawn.k, size.height, 0);
    visible = { memory: range, graph: range, peeks };
    main.resize(drawn);
    const picture = scene(plan, opened, i, labels, visible);
    const divider = { x: plan.memory.width, h: drawn.height, label: labels.graph ?? "Graph" };
    main.draw(picture, plan.graph.boxes.size ? divider : undefined);
    below.draw({});
    below.box.hidden = true;
  }

  /** Draw at another scale, with the point of the stage that is under (x, y) staying there. @param {number | null} k
   * @param {number} [x] @param {number} [y] */
  function scaleTo(k, x = room.w / 2, y = room.h / 2) {
    const before = main.scale;
    const point = { x: (root.scrollLeft + x) / before, y: (root.scrollTop + y) / before };
    chosen = k === null ? null : Math.max(SMALLEST_CHOSEN, Math.min(LARGEST_CHOSEN, k));
    draw();
    root.scrollTo(point.x * main.scale - x, point.y * main.scale - y);
    drawScrolled();
  }

  /** @param {WheelEvent} event */
  function onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = root.getBoundingClientRect();
    scaleTo(main.scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }

  /** The heights of a surface's plan that are in sight. @param {number} k its scale @param {number} height of the plan
   * @param {number} above pixels of the stage before it */
  function visibleRange(k, height, above) {
    if (height <= TALL || !room.h) return ALL;
    const top = (scrollTop() - above) / k;
    return visibleBand(top, top + Math.min(room.h, document.documentElement.clientHeight) / k);
  }

  /** How far the stage is scrolled, by itself or with the page. */
  function scrollTop() {
    return root.scrollHeight > root.clientHeight ? root.scrollTop : Math.max(0, -root.getBoundingClientRect().top);
  }

  /** A click, or a key on what has the focus. @param {Event} event */
  function onChoose(event) {
    const key = event instanceof KeyboardEvent ? event.key : null;
    if (key === "Escape") return highlight.deselect();
    if (key !== null && key !== "Enter") return;
    const closest = (/** @type {string} */ selector) =>
      event.target instanceof Element ? event.target.closest(selector) : null;
    const fold = closest("[data-fold]");
    if (fold) return toggleFold(fold.getAttribute("data-fold") ?? "");
    const strip = closest("[data-open]");
    if (strip) return openStrip(strip, event);
    const box = closest("[data-cell]");
    if (!box) return highlight.choose(event);
    const [storage, index] = (box.getAttribute("data-cell") ?? "").split(":");
    cell?.(storage, Number(index), box.getAttribute("data-dtype") ?? "");
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
    peeks.set(uid, from);
    draw();
  }

  /** Open or close a fold; the focus stays on it. @param {string} key */
  function toggleFold(key) {
    if (!shown) return;
    const stacked = isStacked();
    const plan = togglePlanFold(planFor(shown.opened, stacked), key);
    plans.get(shown.opened)?.set(stacked, plan);
    draw();
    const fold = [...root.querySelectorAll("[data-fold]")].find((el) => el.getAttribute("data-fold") === key);
    if (!(fold instanceof SVGElement)) return;
    fold.focus({ preventScroll: true });
    scrollSideways(root, fold);
  }

  /** Scroll to the first of these heights unless one is in sight. @param {number[]} heights */
  function scrollToHeight(heights) {
    if (!heights.length) return;
    const begin = scrollTop();
    const tops = heights.map((y) => y * main.scale - begin);
    if (tops.some((y) => y > 20 && y < room.h - 20)) return;
    root.scrollBy({ top: tops[0] - room.h / 3 });
    draw();
  }

  /** Draw what was scrolled into sight. */
  function drawScrolled() {
    if (!shown || visible.memory === ALL) return;
    const now = visibleRange(main.scale, Infinity, 0);
    if (now.top !== visible.memory.top || now.bottom !== visible.memory.bottom) draw();
  }

  root.addEventListener("wheel", onWheel, { passive: false });
  scrollByDragging(root, HIGHLIGHTABLE);
  root.addEventListener("click", onChoose);
  root.addEventListener("keydown", onChoose);
  root.addEventListener("pointerover", highlight.point);
  root.addEventListener("pointerleave", highlight.redraw);
  root.addEventListener("focusin", highlight.point);
  root.addEventListener("focusout", highlight.redraw);
  root.addEventListener("scroll", drawScrolled, { passive: true });
  document.addEventListener("scroll", drawScrolled, { passive: true });
  new ResizeObserver(() => {
    room = { w: host.clientWidth, h: host.clientHeight };
    draw();
  }).observe(host);

  return {
    show(opened, i) {
      const sameRun = shown?.opened === opened;
      if (!sameRun) peeks.clear();
      shown = { opened, i };
      if (!room.w) room = { w: host.clientWidth, h: host.clientHeight };
      draw();
      if (!sameRun) root.scrollTo(0, 0);
      else if (visible.memory === ALL) scrollToNews(root);
      else scrollToHeight(changedHeights(planFor(opened, isStacked()), opened.at(i)));
      if (sameRun) scrollSideways(root, root.querySelector(".node.running"));
    },
    select: highlight.select,
    peek(uid, from) {
      if (!shown) return;
      peeks.set(uid, from);
      draw();
      const box = planFor(shown.opened, isStacked()).memory.storages.get(uid);
      if (box) scrollToHeight([box.stripY]);
    },
    zoom(by) {
      scaleTo(main.scale * by);
    },
    toggleFit() {
      if (chosen !== null || !shown) return scaleTo(null);
      scaleTo(wholeScale(bothSides(planFor(shown.opened, false)), room), 0, 0);
    },
    plan: (opened) => plans.get(opened)?.get(isStacked()) ?? null,
  };
}

/** The size of memory and graph side by side. @param {Plan} plan */
function bothSides({ memory, graph }) {
  return { width: memory.width + graph.width, height: Math.max(memory.height, graph.height) };
}
