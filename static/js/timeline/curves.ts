/** Small curves of the scalars that a loop binds or prints; each is also a slider over the steps that made its values. */

import { scalarSeries, type Point, type Series } from "./scalar_series.ts";
import { h, patch, SVG, type VNode } from "../browser/svg.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** Units of the drawing: it is stretched to its width, lines keep theirs. */
const WIDTH = 100;
const HEIGHT = 24;
const MARGIN = 3;
const DIGITS = 7;

/** The last point that a step has passed; -1 before the first. */
export function pointIndexAt(points: Point[], step: number) {
  return points.findLastIndex((point) => point.step <= step);
}

/** The point nearest to a share of the width. @param share from 0 to 1 */
export function nearestPointIndex(points: Point[], share: number) {
  const x = points[0].x + share * (points[points.length - 1].x - points[0].x);
  return points.reduce((best, point, k) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? k : best), 0);
}

/**
 * The curve of a series as SVG: what has passed, what is to come, and the point that was reached.
 * @param reached index of the point that was reached, -1 for none
 * @returns numbers that are not finite are ticks at the top
 */
export function curveMarks(points: Point[], reached: number): VNode[] {
  const finite = points.map(({ value }) => value).filter(Number.isFinite);
  const lowest = Math.min(...finite);
  const range = Math.max(...finite) - lowest || 1;
  const width = points[points.length - 1].x - points[0].x || 1;
  const plotPoints = points.map(({ x, value }) => ({
    x: MARGIN + ((x - points[0].x) / width) * (WIDTH - 2 * MARGIN),
    y: Number.isFinite(value) ? HEIGHT - MARGIN - ((value - lowest) / range) * (HEIGHT - 2 * MARGIN) : null,
  }));
  const pathBetween = (from: number, to: number) => {
    let d = "";
    for (let k = from; k <= to; k++) {
      const { x, y } = plotPoints[k];
      if (y !== null) d += `${k === from || plotPoints[k - 1].y === null ? "M" : "L"}${round(x)} ${round(y)}`;
    }
    return d;
  };
  const ticks = plotPoints.map(({ x, y }) => (y === null ? `M${round(x)} 0V6` : "")).join("");
  const dotY = plotPoints[reached]?.y === null ? MARGIN : plotPoints[reached]?.y;
  const stroke = { "vector-effect": "non-scaling-stroke" };
  return [
    reached < points.length - 1 &&
      h("path", {
        key: "later",
        class: "curve-later",
        d: pathBetween(Math.max(reached, 0), points.length - 1),
        ...stroke,
      }),
    reached > 0 && h("path", { key: "past", class: "curve-past", d: pathBetween(0, reached), ...stroke }),
    ticks && h("path", { key: "ticks", class: "curve-tick", d: ticks, ...stroke }),
    dotY !== undefined &&
      h("path", { key: "dot", class: "curve-dot", d: `M${round(plotPoints[reached].x)} ${round(dotY)}h0`, ...stroke }),
  ].filter((mark) => typeof mark === "object");
}

function valueLabel({ value, text }: Point) {
  return text.length > DIGITS && Number.isFinite(value) ? value.toPrecision(DIGITS - 2) : text;
}

function round(value: number) {
  return Math.round(value * 100) / 100;
}

/** @param go called with the step of a point that the reader chose */
export function createCurves(host: HTMLElement, say: Locale["say"], go: (step: number) => void) {
  let curves: { show: (step: number) => void }[] = [];
  return {
    /** The curves of another run. */
    open(trace: Trace | null) {
      const list = trace ? scalarSeries(trace) : [];
      const newCurves = list.map((series) => createCurve(series, say, go));
      host.hidden = !newCurves.length;
      host.replaceChildren(...newCurves.map(({ element }) => element));
      curves = newCurves;
    },
    show(step: number) {
      for (const curve of curves) curve.show(step);
    },
  };
}

function createCurve({ name, line, points }: Series, say: Locale["say"], go: (step: number) => void) {
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
  let reachedIndex = -2;

  function goToPointer(event: PointerEvent) {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const plotShare = (share * WIDTH - MARGIN) / (WIDTH - 2 * MARGIN);
    go(points[nearestPointIndex(points, Math.max(0, Math.min(plotShare, 1)))].step);
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
    const target = {
      ArrowRight: reachedIndex + 1,
      ArrowUp: reachedIndex + 1,
      ArrowLeft: reachedIndex - 1,
      ArrowDown: reachedIndex - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys go from step to step
    go(points[Math.max(0, Math.min(target, last))].step);
  });

  function show(step: number) {
    const reached = pointIndexAt(points, step);
    if (reached === reachedIndex) return;
    reachedIndex = reached;
    patch(document, drawing, curveMarks(points, reachedIndex));
    const point = points[reachedIndex];
    value.textContent = point ? valueLabel(point) : "–";
    element.setAttribute("aria-valuenow", String(reachedIndex + 1));
    element.setAttribute("aria-valuetext", point ? `${point.text} · ${say("at_step", { i: point.step + 1 })}` : "–");
  }
  return { element, show };
}
