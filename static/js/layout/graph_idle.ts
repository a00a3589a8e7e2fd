/** Leaves' nodes that no living node reads: they wait for the next graph, in one line below all graphs. */

import { gradChip } from "./grad_chip.ts";
import { DOCK, FOLD } from "./graph_sizes.ts";
import { textWidth } from "./metrics.ts";
import type { GraphStep, Turn } from "./graph_step.ts";
import type { Rect } from "./pane.ts";
import type { GradPlace } from "./graph_places.ts";

export type IdleLeaf = Rect & {
  leaf: string;
  label: string;
  turn: Turn | null;
  cy: number;
  lead: number;
  /** what a backward that begins at it brings */
  grad: GradPlace | null;
};

export interface IdlePlaces {
  height: number;
  /** those that the step touched have a line of their own */
  leaves: IdleLeaf[];
  /** for the others */
  line: (Rect & { key: string; open: boolean; uids: string[]; names: string }) | null;
}

const IDLE_KEY = "graph idle";

/** @param w of the pane */
export function idlePlaces(graphStep: GraphStep, idle: string[], y: number, w: number): IdlePlaces {
  const open = graphStep.toggled.has(IDLE_KEY);
  const hasOwnLine = (leafUid: string) =>
    open || leafUid === graphStep.now || leafUid === graphStep.selected || graphStep.touched.uids.has(leafUid);
  let lineY = y;
  const leaves = idle.filter(hasOwnLine).map((leafUid) => {
    const place = idleLeaf(graphStep, leafUid, lineY, w);
    lineY += DOCK;
    return place;
  });
  const uids = open ? idle : idle.filter((leafUid) => !hasOwnLine(leafUid));
  if (!uids.length) return { height: lineY - y, leaves, line: null };
  const names = uids.map((leafUid) => graphStep.leafName(leafUid)).join(", ");
  const line = { x: 8, y: lineY + 2, w: w - 16, h: FOLD - 4, key: IDLE_KEY, open, uids, names };
  return { height: lineY + FOLD - y, leaves, line };
}

function idleLeaf(graphStep: GraphStep, leafUid: string, y: number, w: number): IdleLeaf {
  const visit = leafUid === graphStep.now ? graphStep.step?.visit : null;
  const visitFacts = graphStep.model.visits.get(leafUid)?.find((other) => other.step === graphStep.i);
  const label = `+= ${graphStep.leafName(leafUid)}`;
  const x = 14;
  const labelWidth = Math.min(w - 100, Math.ceil(textWidth(label, 10)) + 30);
  const grad = visit?.grad_outputs.find(Boolean);
  const chip = grad ? gradChip(grad, w - x - labelWidth - 24) : null;
  const cy = y + 11;
  return {
    ...{ leaf: leafUid, label, cy, x, y: y + 2, w: labelWidth, h: 18, lead: visitFacts ? 18 : 0 },
    turn: visitFacts
      ? { k: visitFacts.k, step: visitFacts.step, state: graphStep.step?.visit?.failed ? "failed" : "running" }
      : null,
    grad:
      grad && chip
        ? { key: leafUid, grad, chip, now: true, to: null, x: x + labelWidth + 14, y: cy - 9, w: chip.width, h: 18 }
        : null,
  };
}
