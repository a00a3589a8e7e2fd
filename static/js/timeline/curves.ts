/**
 * Small curves of the scalars that a loop binds or prints; each is also a slider over the steps that made its values.
 */

import { findScalarSeries, type SeriesPoint, type ScalarSeries } from "../trace/scalar_series.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { CURVE_HEIGHT, CURVE_MARGIN, CURVE_WIDTH, seriesCurveMarks } from "../marks/series_curve.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

const CURVE_VALUE_DIGITS = 7;

/** The last point that a step has passed; -1 before the first. */
export function lastPassedPointIndex(points: SeriesPoint[], step: number) {
  return points.findLastIndex((point) => point.step <= step);
}

/** The point nearest to a share of the width, from 0 to 1. */
export function nearestPointIndex(points: SeriesPoint[], share: number) {
  const x = points[0].x + share * (points[points.length - 1].x - points[0].x);
  return points.reduce((best, point, k) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? k : best), 0);
}

function pointValueLabel({ value, text }: SeriesPoint) {
  return text.length > CURVE_VALUE_DIGITS && Number.isFinite(value) ? value.toPrecision(CURVE_VALUE_DIGITS - 2) : text;
}

/** `go` is called with the step of a point that the reader chose. */
export function createSeriesCurves(host: HTMLElement, say: Locale["say"], go: (step: number) => void) {
  let curves: { show: (step: number) => void }[] = [];
  return {
    /** The curves of another run. */
    open(trace: Trace | null) {
      const list = trace ? findScalarSeries(trace) : [];
      const newCurves = list.map((series) => createSeriesCurve(series, say, go));
      host.hidden = !newCurves.length;
      host.replaceChildren(...newCurves.map(({ element }) => element));
      curves = newCurves;
    },
    show(step: number) {
      for (const curve of curves) curve.show(step);
    },
  };
}

function createSeriesCurve({ name, line, points }: ScalarSeries, say: Locale["say"], go: (step: number) => void) {
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
  const drawing = document.createElementNS(SVG_NAMESPACE, "svg");
  for (const [key, value] of Object.entries({
    viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`,
    preserveAspectRatio: "none",
  }))
    drawing.setAttribute(key, value);
  drawing.setAttribute("aria-hidden", "true");
  const value = document.createElement("span");
  value.className = "curve-value";
  element.append(caption, drawing, value);
  let reachedIndex = -2;

  function goToPointer(event: PointerEvent) {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const plotShare = (share * CURVE_WIDTH - CURVE_MARGIN) / (CURVE_WIDTH - 2 * CURVE_MARGIN);
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
    const reached = lastPassedPointIndex(points, step);
    if (reached === reachedIndex) return;
    reachedIndex = reached;
    patchHost(document, drawing, seriesCurveMarks(points, reachedIndex));
    const point = points[reachedIndex];
    value.textContent = point ? pointValueLabel(point) : "–";
    element.setAttribute("aria-valuenow", String(reachedIndex + 1));
    element.setAttribute("aria-valuetext", point ? `${point.text} · ${say("at_step", { i: point.step + 1 })}` : "–");
  }
  return { element, show };
}
