/** The curve of the values that a loop gave to one scalar. */

import type { VNode } from "../browser/svg.ts";
import { pathMark } from "../browser/shapes.ts";
import type { SeriesPoint } from "../trace/scalar_series.ts";

/** Units of the drawing: it is stretched to its width, lines keep theirs. */
export const CURVE_WIDTH = 100;
export const CURVE_HEIGHT = 24;
export const CURVE_MARGIN = 3;

type CurvePoint = Pick<SeriesPoint, "x" | "value">;

/**
 * The curve of a series as SVG: what has passed, what is to come, and the point that was reached. `reached` is its
 * index, -1 for none. The height has room for all points of `scaledBy`, those of curves beside this one too. Numbers
 * that are not finite are ticks at the top.
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
      pathMark("curve-later", pathBetween(Math.max(reached, 0), points.length - 1), { key: "later", ...stroke }),
    reached > 0 && pathMark("curve-past", pathBetween(0, reached), { key: "past", ...stroke }),
    ticks && pathMark("curve-tick", ticks, { key: "ticks", ...stroke }),
    dotY !== undefined &&
      pathMark("curve-dot", `M${roundCoordinate(plotPoints[reached].x)} ${roundCoordinate(dotY)}h0`, {
        key: "dot",
        ...stroke,
      }),
  ].filter((mark) => typeof mark === "object");
}

function roundCoordinate(value: number) {
  return Math.round(value * 100) / 100;
}
