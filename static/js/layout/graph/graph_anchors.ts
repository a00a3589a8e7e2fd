/** Where the graph pane draws what: anchors by uid, and what the step touched. */

import type { UnreadLeafPlaces } from "./unread_leaves.ts";
import type { GraphStep } from "./graph_step.ts";
import type { Rect } from "../pane.ts";
import type { NodePlace } from "./graph_places.ts";

/** Places by uid, by `n5:self` and by `dock n2`. */
export function graphAnchorRects(rows: NodePlace[], idle: UnreadLeafPlaces): Map<string, Rect> {
  const anchors = new Map<string, Rect>();
  for (const row of rows) {
    anchors.set(row.uid, toRect(row));
    for (const slot of row.slots) anchors.set(slot.key, toRect(slot));
    for (const dock of row.docks) {
      for (const shaping of dock.shapings) anchors.set(shaping.uid, toRect(shaping));
      if (dock.again) continue;
      anchors.set(dock.leaf, toRect(dock));
      anchors.set(`dock ${dock.leaf}`, toRect(dock));
    }
  }
  for (const leaf of idle.leaves) {
    anchors.set(leaf.leaf, toRect(leaf));
    anchors.set(`dock ${leaf.leaf}`, toRect(leaf));
  }
  return anchors;
}

function toRect({ x, y, w, h }: Rect): Rect {
  return { x, y, w, h };
}

/** What a step touched and is drawn: the visited node with its leaves and gradients first, then where they go, then
 * the rest. */
export function touchedGraphRects(graphStep: GraphStep, rows: NodePlace[], anchors: Map<string, Rect>): Rect[] {
  const visited = graphStep.visitedNode ? anchors.get(graphStep.visitedNode) : undefined;
  const row = rows.find(({ uid }) => uid === graphStep.visitedLine);
  const wholeRow = row && { x: row.x, y: row.top, w: row.w, h: row.bottom - row.top };
  const otherRects = [...graphStep.gradientTargets, ...graphStep.touched.uids].flatMap((uid) => anchors.get(uid) ?? []);
  return [visited, wholeRow, ...otherRects].filter((rect) => rect !== undefined);
}
