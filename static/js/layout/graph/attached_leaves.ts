/** Leaves at the node that reads them: a line each above it. */

import { fittedGradientChip } from "../text/grad_chip.ts";
import { nodeRunsAtStep, edgeIndexBetween } from "./graph_gradients.ts";
import { GRAPH_WORD_FONT_SIZE, attachedLeavesHeight, type GraphColumn } from "./graph_sizes.ts";
import type { GraphStep } from "./graph_step.ts";
import { LineRoom } from "../line_room.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../text/metrics.ts";
import { lastPathParts, shortenNodeLabel } from "../text/node_labels.ts";
import type { Grad } from "../../trace/wire.ts";
import type { NodePlace, AttachedLeafPlace } from "./graph_places.ts";
import type { AttachedLeaf } from "./graph_parts.ts";

/** A narrower graph says less of the nodes between leaves and their reader. */
const NARROW_GRAPH_WIDTH = 260;
/** Shorter labels are a leaf's name alone, in characters. */
const MIN_LENGTH_WITH_GRAD = 10;
/** The room between a leaf and what is added to its gradient. */
const ADDITION_SIGN_WIDTH = 18;
/** The room of the mark at which gradients add up. */
const GRADIENT_SUM_MARK_WIDTH = 14;

/** From the left of a node's box to the line that goes up to its leaves. */
export function leafEdgeOffset(column: GraphColumn) {
  return column.right - column.left < NARROW_GRAPH_WIDTH ? 22 : 32;
}

/** How many characters of its label a leaf's place has room for. */
export function maxLeafLabelLength({ w, turn, lead, font }: Pick<AttachedLeafPlace, "w" | "turn" | "lead" | "font">) {
  const takenWidth = turn && lead ? lead + 9 : 13;
  return Math.max(2, Math.floor((w - takenWidth) / (CHARACTER_WIDTH_EM * font)));
}

/** How much of a label is left for the leaf's name: without room, its `.grad` goes first. */
export function maxLeafNameLength(labelLength: number) {
  return labelLength < MIN_LENGTH_WITH_GRAD ? labelLength : labelLength - ".grad".length;
}

/** A leaf that several nodes read is called the same beside each: as short as where it has the least room. */
export function shareLeafLabelLength(rows: NodePlace[]) {
  const leastCapacity = new Map<string, number>();
  const placedDocks = rows.flatMap(({ docks }) => docks);
  for (const dock of placedDocks) {
    const capacity = maxLeafNameLength(maxLeafLabelLength(dock));
    leastCapacity.set(dock.leaf, Math.min(leastCapacity.get(dock.leaf) ?? Infinity, capacity));
  }
  for (const dock of placedDocks) dock.most = leastCapacity.get(dock.leaf) ?? dock.most;
}

const MIN_LEAF_WIDTH = 84;

/** The leaves that a node reads, above it. */
export function addAttachedLeaves(
  graphStep: GraphStep,
  row: NodePlace,
  column: GraphColumn,
  isPlaced: (leaf: string, reader: string) => boolean,
) {
  const { component, docks } = row.block;
  const { sizes } = column;
  const font = sizes.nameFont;
  const half = sizes.leaf / 2;
  const narrow = column.right - column.left < NARROW_GRAPH_WIDTH;
  const leftEdge = row.x + leafEdgeOffset(column) + (narrow ? 10 : 13);
  // a leaf is at least this wide, however many nodes that only shape it stand before it
  const roomOfShaping = (count: number) => Math.max(14, (column.right - leftEdge - MIN_LEAF_WIDTH) / count - 12);
  let pillX = leftEdge;
  let y = row.y - attachedLeavesHeight(docks.length, sizes);
  const dockLines = docks.map((dock) => {
    const cy = y + half;
    y += sizes.leafLine;
    let x = leftEdge;
    const shapings = dock.vias.map((uid) => {
      const fullLabel = graphStep.model.labels.get(uid) ?? uid;
      const label = narrow ? fullLabel.split(" ")[0] : fullLabel;
      const lead = visitOrderMarkWidth(graphStep, uid);
      const w = Math.min(Math.max(20, Math.ceil(textWidth(label, font)) + 10) + lead, roomOfShaping(dock.vias.length));
      const place = {
        uid,
        label: shortenNodeLabel(label, Math.max(2, Math.floor((w - lead - 8) / textWidth("0", font)))),
        x,
        y: cy - half,
        w,
        h: sizes.leaf,
        font,
        turn: graphStep.visitOrder(uid, component),
        lead,
      };
      x += w + 12;
      return place;
    });
    pillX = Math.max(pillX, x);
    return { dock, cy, shapings };
  });
  for (const { dock, cy, shapings } of dockLines) {
    const grads = leafGradients(graphStep, row, dock);
    const turn = graphStep.visitOrder(dock.leaf, component);
    const name = graphStep.accumulatorLeafName(dock.leaf);
    const label = `${name}.grad`;
    const lead = visitOrderMarkWidth(graphStep, dock.leaf);
    const x = pillX + (dock.ks.length > 1 ? GRADIENT_SUM_MARK_WIDTH : 0);
    const gradientWidth = grads.reduce(
      (sum, { grad, now }) =>
        sum +
        Math.min(
          fittedGradientChip(grad, 15 * sizes.chipFont, sizes.chipFont).width,
          (now ? 11.8 : 6) * sizes.chipFont,
        ) +
        12,
      8,
    );
    const shortNameWidth = Math.ceil(textWidth(`${lastPathParts(name)}.grad`, font)) + 18 + lead;
    // Of the room that a gradient wants, the name gets what it needs, as long as a number of the gradient stays.
    const minChipWidth = grads.reduce(
      (sum, { now, to }) => sum + (now ? 6 * sizes.chipFont + (to && !narrow ? 30 : 0) : 0),
      8,
    );
    const minWidth = Math.max(lead + 58, Math.min(shortNameWidth, column.right - x - minChipWidth));
    const w = Math.min(
      Math.ceil(textWidth(label, font)) + 18 + lead,
      Math.max(minWidth, column.right - x - gradientWidth),
      Math.max(column.right - x, lead + 14),
    );
    const isShownAbove = !isPlaced(dock.leaf, row.uid);
    const gradientsMet =
      turn && turn.step <= graphStep.i ? graphStep.mostGradientArrivals(dock.leaf, component).count : 0;
    row.docks.push({
      leaf: dock.leaf,
      label,
      turn,
      again: isShownAbove,
      met: gradientsMet,
      shapings,
      dock,
      cy,
      lead,
      most: Infinity,
      font,
      x,
      y: cy - half,
      w,
      h: sizes.leaf,
    });
    const sumMarkWidth = gradientsMet > 1 && dock.ks.length === 1 ? GRADIENT_SUM_MARK_WIDTH : 0;
    const adds = gradientsMet < 2 && graphStep.isAddedToGradient(dock.leaf, component);
    const gap = adds ? ADDITION_SIGN_WIDTH : 8;
    addLeafGradients(row, grads, new LineRoom(x + w + gap + sumMarkWidth, column.right, cy), column, adds);
  }
}

