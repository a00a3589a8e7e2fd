/**
 * The graph pane of the stage: program order from top to bottom, gradients climb up; what a step touched is in sight.
 */

import { graphAnchorRects, touchedGraphRects, closedFoldByUid } from "./graph_anchors.ts";
import { shareLeafLabelLength } from "./graph_docks.ts";
import { edgesToAttachedLeaves, edgesBetweenNodes, type EdgePlace } from "./graph_edges.ts";
import { placeGraphFold, type GraphFoldPlace } from "./graph_folds.ts";
import { placeUnreadLeaves, type UnreadLeafPlaces } from "./graph_idle.ts";
import { assignDetailLevels, type NodeDetailLevel, type CollapsibleLine } from "./graph_levels.ts";
import { buildGraphModel, nodeLabelsByUid } from "./graph_model.ts";
import { layoutNodePlace } from "./graph_row.ts";
import {
  graphColumn,
  attachedLeavesHeight,
  shownLeafCount,
  GRAPH_FOLD_HEIGHT,
  GRAPH_BOTTOM_PADDING,
  gapAboveNode,
  GRAPH_TOP_PADDING,
  initialGradientHeight,
  NORMAL_GRAPH_SIZES,
  COLLAPSED_NODE_HEIGHT,
  COLLAPSED_NODE_GAP,
  GRAPH_TITLE_HEIGHT,
  type GraphColumn,
} from "./graph_sizes.ts";
import { GraphStep, leavesToggleKey } from "./graph_step.ts";
import { fixedGraphPlaces, spreadGraphPlaces } from "./graph_still.ts";
import type { Pane, PaneOptions, Rect, PaneRoom } from "../pane.ts";
import type { NodePlace } from "./graph_places.ts";
import type {
  FixedGraphPlaces,
  GraphModel,
  GraphSizes,
  GraphComponent,
  NodeBlock,
  AttachedLeaf,
} from "./graph_parts.ts";

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
  foldLines: GraphFoldPlace[];
  titles: GraphTitlePlace[];
  idle: UnreadLeafPlaces;
  empty: boolean;
};

/** a living node before it has a place. */
type Line = CollapsibleLine & {
  block: NodeBlock;
  component: GraphComponent;
  /** of its graph */
  first: boolean;
  /** where the room above it begins */
  y: number;
  gap: number;
  /** how many of its leaves have lines */
  docks: number;
  seed: number;
};

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
  const lines = linesOfLivingNodes(graphStep, paneSize, isAtRest ? still.tops : null);
  const idle = graphStep.unreadLeaves();
  if (isAtRest)
    for (const line of lines) showLineInFull(line, graphColumn(line.component, paneSize.w, still.sizes), still.spread);
  else {
    const titles = still.titled ? graphStep.components.length * GRAPH_TITLE_HEIGHT : 0;
    const heightLeft =
      paneSize.h -
      GRAPH_TOP_PADDING -
      GRAPH_BOTTOM_PADDING -
      titles -
      placeUnreadLeaves(graphStep, idle, 0, paneSize.w).height;
    if (lines.reduce((sum, line) => sum + line.full, 0) <= heightLeft) for (const line of lines) line.level = "full";
    else assignDetailLevels(lines, heightLeft);
  }
  const placedLines = placeNodeLines(graphStep, paneSize, lines, still, isAtRest);
  const idlePlacesBelow = placeUnreadLeaves(graphStep, idle, isAtRest ? still.idle : placedLines.end, paneSize.w);
  const sizes = isAtRest ? still.sizes : NORMAL_GRAPH_SIZES;
  return { ...assembleGraphPane(graphStep, paneSize, lines, placedLines, idlePlacesBelow, sizes), still: isAtRest };
}

/**
 * The lines of a step from top to bottom: graphs and nodes as the program made them; graphs at rest as they stand
 * there, at their `tops`.
 */
function linesOfLivingNodes(graphStep: GraphStep, paneSize: PaneRoom, tops: Map<string, number> | null): Line[] {
  const graphs = [...graphStep.components];
  if (tops) graphs.sort((a, b) => (tops.get(a.key) ?? 0) - (tops.get(b.key) ?? 0));
  return graphs.flatMap((component, group) => {
    const column = graphColumn(component, paneSize.w);
    return (graphStep.livingBlocks.get(component.key) ?? []).map((block, n) => {
      const turn = graphStep.visitOrder(block.uid, component);
      const hasRun = turn !== null && turn.step <= graphStep.i;
      const gapHeight = gapAboveNode(block, column, hasRun);
      const leafCount = block.docks.length;
      const shownLeaves = graphStep.toggled.has(leavesToggleKey(block.uid))
        ? leafCount
        : shownLeafCount(leafCount, paneSize.h);
      const seedHeight =
        hasRun && block.seed && !graphStep.mostGradientArrivals(block.uid, component).count
          ? initialGradientHeight(column.sizes)
          : 0;
      return {
        block,
        component,
        first: n === 0,
        y: 0,
        gap: gapHeight,
        docks: shownLeaves,
        seed: seedHeight,
        group,
        level: "slim" as NodeDetailLevel,
        rank: graphStep.displayPriority(block),
        seen: graphStep.lastTouchedStep(block),
        full: gapHeight + attachedLeavesHeight(shownLeaves, column.sizes) + column.sizes.node + seedHeight,
        slim: COLLAPSED_NODE_GAP + COLLAPSED_NODE_HEIGHT,
      };
    });
  });
}

