/** The graph pane as SVG: a heading that stays, and the body that scrolls under it. */

import { graphColumn } from "../../layout/graph/graph_sizes.ts";
import { FONT_SIZES } from "../../layout/text/metrics.ts";
import { isInVisibleBand, type HeightBand } from "../../layout/view.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, textMark } from "../../browser/shapes.ts";
import { unreadLeafMark } from "./attached_leaf_mark.ts";
import { unreadLeavesLineMark, graphTitleMark } from "./graph_fold.ts";
import { nodePlaceMark } from "./graph_node.ts";
import { wrapText } from "../svg_document.ts";
import type { EdgePlace } from "../../layout/graph/graph_edges.ts";
import type { GraphPane } from "../../layout/graph/graph_pane.ts";
import type { RenderContext } from "../render_context.ts";
import type { NodePlace } from "../../layout/graph/graph_places.ts";

/** `band` is what of the body is drawn. The heading is 24 high. */
export function graphMarks(
  renderContext: RenderContext,
  pane: GraphPane,
  band: HeightBand,
): { heading: VNode[]; body: VNode[] } {
  const { labels } = renderContext;
  const body: VNode[] = [];
  const emptyText = renderContext.hadGraph ? labels.graphGone : labels.noGraph;
  if (pane.empty)
    for (const [k, line] of wrapText(emptyText, pane.w - 22, FONT_SIZES.small).entries())
      body.push(textMark("graph-empty", 14, 20 + 17 * k, line, `empty ${k}`));
  const edges = pane.edges.filter(({ top, bottom }) => isInVisibleBand(band, top, bottom));
  for (const edge of edges) if (!edge.lane) body.push(graphEdgeMark(renderContext, edge));
  for (const row of pane.rows)
    if (row.block.lane && row.dot && isInVisibleBand(band, row.y, row.y)) body.push(railCrossingMark(row));
  for (const edge of edges) if (edge.lane) body.push(graphEdgeMark(renderContext, edge));
  for (const title of pane.titles)
    if (isInVisibleBand(band, title.y, title.y + 20)) body.push(graphTitleMark(labels, title, pane.w));
  for (const row of pane.rows) {
    if (!isInVisibleBand(band, row.top, row.bottom)) continue;
    const { railed } = graphColumn(row.block.component, pane.w);
    body.push(nodePlaceMark(renderContext, row, railed));
  }
  for (const leaf of pane.idle.leaves) body.push(unreadLeafMark(renderContext, leaf));
  if (pane.idle.line) body.push(unreadLeavesLineMark(labels, pane.idle.line));
  return { heading: graphHeadingMarks(renderContext, pane), body };
}

function graphHeadingMarks({ labels }: RenderContext, pane: GraphPane) {
  const showsDirections = pane.w > 240 && !pane.empty;
  return [
    textMark("lane-head", 14, 16, labels.graph, "graph"),
    showsDirections &&
      textMark("graph-directions end", pane.w - 10, 16, `${labels.programDown}   ${labels.gradientsUp}`, "directions"),
  ].filter((mark) => mark !== false);
}

/** Gaps in the rails that the line from a node to its own rail crosses. */
function railCrossingMark({ uid, rail, x, cy }: NodePlace) {
  return pathMark("rail-bridge", `M${rail + 6} ${cy}H${x - 3}`, `bridge ${uid}`);
}

function graphEdgeMark({ snap }: RenderContext, edge: EdgePlace) {
  const { x, y, up } = edge.arrow ?? { x: 0, y: 0, up: true };
  return h(
    "g",
    {
      key: `edge ${edge.key} ${edge.to}`,
      class: classNames("edge", edge.flow, edge.past && "past", snap.fresh.has(edge.from) && "fresh"),
      "data-edge": edge.key,
      "data-from": edge.from,
      "data-to": edge.to,
      target: { kind: "edge", key: edge.key, from: edge.from, to: edge.to },
    },
    pathMark("edge-line", edge.d, "line"),
    edge.arrow && pathMark("arrow", up ? `M${x} ${y}l-4.5 8h9z` : `M${x} ${y}l-8 -4.5v9z`, "arrow"),
  );
}
