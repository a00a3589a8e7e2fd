/** What lies over both panes of the stage: links between them, and labels for what of the step is out of sight. */

import { linksBetweenPanes } from "../layout/links.ts";
import { PANE_HEADING_HEIGHT, type PaneSide, type StagePlan } from "../layout/stage_plan.ts";
import { offscreenContentMark, paneLinkMark } from "./link.ts";
import type { VNode } from "../browser/svg.ts";
import type { Rect } from "../layout/pane.ts";
import type { StageLabels } from "./labels.ts";
import type { StepFacts } from "./step_facts.ts";

/** a pane, by how far it is scrolled, in units */
interface Scrolled {
  scrolled: number;
  beyond: () => { above: Rect[]; below: Rect[] };
}

/** How far right of the list of names a link to one of them passes. */
const GUTTER_OFFSET = 5;
/** How far above what the step touched. */
const FOCUS_CLEARANCE = 2;

/**
 * Where a link to the list of names passes, so that it crosses nothing of what the step touched; null where there is no
 * list. `shift` turns a height of the memory into one of the stage.
 */
function wayAroundFocus({ memory }: StagePlan, shift: number): { x: number; y: number } | null {
  const listEnd = memory?.staying?.to;
  if (!memory || listEnd === undefined) return null;
  const tops = [...memory.anchors.values()].filter(({ x }) => x > listEnd).map(({ y }) => y);
  return tops.length ? { x: listEnd + GUTTER_OFFSET, y: Math.min(...tops) - FOCUS_CLEARANCE + shift } : null;
}

/** `selected` is a uid. */
export function stageOverlayMarks(
  stepFacts: StepFacts,
  plan: StagePlan,
  panes: Record<PaneSide, Scrolled>,
  selected: string | null,
  labels: StageLabels,
): VNode[] {
  const { widths, height } = plan;
  const right = widths.memory + widths.graph;
  const frame = {
    divider: widths.memory,
    right,
    top: PANE_HEADING_HEIGHT,
    bottom: PANE_HEADING_HEIGHT + height,
    memory: PANE_HEADING_HEIGHT - panes.memory.scrolled,
    graph: PANE_HEADING_HEIGHT - panes.graph.scrolled,
    aroundFocus: wayAroundFocus(plan, PANE_HEADING_HEIGHT - panes.memory.scrolled),
  };
  const lines = linksBetweenPanes(stepFacts, plan, selected).map((link) => paneLinkMark(link, frame));
  const rightEdges = { memory: widths.memory - 4, graph: right - 4 };
  const counts = (["memory", "graph"] as const).flatMap((side) => {
    if (!plan[side]) return [];
    const { above, below } = panes[side].beyond();
    return [
      above.length
        ? offscreenContentMark(
            side,
            "above",
            `↑ ${above.length} ${labels.more}`,
            rightEdges[side],
            frame.top,
            above[0].y,
          )
        : null,
      below.length
        ? offscreenContentMark(
            side,
            "below",
            `↓ ${below.length} ${labels.more}`,
            rightEdges[side],
            frame.bottom,
            below[0].y,
          )
        : null,
    ];
  });
  return [...lines, ...counts].filter((mark) => mark !== null);
}
