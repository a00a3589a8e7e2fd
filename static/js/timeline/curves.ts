/** Small curves of the scalars that a loop binds or prints; each is also a slider over the steps that made its values. */

import { findScalarSeries, type SeriesPoint, type ScalarSeries } from "./scalar_series.ts";
import { h, patchHost, SVG_NAMESPACE, type VNode } from "../browser/svg.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** Units of the drawing: it is stretched to its width, lines keep theirs. */
export const CURVE_WIDTH = 100;
export const CURVE_HEIGHT = 24;
const CURVE_MARGIN = 3;
const CURVE_VALUE_DIGITS = 7;

type CurvePoint = Pick<SeriesPoint, "x" | "value">;

/** The last point that a step has passed; -1 before the first. */
export function pointIndexAt(points: SeriesPoint[], step: number) {
  return points.findLastIndex((point) => point.step <= step);
}

/** The point nearest to a share of the width. @param share from 0 to 1 */
export function nearestPointIndex(points: SeriesPoint[], share: number) {
  const x = points[0].x + share * (points[points.length - 1].x - points[0].x);
  return points.reduce((best, point, k) => (Math.abs(point.x - x) < Math.abs(points[best].x - x) ? k : best), 0);
}

/**
 * The curve of a series as SVG: what has passed, what is to come, and the point that was reached.
 * @param reached index of the point that was reached, -1 for none
 * @param scaledBy all points that the height has room for, those of curves beside this one too
 * @returns numbers that are not finite are ticks at the top
 */
export function seriesCurveMarks(points: CurvePoint[], reached: number, scaledBy = points): VNode[] {
  const finite = scaledBy.map(({ value }) => value).filter(Number.isFinite);
  const lowest = Math.min(...finite);
  const range = Math.max(...finite) - lowest || 1;
  const width = points[points.length - 1].x - points[0].x || 1;
  const plotPoints = points.map(({ x, value }) => ({
    x: CURVE_MARGIN + ((x - points[0].x) / width) * (CURVE_WIDTH - 2 * CURVE_MARGIN),
    y: Number.isFinite(value)
      ? CURVE_HEIGHT - CURVE_MARGIN - ((value - lowest) / range) * (CURVE_HEIGHT - 2 * CURVE_MARGIN)
      : null,
  }));
  const pathBetween = (from: number, to: number) => {
    let d = "";
    for (let k = from; k <= to; k++) {
      const { x, y } = plotPoints[k];
      if (y !== null)
        d += `${k === from || plotPoints[k - 1].y === null ? "M" : "L"}${roundCoordinate(x)} ${roundCoordinate(y)}`;
    }
    return d;
  };
  const ticks = plotPoints.map(({ x, y }) => (y === null ? `M${roundCoordinate(x)} 0V6` : "")).join("");
  const dotY = plotPoints[reached]?.y === null ? CURVE_MARGIN : plotPoints[reached]?.y;
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
      h("path", {
        key: "dot",
        class: "curve-dot",
        d: `M${roundCoordinate(plotPoints[reached].x)} ${roundCoordinate(dotY)}h0`,
        ...stroke,
      }),
  ].filter((mark) => typeof mark === "object");
}

function pointValueLabel({ value, text }: SeriesPoint) {
  return text.length > CURVE_VALUE_DIGITS && Number.isFinite(value) ? value.toPrecision(CURVE_VALUE_DIGITS - 2) : text;
}

function roundCoordinate(value: number) {
  return Math.round(value * 100) / 100;
}

/** @param go called with the step of a point that the reader chose */
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
    const reached = pointIndexAt(points, step);
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
