/**
 * The graph pane of the stage: program order from top to bottom, gradients climb up; what a step touched is in sight.
 */

import { graphAnchorRects, touchedGraphRects } from "./graph_anchors.ts";
import { shareLeafLabelLength } from "./attached_leaves.ts";
import { edgesToAttachedLeaves, edgesBetweenNodes, type EdgePlace } from "./graph_edges.ts";
import { placeUnreadLeaves, type UnreadLeafPlaces } from "./unread_leaves.ts";
import { buildGraphModel, nodeLabelsByUid } from "./graph_model.ts";
import { layoutNodePlace } from "./graph_row.ts";
import {
  graphColumn,
  attachedLeavesHeight,
  GRAPH_BOTTOM_PADDING,
  gapAboveNode,
  GRAPH_TOP_PADDING,
  initialGradientHeight,
  NORMAL_GRAPH_SIZES,
  GRAPH_TITLE_HEIGHT,
} from "./graph_sizes.ts";
import { GraphStep } from "./graph_step.ts";
import { fixedGraphPlaces, spreadGraphPlaces } from "./fixed_graph_places.ts";
import type { Pane, PaneOptions, PaneRoom } from "../pane.ts";
import type { NodePlace } from "./graph_places.ts";
import type { FixedGraphPlaces, GraphModel, GraphSizes, GraphComponent, NodeBlock } from "./graph_parts.ts";

export { buildGraphModel, nodeLabelsByUid };

export interface GraphTitlePlace {
  key: string;
  y: number;
  /** of the result that a graph ends in */
  name: string | null;
  /** whether one is in it, or was */
  backward: "" | "here" | "done";
}

/** its places are by node, `n5:self` for saved slots, `dock n2` for leaves where they stand for themselves */
export type GraphPane = Pane & {
  w: number;
  rows: NodePlace[];
  edges: EdgePlace[];
  titles: GraphTitlePlace[];
  idle: UnreadLeafPlaces;
  empty: boolean;
};

/** a living node before it has a place. */
interface Line {
  block: NodeBlock;
  component: GraphComponent;
  /** of its graph */
  first: boolean;
  /** where the room above it begins */
  y: number;
  /** of that room */
  gap: number;
  /** of all of it, with its leaves and gradients */
  h: number;
}

/** Of a graph without rails, the least width and the part of the stage's: with gradients, and without. */
const CHAIN_WIDTHS = { visited: { least: 270, share: 0.36 }, unvisited: { least: 200, share: 0.3 } };

/** The graph's share of a stage of width `w`; 0 without a graph. */
export function graphPaneWidth(model: GraphModel, w: number): number {
  if (!model.blocks.size && !model.leaves.length) return 0;
  const lanes = model.components.reduce((most, { rails }) => Math.max(most, rails.lanes), 0);
  if (lanes <= 1) {
    const { least, share } = CHAIN_WIDTHS[model.visits.size ? "visited" : "unvisited"];
    return Math.round(Math.min(0.44 * w, Math.max(least, share * w)));
  }
  return Math.round(Math.min(0.44 * w, Math.max(345, 0.385 * w) + 12 * lanes));
}

/** The height from which on every node of the run is in full at a place of its own, in a pane of width `w`. */
export function graphHeightForFixedPlaces(model: GraphModel, w: number) {
  return fixedGraphPlaces(model, w).height;
}

export function layoutGraphPane(model: GraphModel, i: number, paneSize: PaneRoom, options: PaneOptions): GraphPane {
  const graphStep = new GraphStep(model, i, options);
  const spread = spreadGraphPlaces(model, paneSize.w, paneSize.h);
  const still = spread ?? fixedGraphPlaces(model, paneSize.w);
  const isAtRest = spread !== null || paneSize.scrolls === true;
  const lines = linesOfLivingNodes(graphStep, paneSize.w, isAtRest ? still : null);
  const placedLines = placeNodeLines(graphStep, lines, still, isAtRest);
  const idle = graphStep.unreadLeaves();
  const idlePlacesBelow = placeUnreadLeaves(graphStep, idle, isAtRest ? still.idle : placedLines.end, paneSize.w);
  const sizes = isAtRest ? still.sizes : NORMAL_GRAPH_SIZES;
  return { ...assembleGraphPane(graphStep, paneSize, lines, placedLines, idlePlacesBelow, sizes), still: isAtRest };
}

/**
 * The lines of a step from top to bottom: graphs and nodes as the program made them; graphs at rest as they stand
 * there, with the room that they ever need.
 */