/** `spread` is added above each node but a graph's first. */
function showLineInFull(line: Line, column: GraphColumn, spread: number) {
  const { docks, visited, seed } = line.block;
  line.level = "full";
  line.docks = docks.length;
  line.gap = gapAboveNode(line.block, column, visited) + (line.block.line > 0 ? spread : 0);
  line.seed = seed ? initialGradientHeight(column.sizes) : 0;
  line.full = line.gap + attachedLeavesHeight(line.docks, column.sizes) + column.sizes.node + line.seed;
}

/** Gives every line its height. */
function placeNodeLines(
  graphStep: GraphStep,
  paneSize: PaneRoom,
  lines: Line[],
  still: FixedGraphPlaces,
  isAtRest: boolean,
): { titles: GraphTitlePlace[]; folds: GraphFoldPlace[]; foldOf: Map<string, GraphFoldPlace>; end: number } {
  const placement: ReturnType<typeof placeNodeLines> = {
    titles: [],
    folds: [],
    foldOf: new Map(),
    end: GRAPH_TOP_PADDING,
  };
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n];
    if (line.first && still.titled) {
      if (isAtRest) placement.end = still.tops.get(line.component.key) ?? placement.end;
      placement.titles.push(placeGraphTitle(graphStep, line.component, placement.end));
      placement.end += GRAPH_TITLE_HEIGHT;
    }
    if (isAtRest) placement.end = still.blocks.get(line.block.uid) ?? placement.end;
    const before = lines[n - 1];
    if (line.level === "fold" && (before?.level !== "fold" || line.first))
      placeFoldedRun(graphStep, paneSize, lines, n, placement);
    line.y = placement.end;
    if (line.level !== "fold") placement.end += line[line.level];
  }
  return placement;
}

/** Where a run of folded lines begins: its line, closed, or open with the run as slim lines below it. */
function placeFoldedRun(
  graphStep: GraphStep,
  paneSize: PaneRoom,
  lines: Line[],
  n: number,
  placement: ReturnType<typeof placeNodeLines>,
) {
  const { component, group } = lines[n];
  let end = n;
  while (lines[end]?.level === "fold" && lines[end].group === group) end++;
  const run = lines.slice(n, end);
  const fold = placeGraphFold(
    graphStep,
    run.map(({ block }) => block),
    graphColumn(component, paneSize.w),
    placement.end,
  );
  placement.folds.push(fold);
  placement.end += GRAPH_FOLD_HEIGHT;
  for (const line of run)
    if (fold.open) line.level = "slim";
    else placement.foldOf.set(line.block.uid, fold);
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
    const homeReader = readerOfLeaf.get(leafUid) ?? graphStep.touchedReaderOf(leafUid) ?? reader;
    readerOfLeaf.set(leafUid, homeReader);
    return homeReader === reader;
  };
  const rows = lines.flatMap((line) => {
    if (line.level === "fold") return [];
    const { block, level, y, gap } = line;
    const slim = level === "slim";
    const top = slim ? y + COLLAPSED_NODE_GAP : y + gap + attachedLeavesHeight(line.docks, sizes);
    const docks = slim ? block.docks : leavesWithLines(graphStep, line);
    const position = { level, top: y, bottom: y + line[level], y: top, docks };
    return [layoutNodePlace(graphStep, block, columnOf(line.component), position, isPlaced)];
  });
  shareLeafLabelLength(rows);
  const boxes = new Map([...placedLines.foldOf, ...rows.map((row) => [row.uid, row])] as [string, Rect][]);
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
    ...{ w: paneSize.w, height, rows, edges, foldLines: placedLines.folds, titles: placedLines.titles, idle, anchors },
    folds: closedFoldByUid(placedLines.folds, rows, idle, anchors),
    focus: touchedGraphRects(graphStep, rows, anchors),
    empty: !rows.length && !placedLines.folds.length && !idle.leaves.length && !idle.line,
  };
}

/** A node's leaves that have lines: all, or those that the step is about, and the first. */
function leavesWithLines(graphStep: GraphStep, { block: { docks }, docks: count }: Line) {
  if (count >= docks.length) return docks;
  const isAbout = ({ leaf, vias }: AttachedLeaf) =>
    leaf === graphStep.visitedNode ||
    leaf === graphStep.selected ||
    (graphStep.visitedNode !== null && vias.includes(graphStep.visitedNode));
  const chosen = new Set([...docks.filter(isAbout), ...docks].slice(0, count));
  return docks.filter((dock) => chosen.has(dock));
}
