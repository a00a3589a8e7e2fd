/** The graph pane of a run whose nodes don't all have room: the map of all of them, and beside it what the step did. */

import { layoutGraphFocus, type GraphFocus } from "./graph_focus.ts";
import { layoutGraphMap, type GraphMap } from "./graph_map.ts";
import type { GraphStep } from "./graph_step.ts";
import type { PaneRoom, Rect } from "../pane.ts";

/** Beside the focus, and between it and the line to the map. */
const FOCUS_MARGIN = 14;
const JOIN_ROOM = 18;
const FOCUS_BOTTOM = 10;

export interface GraphOverview {
  map: GraphMap;
  focus: GraphFocus;
  top: number;
  anchors: Map<string, Rect>;
  /** by uid, the key of the line that counts it */
  folds: Map<string, string>;
  /** what the step touched, what matters most first */
  touched: Rect[];
}

/** `w` is the overview's width; the focus stands below the height `top`. */
export function layoutGraphOverview(
  graphStep: GraphStep,
  room: PaneRoom,
  { w, top }: NonNullable<PaneRoom["overview"]>,
): GraphOverview {
  const left = Math.max(0, room.w - w);
  const area = { x: FOCUS_MARGIN, y: top, w: left - FOCUS_MARGIN - JOIN_ROOM, h: room.h - top - FOCUS_BOTTOM };
  const focus = layoutGraphFocus(graphStep, area);
  const drawn = new Set(focus.edges.map(({ key }) => key));
  const map = layoutGraphMap(graphStep, { left, w: room.w - left, h: room.h }, drawn);
  const anchors = overviewAnchors(map, focus);
  const folds = new Map<string, string>();
  for (const { key, uids } of map.rest) for (const uid of uids) if (!anchors.has(uid)) folds.set(uid, key);
  const first = focus.nodes.filter(({ join }) => join);
  return {
    map,
    focus,
    top,
    anchors,
    folds,
    touched: [...first, ...focus.nodes.filter(({ join }) => !join)].map(toRect),
  };
}

/** Where each node is drawn: in the focus, else as a dot. */
function overviewAnchors(map: GraphMap, { nodes }: GraphFocus) {
  const anchors = new Map<string, Rect>();
  const isLeaf = new Set(map.dots.filter(({ kind }) => kind === "leaf").map(({ uid }) => uid));
  for (const dot of map.dots) {
    if (dot.again && anchors.has(dot.uid)) continue;
    anchors.set(dot.uid, toRect(dot));
    if (isLeaf.has(dot.uid)) anchors.set(`dock ${dot.uid}`, toRect(dot));
  }
  for (const node of nodes) {
    anchors.set(node.uid, toRect(node));
    if (node.kind === "leaf") anchors.set(`dock ${node.uid}`, toRect(node));
    for (const slot of node.slots) anchors.set(slot.key, toRect(slot));
  }
  return anchors;
}

function toRect({ x, y, w, h }: Rect): Rect {
  return { x, y, w, h };
}
