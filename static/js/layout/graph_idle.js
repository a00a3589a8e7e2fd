/** Leaves' nodes that no living node reads: they wait for the next graph, in one line below all graphs. */

import { gradChip } from "./grad_chip.js";
import { DOCK, FOLD } from "./graph_sizes.js";
import { textWidth } from "./metrics.js";

/** @typedef {import("./graph_step.js").GraphStep} GraphStep */
/** @typedef {import("./pane.js").Rect} Rect */
/**
 * @typedef {Rect & {leaf: string, label: string, turn: import("./graph_row.js").Turn | null, cy: number,
 *   lead: number, grad: import("./graph_row.js").GradPlace | null}} IdleLeaf   grad: what a backward that begins at it brings
 * @typedef {{height: number, leaves: IdleLeaf[], line: (Rect & {key: string, open: boolean, uids: string[], names: string}) | null}} IdlePlaces
 *   leaves: those that the step touched have a line of their own; line: for the others
 */

const IDLE_KEY = "graph idle";

/** @param {GraphStep} graphStep @param {string[]} idle @param {number} y @param {number} w of the pane @returns {IdlePlaces} */
export function idlePlaces(graphStep, idle, y, w) {
  const open = graphStep.toggled.has(IDLE_KEY);
  const hasOwnLine = (/** @type {string} */ leafUid) =>
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

/** @param {GraphStep} graphStep @param {string} leafUid @param {number} y @param {number} w @returns {IdleLeaf} */
function idleLeaf(graphStep, leafUid, y, w) {
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
