/** What lies over both panes of the stage: links between them, and labels for what of the step is out of sight. */

import { stageLinks } from "../layout/links.js";
import { HEADING } from "../layout/stage_plan.js";
import { beyondMark, linkMark } from "./link.js";

/** @typedef {import("../layout/stage_plan.js").StagePlan} StagePlan */
/** @typedef {import("../layout/pane.js").Rect} Rect */
/** @typedef {{scrolled: number, beyond: () => {above: Rect[], below: Rect[]}}} Scrolled   a pane, by how far it is scrolled, in units */

/**
 * @param {import("./step_facts.js").StepFacts} stepFacts @param {StagePlan} plan
 * @param {Record<import("../layout/stage_plan.js").Side, Scrolled>} panes
 * @param {string | null} selected its uid @param {import("./labels.js").Labels} labels
 * @returns {import("../browser/svg.js").VNode[]}
 */
export function drawOverlay(stepFacts, plan, panes, selected, labels) {
  const { widths, height } = plan;
  const right = widths.memory + widths.graph;
  const frame = {
    divider: widths.memory,
    right,
    top: HEADING,
    bottom: HEADING + height,
    memory: HEADING - panes.memory.scrolled,
    graph: HEADING - panes.graph.scrolled,
  };
  const lines = stageLinks(stepFacts, plan, selected).map((link) => linkMark(link, frame));
  const rightEdges = { memory: widths.memory - 4, graph: right - 4 };
  const counts = /** @type {const} */ (["memory", "graph"]).flatMap((side) => {
    if (!plan[side]) return [];
    const { above, below } = panes[side].beyond();
    return [
      above.length
        ? beyondMark(side, "above", `↑ ${above.length} ${labels.more}`, rightEdges[side], frame.top, above[0].y)
        : null,
      below.length
        ? beyondMark(side, "below", `↓ ${below.length} ${labels.more}`, rightEdges[side], frame.bottom, below[0].y)
        : null,
    ];
  });
  return [...lines, ...counts].filter((mark) => mark !== null);
}
