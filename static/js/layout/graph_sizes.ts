/** Sizes of the graph pane in units, and how high a node with its leaves and gradients is. */

import type { GraphComponent, NodeBlock } from "./graph_parts.ts";

/** A node's line when open, and when slim with the room above it. */
export const OPEN_NODE_HEIGHT = 24;
export const COLLAPSED_NODE_HEIGHT = 20;
export const COLLAPSED_NODE_GAP = 7;
/** A docked leaf's line, and the room between the last of them and the node. */
export const ATTACHED_LEAF_HEIGHT = 22;
const ATTACHED_LEAVES_BOTTOM_GAP = 4;
/** Above a node: with gradients on their way, without, and above a graph's first. */
export const NODE_GAP_WITH_GRADIENTS = 26;
export const GRADIENT_LINE_HEIGHT = 22;
const NODE_GAP = 12;
const FIRST_NODE_GAP = 4;
/** Below a node where a backward begins. */
export const INITIAL_GRADIENT_HEIGHT = 26;
export const GRAPH_FOLD_HEIGHT = 22;
export const GRAPH_TITLE_HEIGHT = 20;
/** Above and below everything. */
export const GRAPH_TOP_PADDING = 4;
export const GRAPH_BOTTOM_PADDING = 6;
/** From one rail to the next, where there is room. */
const GRAPH_RAIL_SPACING = 12;
/** The least room that a gradient and the name of where it goes take. */
const MIN_GRADIENT_WIDTH = 160;
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
}

/** @param w the pane's width */
export function graphColumn(component: GraphComponent, w: number): GraphColumn {
  const { lanes } = component.rails;
  const railed = lanes > 1;
  const pitch = railed ? Math.min(GRAPH_RAIL_SPACING, (maxRailsShare(w) * w) / lanes) : 0;
  return { left: railed ? 10 + lanes * pitch : 6, right: w - 8, railed, pitch };
}

/** The middle of a rail: the first, of the longest chain, is beside the nodes, so that their lines to it cross no
 * other. */
export function graphRailX(column: GraphColumn, lane: number) {
  return column.railed ? column.left + 4 - (lane + 1) * column.pitch : column.left + 18;
}

/** How many gradients stand beside each other above a node, and in how many lines. */
export function gradientLineCounts(block: NodeBlock, column: GraphColumn) {
  const perLine = Math.max(1, Math.floor((column.right - column.left - 18) / MIN_GRADIENT_WIDTH));
  return { beside: perLine, lines: Math.min(MAX_GRADIENT_LINES, Math.ceil(block.inputs.length / perLine)) };
}

/** The room above a node and its leaves. @param hasChips whether gradients are there on their way to other nodes */
export function gapAboveNode(block: NodeBlock, column: GraphColumn, hasChips: boolean) {
  if (hasChips && block.inputs.length)
    return NODE_GAP_WITH_GRADIENTS + (gradientLineCounts(block, column).lines - 1) * GRADIENT_LINE_HEIGHT;
  return block.line === 0 ? FIRST_NODE_GAP : NODE_GAP;
}

/** How high docked leaves are. @param count of their lines */
export function attachedLeavesHeight(count: number) {
  return count ? count * ATTACHED_LEAF_HEIGHT + ATTACHED_LEAVES_BOTTOM_GAP : 0;
}

/** How many of a node's leaves have a line in a room of this height. */
export function shownLeafCount(count: number, height: number) {
  const maxLines = Math.max(4, Math.floor((height * 0.6) / ATTACHED_LEAF_HEIGHT));
  return count > maxLines ? maxLines : count;
}
