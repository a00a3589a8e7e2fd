/** The loom's edges: each climbs the lane of the node that it leads to. */

import { isInVisibleBand } from "../../layout/view.ts";
import { classNames, h } from "../../browser/svg.ts";
import { pathMark } from "../../browser/shapes.ts";
import { clampToBand, type LoomScene } from "./loom_scene.ts";
import { NODE_RADIUS } from "./loom_node.ts";

/** Every edge: up the lane of the node that it leads to. */
export function loomEdgeMarks({ plan, opened, band, now, i }: LoomScene) {
  const marks = [];
  for (const [k, trunk] of plan.trunks.entries())
    if (isInVisibleBand(band, trunk.y0, trunk.y1))
      marks.push(
        pathMark(
          "loom-edge",
          `M${trunk.x} ${clampToBand(band, trunk.y0 + NODE_RADIUS)}V${clampToBand(band, trunk.y1 - 14)}`,
          `trunk ${k}`,
        ),
      );
  for (const edge of plan.edges) {
    const { x0, y0, x1, y1 } = edge;
    if (!isInVisibleBand(band, y0, y1)) continue;
    const visitStep = (plan.run.visits.get(edge.from) ?? []).findLast((k) => k <= i);
    const passedGrad =
      visitStep !== undefined && opened.trace.steps[visitStep].visit?.grad_inputs?.[Number(edge.key.split(":")[1])];
    const flowsNow = passedGrad && plan.run.rowOfStep[visitStep] === now;
    const arrowY = flowsNow ? y1 + NODE_RADIUS + 4 : Math.max(y0 - 14, y1 + NODE_RADIUS + 1);
    if (!isInVisibleBand(band, arrowY, y0)) continue;
    const d =
      x0 === x1
        ? `M${x0} ${clampToBand(band, y0 - NODE_RADIUS)}V${clampToBand(band, arrowY)}`
        : roundedPath(
            [
              [x0, y0],
              [x1, y0],
              [x1, clampToBand(band, Math.min(arrowY, y0 - 2))],
            ],
            9,
          );
    marks.push(
      h(
        "g",
        {
          key: `edge ${edge.key}`,
          class: classNames(
            "loom-strand",
            flowsNow && "flows",
            passedGrad && !flowsNow && "spent",
            visitStep === i && "running",
          ),
          "data-loom-edge": edge.key,
        },
        pathMark("loom-edge", d, "line"),
        (flowsNow || y0 - y1 < 4000) && pathMark("loom-tip", `M${x1} ${y1 + NODE_RADIUS + 1}l4 7h-8z`, "arrow"),
      ),
    );
  }
  return marks;
}

/** A path's commands from point to point, its corners rounded with the radius `r`. */
export function roundedPath(points: [number, number][], r: number) {
  let d = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i];
    const nextPoint = points[i + 1];
    if (!nextPoint) {
      d += `L${x} ${y}`;
      continue;
    }
    const [px, py] = points[i - 1];
    const cornerRadius = Math.min(
      r,
      Math.hypot(x - px, y - py) / 2,
      Math.hypot(nextPoint[0] - x, nextPoint[1] - y) / 2,
    );
    const cornerStart = [x - Math.sign(x - px) * cornerRadius, y - Math.sign(y - py) * cornerRadius];
    const cornerEnd = [x + Math.sign(nextPoint[0] - x) * cornerRadius, y + Math.sign(nextPoint[1] - y) * cornerRadius];
    d += `L${cornerStart[0]} ${cornerStart[1]}Q${x} ${y} ${cornerEnd[0]} ${cornerEnd[1]}`;
  }
  return d;
}