function linesOfLivingNodes(graphStep: GraphStep, w: number, rest: FixedGraphPlaces | null): Line[] {
  const graphs = [...graphStep.components];
  if (rest) graphs.sort((a, b) => (rest.tops.get(a.key) ?? 0) - (rest.tops.get(b.key) ?? 0));
  return graphs.flatMap((component) => {
    const column = graphColumn(component, w, rest?.sizes);
    return (graphStep.livingBlocks.get(component.key) ?? []).map((block, n) => {
      const turn = graphStep.visitOrder(block.uid, component);
      const hasRun = rest ? block.visited : turn !== null && turn.step <= graphStep.i;
      const gap = gapAboveNode(block, column, hasRun) + (rest && block.line > 0 ? rest.spread : 0);
      const hasSeed = block.seed && (rest || (hasRun && !graphStep.mostGradientArrivals(block.uid, component).count));
      const seed = hasSeed ? initialGradientHeight(column.sizes) : 0;
      const h = gap + attachedLeavesHeight(block.docks.length, column.sizes) + column.sizes.node + seed;
      return { block, component, first: n === 0, y: 0, gap, h };
    });
  });
}

/** Gives every line its height. */
function placeNodeLines(
  graphStep: GraphStep,
  lines: Line[],
  still: FixedGraphPlaces,
  isAtRest: boolean,
): { titles: GraphTitlePlace[]; end: number } {
  const placement = { titles: [] as GraphTitlePlace[], end: GRAPH_TOP_PADDING };
  for (const line of lines) {
    if (line.first && still.titled) {
      if (isAtRest) placement.end = still.tops.get(line.component.key) ?? placement.end;
      placement.titles.push(placeGraphTitle(graphStep, line.component, placement.end));
      placement.end += GRAPH_TITLE_HEIGHT;
    }
    if (isAtRest) placement.end = still.blocks.get(line.block.uid) ?? placement.end;
    line.y = placement.end;
    placement.end += line.h;
  }
  return placement;
}

function placeGraphTitle(graphStep: GraphStep, component: GraphComponent, y: number): GraphTitlePlace {
  const readUids = new Set(
    (graphStep.livingBlocks.get(component.key) ?? []).flatMap(({ inputs }) => inputs.map(({ to }) => to)),
  );
  const resultBlocks = (graphStep.livingBlocks.get(component.key) ?? [])
    .filter(({ uid }) => !readUids.has(uid))
    .reverse();
  const resultName = resultBlocks.map(({ uid }) => graphStep.outputs.get(uid)?.texts[0]).find(Boolean) ?? null;
  const backward = graphStep.model.backwards.get(graphStep.backwards.get(component.key) ?? "");
  return {
    key: component.key,
    y,
    name: resultName,
    backward: !backward ? "" : graphStep.i <= backward.last ? "here" : "done",
  };
}

function assembleGraphPane(
  graphStep: GraphStep,
  paneSize: PaneRoom,
  lines: Line[],
  placedLines: ReturnType<typeof placeNodeLines>,
  idle: UnreadLeafPlaces,
  sizes: GraphSizes,
): Omit<GraphPane, "still"> {
  const columnOf = (component: GraphComponent) => graphColumn(component, paneSize.w, sizes);
  /** by leaf, the reader at which it stands for itself */
  const readerOfLeaf = new Map<string, string>();
  const isPlaced = (leafUid: string, reader: string) => {
    const attachedReader = readerOfLeaf.get(leafUid) ?? graphStep.touchedReaderOf(leafUid) ?? reader;
    readerOfLeaf.set(leafUid, attachedReader);
    return attachedReader === reader;
  };
  const rows = lines.map((line) => {
    const { block, y, gap } = line;
    const position = { top: y, bottom: y + line.h, y: y + gap + attachedLeavesHeight(block.docks.length, sizes) };
    return layoutNodePlace(graphStep, block, columnOf(line.component), position, isPlaced);
  });
  shareLeafLabelLength(rows);
  const boxes = new Map(rows.map((row) => [row.uid, row]));
  const edges = graphStep.components.flatMap((component) =>
    edgesBetweenNodes(graphStep, component, columnOf(component), (uid) => boxes.get(uid)),
  );
  const connectedUids = new Set(edges.flatMap(({ from, to }) => [from, to]));
  for (const row of rows) row.dot = connectedUids.has(row.uid);
  edges.push(...rows.flatMap((row) => edgesToAttachedLeaves(graphStep, row, columnOf(row.block.component))));
  const anchors = graphAnchorRects(rows, idle);
  const height =
    Math.max(
      placedLines.end,
      idle.line ? idle.line.y + idle.line.h + 2 : 0,
      ...idle.leaves.map((leaf) => leaf.y + NORMAL_GRAPH_SIZES.leafLine),
    ) + GRAPH_BOTTOM_PADDING;
  return {
    ...{ w: paneSize.w, height, rows, edges, titles: placedLines.titles, idle, anchors },
    focus: touchedGraphRects(graphStep, rows, anchors),
    empty: !rows.length && !idle.leaves.length && !idle.line,
  };
}