/** The room at the left of a leaf's name for its turn in a backward, kept from the start where it ever has one. */
export function visitOrderMarkWidth(graphStep: GraphStep, uid: string) {
  const visits = graphStep.model.visits.get(uid);
  if (graphStep.compact && !graphStep.hasVisitOrder(uid)) return 0;
  return visits ? (visits.some(({ k }) => k > 99) ? 28 : 20) : 0;
}

/** The gradients on their way to a leaf that the step shows: the latest on each of its edges. */
function leafGradients(
  graphStep: GraphStep,
  row: NodePlace,
  { leaf, vias, ks }: AttachedLeaf,
): { key: string; grad: Grad; now: boolean; to: string }[] {
  const { component } = row.block;
  for (const via of [...vias].reverse()) {
    const grad = graphStep.latestVisit(via, component)?.grad_inputs.find(Boolean);
    const to = vias[vias.indexOf(via) + 1];
    const now = nodeRunsAtStep(graphStep, graphStep.visitOrder(via, component));
    const k = edgeIndexBetween(graphStep, via, to ?? leaf);
    if (grad) return [{ key: `${via}:${k}`, grad, now, to: to ? (graphStep.model.labels.get(to) ?? to) : "" }];
  }
  const visit = graphStep.latestVisit(row.uid, component);
  const now = nodeRunsAtStep(graphStep, row.turn);
  const to = vias.length ? (graphStep.model.labels.get(vias[0]) ?? vias[0]) : "";
  const grads = ks.flatMap((k) => {
    const grad = visit?.grad_inputs[k];
    return grad ? [{ key: `${row.uid}:${k}`, grad, now, to }] : [];
  });
  const sum =
    graphStep.mostGradientArrivals(leaf, component).count > 1
      ? graphStep.latestVisit(leaf, component)?.grad_outputs[0]
      : null;
  if (
    !sum ||
    !nodeRunsAtStep(graphStep, graphStep.visitOrder(leaf, component)) ||
    graphStep.mainReaderOf(leaf) !== row.uid
  )
    return grads;
  return [{ key: leaf, grad: sum, now: true, to: "" }, ...grads];
}

function addLeafGradients(
  row: NodePlace,
  grads: ReturnType<typeof leafGradients>,
  line: LineRoom,
  { sizes }: GraphColumn,
  adds: boolean,
) {
  grads.forEach(({ key, grad, now, to }, i) => {
    const laterCount = grads.length - i - 1;
    const shareOfLine =
      now && !grads[i + 1]?.now
        ? line.widthLeft - laterCount * (6 * sizes.chipFont + 2)
        : line.widthLeft / (laterCount + 1) - (laterCount ? 12 : 0);
    const wordsWidth = to && shareOfLine > 60 ? Math.ceil(textWidth(`↑${to}`, GRAPH_WORD_FONT_SIZE)) + 4 : 0;
    const targetWidth = shareOfLine - wordsWidth < 6 * sizes.chipFont ? 0 : wordsWidth; // its numbers come first
    if (shareOfLine - targetWidth < (now ? 18 : 44)) return;
    const chip = fittedGradientChip(grad, shareOfLine - targetWidth, sizes.chipFont);
    if (!now && !chip.cells.length && grad.cells?.length) return;
    if (chip.width > line.widthLeft - targetWidth + 6) return;
    const target = targetWidth ? { text: `↑${to}`, x: line.x } : null;
    line.x += targetWidth;
    row.grads.push({
      key,
      grad,
      chip,
      now,
      adds: adds && !i,
      to: target,
      ...line.takeRectFromLeft(chip.width, sizes.chip, 12),
    });
  });
}
