/** The two lanes of the common timeline: where both sides do the same, where they differ, where one has nothing. */

import type { Comparison } from "./comparison.ts";

const SVG = "http://www.w3.org/2000/svg";
const LANE_HEIGHT = 8;
const LANE_GAP = 5;

/** @returns as wide as there are rows, to be stretched */
export function lanesElement({ left, right, rows, differences, apart }: Comparison): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(rows.length, 1)} ${2 * LANE_HEIGHT + LANE_GAP}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const isDifferent = rows.map(() => false);
  for (const { from, to } of differences) for (let k = from; k <= to; k++) isDifferent[k] = true;
  const paths: Record<string, string> = { "lane-same": "", "lane-left": "", "lane-right": "", "lane-raised": "" };
  let [l, r] = [-1, -1];
  rows.forEach((row, k) => {
    const sides = [
      { step: row.left > l ? left.trace.steps[row.left] : null, own: "lane-left", y: 0 },
      { step: row.right > r ? right.trace.steps[row.right] : null, own: "lane-right", y: LANE_HEIGHT + LANE_GAP },
    ];
    [l, r] = [row.left, row.right];
    for (const { step, own: ownClass, y } of sides) {
      if (!step) continue;
      const laneClass = step.kind === "raise" ? "lane-raised" : isDifferent[k] || !row.both ? ownClass : "lane-same";
      paths[laneClass] += `M${k + 0.08} ${y}h0.84v${LANE_HEIGHT}h-0.84z`;
    }
  });
  for (const [name, d] of Object.entries(paths)) svg.append(pathElement(name, d));
  if (apart !== null) svg.append(pathElement("lane-apart", `M${apart} 0v${2 * LANE_HEIGHT + LANE_GAP}`));
  return svg;
}

function pathElement(name: string, d: string) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", name);
  path.setAttribute("d", d);
  path.setAttribute("vector-effect", "non-scaling-stroke");
  return path;
}
