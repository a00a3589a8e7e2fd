/** Small curves of the scalars that a loop binds or prints; each is also a slider over the steps that made its values. */

import { scalarSeries } from "./scalar_series.js";
import { h, patch, SVG } from "./svg.js";

/** @typedef {import("./scalar_series.js").Series} Series */
/** @typedef {import("./scalar_series.js").Point} Point */

/** Units of the drawing: it is stretched to its width, lines keep theirs. */
const WIDTH = 100;
const HEIGHT = 24;
const MARGIN = 3;
const DIGITS = 7;

/** The last point that a step has passed; -1 before the first. @param {Point[]} points @param {number} step */
export function pointAt(points, step) {
  return points.findLastIndex((point) => point.step <= step);
}

/** The point nearest to a share of the width. @param {Point[]} points @param {number} share from 0 to 1 */
export function nearestPoint(points, share) {
  const x = points[0].x + share * (points[points.length - 1].x - points[0].x);
  return points.reduce((best, point, k) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? k : best), 0);
}

/**
 * The curve of a series as SVG: what has passed, what is to come, and the point that was reached.
 * @param {Point[]} points @param {number} at index of the point that was reached, -1 for none
 * @returns {import("./svg.js").VNode[]} numbers that are not finite are ticks at the top
 */
export function curveMarks(points, at) {
  const finite = points.map(({ value }) => value).filter(Number.isFinite);
  const low = Math.min(...finite);
  const range = Math.max(...finite) - low || 1;
  const width = points[points.length - 1].x - points[0].x || 1;
  const place = points.map(({ x, value }) => ({
    x: MARGIN + ((x - points[0].x) / width) * (WIDTH - 2 * MARGIN),
    y: Number.isFinite(value) ? HEIGHT - MARGIN - ((value - low) / range) * (HEIGHT - 2 * MARGIN) : null,
  }));
  const line = (/** @type {number} */ from, /** @type {number} */ to) => {
    let d = "";
    for (let k = from; k <= to; k++) {
      const { x, y } = place[k];
      if (y !== null) d += `${k === from || place[k - 1].y === null ? "M" : "L"}${round(x)} ${round(y)}`;
    }
    return d;
  };
  const ticks = place.map(({ x, y }) => (y === null ? `M${round(x)} 0V6` : "")).join("");
  const dot = place[at]?.y === null ? MARGIN : place[at]?.y;
  const stroke = { "vector-effect": "non-scaling-stroke" };
  return [
    at < points.length - 1 &&
      h("path", { key: "later", class: "curve-later", d: line(Math.max(at, 0), points.length - 1), ...stroke }),
    at > 0 && h("path", { key: "past", class: "curve-past", d: line(0, at), ...stroke }),
    ticks && h("path", { key: "ticks", class: "curve-tick", d: ticks, ...stroke }),
    dot !== undefined &&
      h("path", { key: "dot", class: "curve-dot", d: `M${round(place[at].x)} ${round(dot)}h0`, ...stroke }),
  ].filter((mark) => typeof mark === "object");
}

/** @param {Point} point */
function valueLabel({ value, text }) {
  return text.length > DIGITS && Number.isFinite(value) ? value.toPrecision(DIGITS - 2) : text;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/**
 * @param {HTMLElement} host
 * @param {import("./locale.js").Locale["say"]} say
 * @param {(step: number) => void} go called with the step of a point that the reader chose
 */
export function createCurves(host, say, go) {
  /** @type {{show: (step: number) => void}[]} */
  let curves = [];
  return {
    /** The curves of another run. @param {import("./trace.js").Trace | null} trace */
    open(trace) {
      const list = trace ? scalarSeries(trace) : [];
      const made = list.map((series) => createCurve(series, say, go));
      host.hidden = !made.length;
      host.replaceChildren(...made.map(({ element }) => element));
      curves = made;
    },
    /** @param {number} step */
    show(step) {
      for (const curve of curves) curve.show(step);
    },
  };
}

/** @param {Series} series @param {import("./locale.js").Locale["say"]} say @param {(step: number) => void} go */
function createCurve({ name, line, points }, say, go) {
  const label = name ?? say("printed_at", { line });
  const element = document.createElement("div");
  element.className = "curve";
  element.tabIndex = 0;
  element.title = say("curve_why");
  for (const [key, value] of Object.entries({ role: "slider", "aria-label": label, "aria-valuemin": "0" }))
    element.setAttribute(key, value);
  element.setAttribute("aria-valuemax", String(points.length));
  const caption = document.createElement("span");
  caption.className = name ? "curve-name" : "curve-name unnamed";
  caption.textContent = label;
  const drawing = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" }))
    drawing.setAttribute(key, value);
  drawing.setAttribute("aria-hidden", "true");
  const value = document.createElement("span");
  value.className = "curve-value";
  element.append(caption, drawing, value);
  let at = -2;

  /** @param {PointerEvent} event */
  function goToPointer(event) {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const inner = (share * WIDTH - MARGIN) / (WIDTH - 2 * MARGIN);
    go(points[nearestPoint(points, Math.max(0, Math.min(inner, 1)))].step);
  }
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    goToPointer(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) goToPointer(event);
  });
  element.addEventListener("keydown", (event) => {
    const last = points.length - 1;
    const target = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: last }[
      event.key
    ];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys go from step to step
    go(points[Math.max(0, Math.min(target, last))].step);
  });

  /** @param {number} step */
  function show(step) {
    const reached = pointAt(points, step);
    if (reached === at) return;
    at = reached;
    patch(document, drawing, curveMarks(points, at));
    const point = points[at];
    value.textContent = point ? valueLabel(point) : "–";
    element.setAttribute("aria-valuenow", String(at + 1));
    element.setAttribute("aria-valuetext", point ? `${point.text} · ${say("at_step", { i: point.step + 1 })}` : "–");
  }
  return { element, show };
}
