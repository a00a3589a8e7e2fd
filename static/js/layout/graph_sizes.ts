/** Sizes of the graph pane in units, and how high a node with its leaves and gradients is. */

import type { Component, Block } from "./graph_parts.ts";

/** A node's line when open, and when slim with the room above it. */
export const NODE = 24;
export const SLIM = 20;
export const SLIM_GAP = 7;
/** A docked leaf's line, and the room between the last of them and the node. */
export const DOCK = 22;
const DOCK_FOOT = 4;
/** Above a node: with gradients on their way, without, and above a graph's first. */
export const CHIP_GAP = 26;
export const CHIP_LINE = 22;
const GAP = 12;
const TOP_GAP = 4;
/** Below a node where a backward begins. */
export const SEED = 26;
export const FOLD = 22;
export const TITLE = 20;
/** Above and below everything. */
export const PAD = 4;
export const FOOT = 6;
/** From one rail to the next, where there is room. */
const RAIL_PITCH = 12;
/** The least room that a gradient and the name of where it goes take. */
const CHIP_ROOM = 160;
/** A node shows so many lines of gradients; the rest is counted. */
const MAX_CHIP_LINES = 8;
/** The part of the width that rails may take: less of a narrow pane. */
const railsShare = (w: number) => (w < 340 ? 0.17 : 0.3);

/** where a graph's lines begin and end */
export interface Column {
  left: number;
  right: number;
  /** whether it has rails at their left, `pitch` apart */
  railed: boolean;
  pitch: number;
}

/** @param w the pane's width */
export function columnOf(component: Component, w: number): Column {
  const { lanes } = component.rails;
  const railed = lanes > 1;
  const pitch = railed ? Math.min(RAIL_PITCH, (railsShare(w) * w) / lanes) : 0;
  return { left: railed ? 10 + lanes * pitch : 6, right: w - 8, railed, pitch };
}

/** The middle of a rail: the first, of the longest chain, is beside the nodes, so that their lines to it cross no
 * other. */
export function railX(column: Column, lane: number) {
  return column.railed ? column.left + 4 - (lane + 1) * column.pitch : column.left + 18;
}

/** How many gradients stand beside each other above a node, and in how many lines. */
export function chipLines(block: Block, column: Column) {
  const perLine = Math.max(1, Math.floor((column.right - column.left - 18) / CHIP_ROOM));
  return { beside: perLine, lines: Math.min(MAX_CHIP_LINES, Math.ceil(block.inputs.length / perLine)) };
}

/** The room above a node and its leaves. @param hasChips whether gradients are there on their way to other nodes */
export function gapAbove(block: Block, column: Column, hasChips: boolean) {
  if (hasChips && block.inputs.length) return CHIP_GAP + (chipLines(block, column).lines - 1) * CHIP_LINE;
  return block.line === 0 ? TOP_GAP : GAP;
}

/** How high docked leaves are. @param count of their lines */
export function docksHeight(count: number) {
  return count ? count * DOCK + DOCK_FOOT : 0;
}

/** How many of a node's leaves have a line in a room of this height. */
export function shownDockCount(count: number, height: number) {
  const maxLines = Math.max(4, Math.floor((height * 0.6) / DOCK));
  return count > maxLines ? maxLines : count;
}
