/** The two lanes of the common timeline: where both sides do the same, where they differ, where one has nothing. */

import type { Comparison } from "./comparison.ts";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const TIMELINE_LANE_HEIGHT = 8;
const TIMELINE_LANE_GAP = 5;

/** The lanes are as wide as there are rows, to be stretched. */
export function timelineLanesElement({ left, right, rows, differences, apart }: Comparison): SVGElement {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(rows.length, 1)} ${2 * TIMELINE_LANE_HEIGHT + TIMELINE_LANE_GAP}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const isDifferent = rows.map(() => false);
  for (const { from, to } of differences) for (let k = from; k <= to; k++) isDifferent[k] = true;
  const paths: Record<string, string> = { "lane-same": "", "lane-left": "", "lane-right": "", "lane-raised": "" };
  let [l, r] = [-1, -1];
  rows.forEach((row, k) => {
    const sides = [
      { step: row.left > l ? left.trace.steps[row.left] : null, own: "lane-left", y: 0 },
      {
        step: row.right > r ? right.trace.steps[row.right] : null,
        own: "lane-right",
        y: TIMELINE_LANE_HEIGHT + TIMELINE_LANE_GAP,
      },
    ];
    [l, r] = [row.left, row.right];
    for (const { step, own: ownClass, y } of sides) {
      if (!step) continue;
      const laneClass = step.kind === "raise" ? "lane-raised" : isDifferent[k] || !row.both ? ownClass : "lane-same";
      paths[laneClass] += `M${k + 0.08} ${y}h0.84v${TIMELINE_LANE_HEIGHT}h-0.84z`;
    }
  });
  for (const [name, d] of Object.entries(paths)) svg.append(svgPathElement(name, d));
  if (apart !== null)
    svg.append(svgPathElement("lane-apart", `M${apart} 0v${2 * TIMELINE_LANE_HEIGHT + TIMELINE_LANE_GAP}`));
  return svg;
}

function svgPathElement(name: string, d: string) {
  const path = document.createElementNS(SVG_NAMESPACE, "path");
  path.setAttribute("class", name);
  path.setAttribute("d", d);
  path.setAttribute("vector-effect", "non-scaling-stroke");
  return path;
}
