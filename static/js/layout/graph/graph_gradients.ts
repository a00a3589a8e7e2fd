/**
 * Gradients around a node of the graph: on their way to other nodes above it, their sum beside it, a backward's first
 * below it.
 */

import { fittedGradientChip } from "../text/grad_chip.ts";
import {
  gapWithGradients,
  initialGradientHeight,
  GRAPH_WORD_FONT_SIZE,
  gradientLineCounts,
  attachedLeavesHeight,
  hasParallelEdges,
  parallelEdgeSpacing,
  type GraphColumn,
} from "./graph_sizes.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../text/metrics.ts";
import { shortenNodeLabel } from "../text/node_labels.ts";
import type { Grad, Node } from "../../trace/wire.ts";
import type { GraphStep, VisitOrder } from "./graph_step.ts";
import type { LineRoom } from "../line_room.ts";
import type { GradientLabel, GradientPlace, NodePlace } from "./graph_places.ts";

/** The sum of the gradients that met at a node, when it runs. */
export function addGradientSumAtNode(graphStep: GraphStep, row: NodePlace, line: LineRoom, { sizes }: GraphColumn) {
  const { nr: outputNr, count } = graphStep.mostGradientArrivals(row.uid, row.block.component);
  const grad = graphStep.latestVisit(row.uid, row.block.component)?.grad_outputs[outputNr];
  if (count < 2 || !grad || line.widthLeft < 50 || !nodeRunsAtStep(graphStep, row.turn)) return;
  const chip = fittedGradientChip(grad, line.widthLeft, sizes.chipFont);
  const place = line.takeRectFromLeft(chip.width, sizes.chip);
  const label = graphStep.model.labels.get(row.uid) ?? row.uid;
  const words = wordsAfter(place.x + chip.width, line.right, "gradientsTogether", label);
  row.grads.push({ key: row.uid, grad, chip, now: true, to: null, words, ...place });
}

/** The least room in which words say anything. */
const MIN_WORDS_WIDTH = 110;

/** Words after a chip, where there is room for them. */
function wordsAfter(x: number, right: number, label: GradientLabel, name: string): GradientPlace["words"] {
  return right - x - 8 < MIN_WORDS_WIDTH ? undefined : { label, name, x: x + 8, w: right - x - 8 };
}

/** Whether a step is the one at which a node runs. */
export function nodeRunsAtStep(graphStep: GraphStep, turn: VisitOrder | null) {
  return turn !== null && turn.step === graphStep.i;
}

/** Which of a node's edges leads to another. */
export function edgeIndexBetween(graphStep: GraphStep, from: string, to: string) {
  return (graphStep.node(from)?.next ?? []).findIndex((edge) => edge?.[0] === to);
}

/** The gradients on their way to other nodes, side by side above the node and its leaves. */
export function addOutgoingGradients(graphStep: GraphStep, row: NodePlace, node: Node, column: GraphColumn) {
  const { block } = row;
  const { sizes } = column;
  const gapHeight = row.y - attachedLeavesHeight(row.docks.length, sizes) - row.top;
  const visit = graphStep.latestVisit(row.uid, block.component);
  if (!visit || gapHeight < gapWithGradients(sizes)) return;
  const inputs = block.inputs.filter(({ k, to }) => visit.grad_inputs[k] && node.next?.[k]?.[0] === to);
  const { beside: perLine, lines } = gradientLineCounts(block, column);
  const columns = Math.min(perLine, inputs.length);
  const isParallel = hasParallelEdges(block);
  const isStraight = isParallel && !column.railed;
  const left = row.x + 18 + (isStraight ? parallelEdgeSpacing(sizes) * (block.inputs.length - 1) : 0);
  const columnWidth = (column.right - left) / Math.max(1, columns);
  row.moreGrads = Math.max(0, inputs.length - perLine * lines);
  inputs.slice(0, perLine * lines).forEach(({ k, to }, i) => {
    const grad = visit.grad_inputs[k] as Grad;
    const x = left + (i % columns) * columnWidth;
    const firstLine = Math.floor(
      (gapHeight - (Math.ceil(Math.min(inputs.length, perLine * lines) / columns) - 1) * sizes.chipLine) / 2,
    );
    const cy = row.top + firstLine + 1 + Math.floor(i / columns) * sizes.chipLine;
    const isNextLine = (inputs.length === 1 || isStraight) && graphStep.model.blocks.get(to)?.line === block.line - 1;
    const name = graphStep.outputs.get(to)?.texts[0];
    const targetText = `↑${graphStep.model.labels.get(to) ?? to}`;
    const maxChars = Math.max(8, Math.floor((columnWidth - 66) / (CHARACTER_WIDTH_EM * GRAPH_WORD_FONT_SIZE)));
    const text =
      name && targetText.length + name.length < maxChars
        ? `${targetText} ${name}`
        : shortenNodeLabel(targetText, maxChars);
    const targetWidth = isNextLine ? 0 : Math.ceil(textWidth(text, GRAPH_WORD_FONT_SIZE)) + 4;
    const chip = fittedGradientChip(grad, Math.min(17 * sizes.chipFont, columnWidth - targetWidth - 8), sizes.chipFont);
    const isNow = nodeRunsAtStep(graphStep, row.turn);
    const rect = { x: x + targetWidth, y: cy - sizes.chip / 2, w: chip.width, h: sizes.chip };
    const side = inputs.length > 2 ? "edgeNumber" : i ? "rightEdge" : "leftEdge";
    const words = isParallel && isNow ? wordsAfter(rect.x + rect.w, column.right, side, String(i + 1)) : undefined;
    const target = targetWidth ? { text, x } : null;
    row.grads.push({ key: `${row.uid}:${k}`, grad, chip, now: isNow, to: target, words, ...rect });
  });
}

/** What a backward begins with, below the node where it does. */
export function addInitialGradient(graphStep: GraphStep, row: NodePlace, column: GraphColumn) {
  const visit = graphStep.latestVisit(row.uid, row.block.component);
  const grad = visit?.grad_outputs.find(Boolean);
  if (
    !grad ||
    graphStep.mostGradientArrivals(row.uid, row.block.component).count ||
    row.bottom < row.y + row.h + initialGradientHeight(column.sizes) - 4
  )
    return;
  const chip = fittedGradientChip(grad, column.right - row.x - 30, column.sizes.chipFont);
  row.seed = true;
  const rect = { x: row.x + 22, y: row.y + row.h + 6, w: chip.width, h: column.sizes.chip };
  const words = wordsAfter(rect.x + rect.w, column.right, "backwardStarts", "");
  row.grads.push({ key: row.uid, grad, chip, now: nodeRunsAtStep(graphStep, row.turn), to: null, words, ...rect });
}
