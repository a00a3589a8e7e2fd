/** Leaves' nodes that no living node reads: they wait for the next graph, in one line below all graphs. */

import { fittedGradientChip } from "../text/grad_chip.ts";
import { GRAPH_FOLD_HEIGHT, GRAPH_WORD_FONT_SIZE, NORMAL_GRAPH_SIZES } from "./graph_sizes.ts";
import { textWidth } from "../text/metrics.ts";
import type { GraphStep, VisitOrder } from "./graph_step.ts";
import type { Rect } from "../pane.ts";
import type { GradientPlace } from "./graph_places.ts";

export type UnreadLeafPlace = Rect & {
  leaf: string;
  label: string;
  turn: VisitOrder | null;
  cy: number;
  lead: number;
  /** of its type */
  font: number;
  /** what a backward that begins at it brings */
  grad: GradientPlace | null;
};

export interface UnreadLeafPlaces {
  /** those that the step touched have a line of their own */
  leaves: UnreadLeafPlace[];
  /** for the others */
  line: (Rect & { key: string; open: boolean; uids: string[]; names: string }) | null;
}

const UNREAD_LEAVES_FOLD_KEY = "graph idle";

/** `w` is the pane's width. */
export function placeUnreadLeaves(graphStep: GraphStep, idle: string[], y: number, w: number): UnreadLeafPlaces {
  const open = graphStep.toggled.has(UNREAD_LEAVES_FOLD_KEY);
  const hasOwnLine = (leafUid: string) =>
    open || leafUid === graphStep.visitedNode || leafUid === graphStep.selected || graphStep.touched.uids.has(leafUid);
  let lineY = y;
  const leaves = idle.filter(hasOwnLine).map((leafUid) => {
    const place = placeUnreadLeaf(graphStep, leafUid, lineY, w);
    lineY += NORMAL_GRAPH_SIZES.leafLine;
    return place;
  });
  const uids = open ? idle : idle.filter((leafUid) => !hasOwnLine(leafUid));
  if (!uids.length) return { leaves, line: null };
  const names = uids.map((leafUid) => graphStep.accumulatorLeafName(leafUid)).join(", ");
  const line = {
    x: 8,
    y: lineY + 2,
    w: w - 16,
    h: GRAPH_FOLD_HEIGHT - 4,
    key: UNREAD_LEAVES_FOLD_KEY,
    open,
    uids,
    names,
  };
  return { leaves, line };
}

function placeUnreadLeaf(graphStep: GraphStep, leafUid: string, y: number, w: number): UnreadLeafPlace {
  const visit = leafUid === graphStep.visitedNode ? graphStep.step?.visit : null;
  const visitFacts = graphStep.model.visits.get(leafUid)?.find((other) => other.step === graphStep.i);
  const label = `${graphStep.accumulatorLeafName(leafUid)}.grad`;
  const x = 14;
  const labelWidth = Math.min(w - 100, Math.ceil(textWidth(label, GRAPH_WORD_FONT_SIZE)) + 36);
  const grad = visit?.grad_outputs.find(Boolean);
  const chip = grad ? fittedGradientChip(grad, w - x - labelWidth - 24, NORMAL_GRAPH_SIZES.chipFont) : null;
  const cy = y + 12;
  return {
    ...{
      leaf: leafUid,
      label,
      cy,
      x,
      y: y + 2,
      w: labelWidth,
      h: NORMAL_GRAPH_SIZES.leaf,
      lead: visitFacts ? 22 : 0,
      font: GRAPH_WORD_FONT_SIZE,
    },
    turn: visitFacts
      ? { k: visitFacts.k, step: visitFacts.step, state: graphStep.step?.visit?.failed ? "failed" : "running" }
      : null,
    grad:
      grad && chip
        ? {
            key: leafUid,
            grad,
            chip,
            now: true,
            to: null,
            x: x + labelWidth + 14,
            y: cy - 10,
            w: chip.width,
            h: NORMAL_GRAPH_SIZES.chip,
          }
        : null,
  };
}
