/** The stage: puts the picture of a step into a host element, keeps its scale, and lights what belongs together. */

import { changedHeights, plan as makePlan, toggleFold } from "./layout/plan.js";
import { ALL, visibleBand, TALL } from "./layout/view.js";
import { scene } from "./marks/scene.js";
import { createLights, LIGHTS } from "./highlight.js";
import { h, patch, SVG } from "./svg.js";

/** @typedef {import("./state.js").OpenTrace} Opened */
/** @typedef {{show: (opened: Opened, i: number) => void, fit: () => void, zoom: (by: number) => void, whole: () => void,
 *   peek: (storage: string, from: number) => void, select: (key: string | null) => void,
 *   plan: (opened: Opened) => import("./layout/plan.js").Plan | null, destroy: () => void}} Stage
 *   zoom: times as large; whole: all of it, and again the size that reads best; peek: show a big storage's cells from
 *   there on; plan: the one that is drawn, if it is */

const NARROW = 700;
const SMALLEST = 0.74;
const LARGEST = 1.14;
const SCROLLED = 0.88;
const SMALLEST_STACKED = 0.62;
/** Pixels left of what is scrolled to. */
const ASIDE = 60;
/** Below the memory a graph may be scrolled sideways for as much before it is folded. */
const FOLDED_STACKED = 900;
const FURTHEST = 0.12;
const NEAREST = 4;
const EDGE = 24;

/**
 * @param {HTMLElement} host
 * @param {Document} document
 * @param {{words?: Partial<import("./marks/labels.js").Labels>, cell?: (storage: string, index: number, dtype: string) => void,
 *   elements?: (storage: string, from: number) => void, scaled?: (k: number, chosen: boolean) => void,
 *   selected?: (key: string | null) => void}} [options]
 *   cell: called with the cell that was chosen by a click or by Enter; elements: with those of a big storage that the
 *   trace does not know; scaled: with the scale that is drawn; selected: with what stays lit, see `highlight.js`
 * @returns {Stage}
 */
