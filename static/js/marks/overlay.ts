/** What lies over both panes of the stage: links between them, and labels for what of the step is out of sight. */

import { linksBetweenPanes } from "../layout/links.ts";
import { PANE_HEADING_HEIGHT, type PaneSide, type StagePlan } from "../layout/stage_plan.ts";
import { offscreenContentMark, paneLinkMark } from "./link.ts";
import type { VNode } from "../browser/svg.ts";
import type { Rect } from "../layout/pane.ts";
import type { StageLabels } from "./labels.ts";
import type { RenderContext } from "./render_context.ts";

/** a pane, by how far it is scrolled, in units */
interface ScrolledPane {
  scrolled: number;
  beyond: () => { above: Rect[]; below: Rect[] };
}

/** `selected` is a uid. */
export function stageOverlayMarks(
  renderContext: RenderContext,
  plan: StagePlan,
  panes: Record<PaneSide, ScrolledPane>,
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
  };
  const lines = linksBetweenPanes(renderContext, plan, selected).map((link) => paneLinkMark(link, frame));
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
