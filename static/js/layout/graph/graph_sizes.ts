/** Sizes of the graph pane in units, and how high a node with its leaves and gradients is. */

import type { GraphComponent, GraphSizes, NodeBlock } from "./graph_parts.ts";

export const NORMAL_GRAPH_SIZES: GraphSizes = {
  ...{ node: 26, nodeFont: 14, leafLine: 24, leaf: 20, nameFont: 12, leavesGap: 4 },
  ...{ chip: 20, chipLine: 24, chipFont: 12, slot: 18 },
};
/** Where a whole graph of few nodes has its pane to itself. */
export const LARGE_GRAPH_SIZES: GraphSizes = {
  ...{ node: 38, nodeFont: 20, leafLine: 34, leaf: 28, nameFont: 14, leavesGap: 4 },
  ...{ chip: 26, chipLine: 32, chipFont: 14, slot: 22 },
};
/** Second words, wherever they stand. */
export const GRAPH_WORD_FONT_SIZE = 12;
const NODE_GAP = 12;
const FIRST_NODE_GAP = 4;
export const GRAPH_FOLD_HEIGHT = 24;
export const GRAPH_TITLE_HEIGHT = 20;
/** Above and below everything. */
export const GRAPH_TOP_PADDING = 4;
export const GRAPH_BOTTOM_PADDING = 6;
/** From one rail to the next, where there is room. */
const GRAPH_RAIL_SPACING = 12;
/** The least room that a gradient and the name of where it goes take. */
const MIN_GRADIENT_WIDTH = 180;
/** A node shows so many lines of gradients; the rest is counted. */
const MAX_GRADIENT_LINES = 8;
/** The part of the width that rails may take: less of a narrow pane. */
const maxRailsShare = (w: number) => (w < 340 ? 0.17 : 0.3);

/** where a graph's lines begin and end */
export interface GraphColumn {
  left: number;
  right: number;
  /** whether it has rails at their left, `pitch` apart */
  railed: boolean;
  pitch: number;
  sizes: GraphSizes;
}

/** Above a node with gradients on their way. */
export function gapWithGradients(sizes: GraphSizes) {
  return sizes.chip + 8;
}

/** Below a node where a backward begins. */
export function initialGradientHeight(sizes: GraphSizes) {
  return sizes.chip + 10;
}

/** `w` is the pane's width. */
export function graphColumn(component: GraphComponent, w: number, sizes = NORMAL_GRAPH_SIZES): GraphColumn {
  const { lanes } = component.rails;
  const railed = lanes > 1;
  const pitch = railed ? Math.min(GRAPH_RAIL_SPACING, (maxRailsShare(w) * w) / lanes) : 0;
  return { left: railed ? 10 + lanes * pitch : 6, right: w - 8, railed, pitch, sizes };
}

/** The middle of a rail: the first, of the longest chain, is beside the nodes, so that their lines to it cross no
 * other. */
export function graphRailX(column: GraphColumn, lane: number) {
  return column.railed ? column.left + 4 - (lane + 1) * column.pitch : column.left + 18;
}

/** From one edge to another between the same two nodes. */
export function parallelEdgeSpacing(sizes: GraphSizes) {
  return sizes.nodeFont > 14 ? 26 : 14;
}

/** Whether two edges of a node lead to the same one. */
export function hasParallelEdges({ inputs }: Pick<NodeBlock, "inputs">) {
  return inputs.some(({ to }, n) => inputs.findIndex((other) => other.to === to) < n);
}

/** How many gradients stand beside each other above a node, and in how many lines. */
export function gradientLineCounts(block: NodeBlock, column: GraphColumn) {
  const beside = hasParallelEdges(block) ? 1 : Math.floor((column.right - column.left - 18) / MIN_GRADIENT_WIDTH);
  const perLine = Math.max(1, beside);
  return { beside: perLine, lines: Math.min(MAX_GRADIENT_LINES, Math.ceil(block.inputs.length / perLine)) };
}

/** The room above a node and its leaves. `hasChips`: gradients are there on their way to other nodes. */
export function gapAboveNode(block: NodeBlock, column: GraphColumn, hasChips: boolean) {
  if (hasChips && block.inputs.length)
    return gapWithGradients(column.sizes) + (gradientLineCounts(block, column).lines - 1) * column.sizes.chipLine;
  return block.line === 0 ? FIRST_NODE_GAP : NODE_GAP;
}

/** How high so many lines of docked leaves are. */
export function attachedLeavesHeight(count: number, sizes: GraphSizes) {
  return count ? count * sizes.leafLine + sizes.leavesGap : 0;
}