export function createStage(host, document, { words = {}, cell, elements, scaled, selected } = {}) {
  const root = document.createElement("div");
  root.className = "stage";
  const main = surface(document, "memory");
  const below = surface(document, "graph");
  root.append(main.box, below.box);
  host.append(root);
  /** @type {WeakMap<Opened, Map<boolean, import("./layout/plan.js").Plan>>} */
  const plans = new WeakMap();
  /** @type {{opened: Opened, i: number} | null} */
  let shown = null;
  const lights = createLights(root, selected);
  /** @type {import("./layout/view.js").View} */
  let seen = { memory: ALL, graph: ALL };
  let room = { w: host.clientWidth, h: host.clientHeight };
  /** From where on big storages show their cells. @type {Map<string, number>} */
  const peeks = new Map();
  /** @type {number | null} the scale that the reader chose */
  let chosen = null;

  /** @param {Opened} opened @param {boolean} stacked */
  function planFor(opened, stacked) {
    const known = plans.get(opened) ?? new Map();
    plans.set(opened, known);
    const plan =
      known.get(stacked) ??
      makePlan(opened, {
        stacked,
        room: stacked ? Math.max(room.w / SMALLEST, FOLDED_STACKED) : room.w / SMALLEST || Infinity,
      });
    known.set(stacked, plan);
    return plan;
  }

  function draw() {
    if (!shown) return;
    const { opened, i } = shown;
    const stacked = room.w > 0 && room.w < NARROW;
    const plan = planFor(opened, stacked);
    root.classList.toggle("stacked", stacked);
    root.classList.toggle("dense", plan.metrics.dense);
    const { memory, graph } = plan;
    if (stacked) {
      const above = fit(memory.width, memory.height, room.w, 0, SMALLEST_STACKED, chosen);
      const under = fit(graph.width, graph.height, room.w, 0, SMALLEST, chosen);
      seen = {
        memory: sight(above.k, memory.height, 0),
        graph: sight(under.k, graph.height, above.height * above.k),
        peeks,
      };
      resize(main, above);
      resize(below, under);
      below.box.hidden = graph.boxes.size === 0;
      const picture = scene(plan, opened, i, words, seen);
      layers(main, picture.memory, picture.between, []);
      layers(below, [], [], picture.graph);
    } else {
      const w = memory.width + graph.width;
      const tall = Math.max(memory.height, graph.height);
      const drawn = fit(w, tall, room.w, room.h, SMALLEST, chosen);
      const part = sight(drawn.k, tall, 0);
      seen = { memory: part, graph: part, peeks };
      resize(main, drawn);
      const picture = scene(plan, opened, i, words, seen);
      const fence = graph.boxes.size ? { x: memory.width, h: drawn.height, word: words.graph ?? "Graph" } : undefined;
      layers(main, picture.memory, picture.between, picture.graph, fence);
      layers(below, [], [], []);
      below.box.hidden = true;
    }
    scaled?.(main.k, chosen !== null);
    lights.again();
  }

  /** Draw at another scale, with the point of the stage that is under (x, y) staying there. @param {number | null} k
   * @param {number} [x] @param {number} [y] */
  function scale(k, x = room.w / 2, y = room.h / 2) {
    const before = main.k;
    const at = { x: (root.scrollLeft + x) / before, y: (root.scrollTop + y) / before };
    chosen = k === null ? null : Math.max(FURTHEST, Math.min(NEAREST, k));
    draw();
    root.scrollTo?.(at.x * main.k - x, at.y * main.k - y);
    scrolled();
  }

  /** @param {WheelEvent} event */
  function wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const place = root.getBoundingClientRect();
    scale(main.k * Math.exp(-event.deltaY / 300), event.clientX - place.left, event.clientY - place.top);
  }

  /** Drag the ground, and the picture comes along. @param {PointerEvent} event */
  function grab(event) {
    const on = event.target instanceof Element ? event.target : null;
    if (event.button !== 0 || event.pointerType === "touch" || on?.closest(LIGHTS)) return;
    if (root.scrollWidth <= root.clientWidth && root.scrollHeight <= root.clientHeight) return;
    const from = { x: event.clientX + root.scrollLeft, y: event.clientY + root.scrollTop };
    root.setPointerCapture(event.pointerId);
    root.classList.add("dragged");
    const move = (/** @type {PointerEvent} */ now) => root.scrollTo(from.x - now.clientX, from.y - now.clientY);
    const drop = () => {
      root.classList.remove("dragged");
      root.removeEventListener("pointermove", move);
    };
    root.addEventListener("pointermove", move);
    root.addEventListener("pointerup", drop, { once: true });
    root.addEventListener("pointercancel", drop, { once: true });
  }

  /** What is in sight of a surface, in its plan's heights. @param {number} k its scale @param {number} tall
   * @param {number} above pixels of the stage before it */
  function sight(k, tall, above) {
    if (tall <= TALL || !room.h) return ALL;
    const top = (scrollTop() - above) / k;
    return visibleBand(top, top + Math.min(room.h, document.documentElement.clientHeight) / k);
  }

  /** How far the stage is scrolled, by itself or with the page. */
  function scrollTop() {
    return root.scrollHeight > root.clientHeight ? root.scrollTop : Math.max(0, -root.getBoundingClientRect().top);
  }

  /** @param {ReturnType<typeof surface>} to @param {import("./svg.js").VNode[]} memory
   * @param {import("./svg.js").VNode[]} between @param {import("./svg.js").VNode[]} graph
   * @param {{x: number, h: number, word: string}} [fence] */
  function layers(to, memory, between, graph, fence) {
    const line = fence
      ? [
          h("path", { key: "fence", class: "fence", d: `M${fence.x} 0V${fence.h}` }),
          h("text", { key: "head", class: "lane-head", x: fence.x + 30, y: 22 }, fence.word),
        ]
      : [];
    patch(document, to.fence, line);
    patch(document, to.memory, memory);
    patch(document, to.graph, graph);
    patch(document, to.between, between);
  }

  /** @param {Event} event */
  function choose(event) {
    const fold = event.target instanceof Element ? event.target.closest("[data-fold]") : null;
    if (fold && (!(event instanceof KeyboardEvent) || event.key === "Enter"))
      return turn(fold.getAttribute("data-fold") ?? "");
    const place = event.target instanceof Element ? event.target.closest("[data-open]") : null;
    if (place && (!(event instanceof KeyboardEvent) || event.key === "Enter")) {
      const [uid, from] = (place.getAttribute("data-open") ?? "").split(":");
      const { left, width } = place.getBoundingClientRect();
      const share = event instanceof MouseEvent && width ? Math.min(1, Math.max(0, (event.clientX - left) / width)) : 0;
      return look(
        uid,
        Number(from) + Math.floor(share * Number(place.getAttribute("data-span") ?? 0)),
        place.getAttribute("data-dtype") ?? "",
      );
    }
    if (event instanceof KeyboardEvent && event.key === "Escape") return lights.select(null);
    if (event instanceof KeyboardEvent && event.key !== "Enter") return;
    const chosen = event.target instanceof Element ? event.target.closest("[data-cell]") : null;
    if (!chosen) return lights.choose(event);
    if (!cell) return;
    const [storage, index] = (chosen.getAttribute("data-cell") ?? "").split(":");
    cell(storage, Number(index), chosen.getAttribute("data-dtype") ?? "");
  }
  /** Show a big storage's cells from an element on; those that the trace does not know are asked for.
   * @param {string} uid @param {number} from @param {string} dtype */
  function look(uid, from, dtype) {
    const windows = /** @type {[number, any[]][]} */ (shown?.opened.state(shown.i).get(uid)?.windows?.[dtype] ?? []);
    if (!windows.some(([start, values]) => start <= from && from < start + values.length)) return elements?.(uid, from);
    peeks.set(uid, from);
    draw();
  }

  /** Open or close a fold; what stands there keeps the focus. @param {string} key */
  function turn(key) {
    if (!shown) return;
    const stacked = root.classList.contains("stacked");
    const plan = toggleFold(planFor(shown.opened, stacked), key);
    plans.get(shown.opened)?.set(stacked, plan);
    draw();
    const at = [...root.querySelectorAll("[data-fold]")].find((el) => el.getAttribute("data-fold") === key);
    if (!(at instanceof SVGElement)) return;
    at.focus({ preventScroll: true });
    sideways(at);
  }

  /** Scroll across to what begins or ends out of sight. @param {Element | null} at */
  function sideways(at) {
    const pane = at?.closest(".stage.stacked .stage-pane") ?? root;
    if (!at || !pane.clientWidth) return;
    const view = pane.getBoundingClientRect();
    const place = at.getBoundingClientRect();
    if (place.left < view.left || place.right > view.right) pane.scrollBy({ left: place.left - view.left - ASIDE });
  }

  root.addEventListener("wheel", wheel, { passive: false });
  root.addEventListener("pointerdown", grab);
  root.addEventListener("click", choose);
  root.addEventListener("keydown", choose);
  root.addEventListener("pointerover", lights.over);
  root.addEventListener("pointerleave", lights.again);
  root.addEventListener("focusin", lights.over);
  root.addEventListener("focusout", lights.again);
  /** Scroll to the first of these heights unless one is in sight. @param {number[]} heights */
  function bring(heights) {
    if (!heights.length) return;
    const begin = scrollTop();
    const places = heights.map((y) => y * main.k - begin);
    if (places.some((y) => y > 20 && y < room.h - 20)) return;
    root.scrollBy({ top: places[0] - room.h / 3 });
    draw();
  }

  /** Scrolled: what came into sight is drawn. */
  function scrolled() {
    if (!shown || seen.memory === ALL) return;
    const now = sight(main.k, Infinity, 0);
    if (now.top !== seen.memory.top || now.bottom !== seen.memory.bottom) draw();
  }
  root.addEventListener("scroll", scrolled, { passive: true });
  document.addEventListener("scroll", scrolled, { passive: true });
  const observer =
    typeof ResizeObserver === "undefined"
      ? null
      : new ResizeObserver(() => {
          room = { w: host.clientWidth, h: host.clientHeight };
          draw();
        });
  observer?.observe(host);

  return {
    show(opened, i) {
      const again = shown?.opened === opened;
      if (!again) peeks.clear();
      shown = { opened, i };
      if (!room.w) room = { w: host.clientWidth, h: host.clientHeight };
      draw();
      if (!again) root.scrollTo?.(0, 0);
      else if (seen.memory === ALL) reveal(root);
      else bring(changedHeights(planFor(opened, root.classList.contains("stacked")), opened.at(i)));
      if (again) sideways(root.querySelector(".node.running"));
    },
    select: lights.select,
    fit() {
      draw();
      root.scrollTo?.(0, 0);
    },
    peek(uid, from) {
      if (!shown) return;
      peeks.set(uid, from);
      draw();
      const shelf = planFor(shown.opened, root.classList.contains("stacked")).memory.shelves.get(uid);
      if (shelf) bring([shelf.stripY]);
    },
    zoom(by) {
      scale(main.k * by);
    },
    whole() {
      if (chosen !== null || !shown) return scale(null);
      const { memory, graph } = planFor(shown.opened, false);
      scale(
        Math.min(
          LARGEST,
          (room.w - 2) / (memory.width + graph.width),
          (room.h - 2) / Math.max(memory.height, graph.height),
        ),
        0,
        0,
      );
    },
    plan: (opened) => plans.get(opened)?.get(root.classList.contains("stacked")) ?? null,
    destroy() {
      observer?.disconnect();
      document.removeEventListener("scroll", scrolled);
      root.remove();
    },
  };
}

/** An SVG of its own with its layers. @param {Document} document @param {string} name */
function surface(document, name) {
  const box = document.createElement("div");
  box.className = `stage-pane stage-${name}`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "stage-svg");
  svg.setAttribute("role", "group");
  const defs = document.createElementNS(SVG, "defs");
  const pattern = document.createElementNS(SVG, "pattern");
  for (const [k, v] of [
    ["id", `hatch-${name}`],
    ["width", "8"],
    ["height", "8"],
    ["patternUnits", "userSpaceOnUse"],
    ["patternTransform", "rotate(45)"],
  ])
    pattern.setAttribute(k, v);
  const stripe = document.createElementNS(SVG, "rect");
  for (const [k, v] of [
    ["width", "1.6"],
    ["height", "8"],
    ["class", "hatch-stripe"],
  ])
    stripe.setAttribute(k, v);
  pattern.append(stripe);
  defs.append(pattern);
  const layer = () => document.createElementNS(SVG, "g");
  const parts = { fence: layer(), memory: layer(), graph: layer(), between: layer() };
  svg.append(defs, parts.fence, parts.between, parts.memory, parts.graph);
  box.append(svg);
  return { box, svg, k: 1, ...parts };
}

/** The scale that shows the most of it without becoming too small to read, or the chosen one, and the plan's size at it.
 * @param {number} w @param {number} h @param {number} roomW @param {number} roomH @param {number} [least]
 * @param {number | null} [chosen] */
function fit(w, h, roomW, roomH, least = SMALLEST, chosen = null) {
  const fitW = roomW > 0 ? (roomW - 2) / w : 1;
  const fitH = roomH > 0 ? (roomH - 2) / h : LARGEST;
  // What has to scroll anyway need not be small as well.
  const k = chosen ?? (fitW < least ? SCROLLED : Math.min(LARGEST, fitW, Math.max(fitH, SCROLLED)));
  return { k, width: Math.max(w, roomW / k - 2), height: Math.max(h, roomH / k - 2) };
}

/** Written only where it differs: the browser lays out anew whatever is written.
 * @param {ReturnType<typeof surface>} to @param {ReturnType<typeof fit>} size */
function resize(to, { k, width, height }) {
  to.k = k;
  const sized = {
    viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`,
    width: Math.round(width * k),
    height: Math.round(height * k),
  };
  for (const [name, value] of Object.entries(sized))
    if (to.svg.getAttribute(name) !== String(value)) to.svg.setAttribute(name, String(value));
}

/** Scroll to the node that runs unless it is whole in view, else where nothing that is new is in view. @param {Element} root */
function reveal(root) {
  const runs = root.querySelector(".node.running");
  const news = runs ? [runs] : [...root.querySelectorAll(".card.fresh, .cell.written, .bumped, .pin.news, .tag.moved")];
  if (!news.length || !root.clientHeight) return;
  const view = root.getBoundingClientRect();
  const edge = runs ? EDGE : 0;
  const seen = (/** @type {Element} */ el) => {
    const r = el.getBoundingClientRect();
    if (!runs) return r.bottom > view.top && r.top < view.bottom && r.right > view.left && r.left < view.right;
    return (
      r.top >= view.top + edge &&
      r.bottom <= view.bottom - edge &&
      r.left >= view.left + edge &&
      r.right <= view.right - edge
    );
  };
  if (news.some(seen)) return;
  const r = news[0].getBoundingClientRect();
  const out = (
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {number} */ low,
    /** @type {number} */ high,
  ) => (from < low + edge || to > high - edge ? (from + to) / 2 - (low + high) / 2 : 0);
  root.scrollBy({
    top: out(r.top, r.bottom, view.top, view.bottom),
    left: out(r.left, r.right, view.left, view.right),
  });
}
