/** Gradients around a node of the graph: on their way to other nodes above it, their sum beside it, a backward's first below it. */

import { gradChip } from "./grad_chip.ts";
import { CHIP_GAP, CHIP_LINE, chipLines, docksHeight, type Column } from "./graph_sizes.ts";
import { EM, textWidth } from "./metrics.ts";
import { shortenLabel } from "./node_labels.ts";
import type { Grad, Node } from "../trace/wire.ts";
import type { GraphStep, Turn } from "./graph_step.ts";
import type { LineRoom } from "./line_room.ts";
import type { Row } from "./graph_places.ts";

/** The sum of the gradients that met at a node, when it runs. */
export function addGradientSum(graphStep: GraphStep, row: Row, line: LineRoom) {
  const { nr: outputNr, count } = graphStep.mostArrivals(row.uid);
  const grad = graphStep.visit(row.uid, row.block.component)?.grad_outputs[outputNr];
  if (count < 2 || !grad || line.left < 50 || !runsAtStep(graphStep, row.turn)) return;
  const chip = gradChip(grad, line.left);
  row.grads.push({ key: row.uid, grad, chip, now: true, to: null, ...line.takeRect(chip.width, 18) });
}

/** Whether a step is the one at which a node runs. */
export function runsAtStep(graphStep: GraphStep, turn: Turn | null) {
  return turn !== null && turn.step === graphStep.i;
}

/** Which of a node's edges leads to another. */
export function edgeIndex(graphStep: GraphStep, from: string, to: string) {
  return (graphStep.node(from)?.next ?? []).findIndex((edge) => edge?.[0] === to);
}

/** The gradients on their way to other nodes, side by side above the node and its leaves. */
export function addGradientsAbove(graphStep: GraphStep, row: Row, node: Node, column: Column) {
  const { block } = row;
  const gapHeight = row.y - docksHeight(row.docks.length) - row.top;
  const visit = graphStep.visit(row.uid, block.component);
  if (!visit || gapHeight < CHIP_GAP) return;
  const inputs = block.inputs.filter(({ k, to }) => visit.grad_inputs[k] && node.next?.[k]?.[0] === to);
  const { beside: perLine, lines } = chipLines(block, column);
  const columns = Math.min(perLine, inputs.length);
  const left = row.x + 18;
  const columnWidth = (column.right - left) / Math.max(1, columns);
  row.moreGrads = Math.max(0, inputs.length - perLine * lines);
  inputs.slice(0, perLine * lines).forEach(({ k, to }, i) => {
    const grad = visit.grad_inputs[k] as Grad;
    const x = left + (i % columns) * columnWidth;
    const cy = row.top + CHIP_GAP / 2 + 1 + Math.floor(i / columns) * CHIP_LINE;
    const isNextLine = inputs.length === 1 && graphStep.model.blocks.get(to)?.line === block.line - 1;
    const name = graphStep.outputs.get(to)?.texts[0];
    const target = `↑${graphStep.model.labels.get(to) ?? to}`;
    const maxChars = Math.max(8, Math.floor((columnWidth - 66) / (EM * 9.5)));
    const text = name && target.length + name.length < maxChars ? `${target} ${name}` : shortenLabel(target, maxChars);
    const targetWidth = isNextLine ? 0 : Math.ceil(textWidth(text, 9.5)) + 4;
    const chip = gradChip(grad, Math.min(170, columnWidth - targetWidth - 8));
    const isNow = runsAtStep(graphStep, row.turn);
    const rect = { x: x + targetWidth, y: cy - 9, w: chip.width, h: 18 };
    row.grads.push({ key: `${row.uid}:${k}`, grad, chip, now: isNow, to: targetWidth ? { text, x } : null, ...rect });
  });
}

/** What a backward begins with, below the node where it does. */
export function addFirstGradient(graphStep: GraphStep, row: Row, column: Column) {
  const visit = graphStep.visit(row.uid, row.block.component);
  const grad = visit?.grad_outputs.find(Boolean);
  if (!grad || graphStep.mostArrivals(row.uid).count || row.bottom < row.y + row.h + 20) return;
  const chip = gradChip(grad, column.right - row.x - 30);
  row.seed = true;
  const rect = { x: row.x + 22, y: row.y + row.h + 6, w: chip.width, h: 18 };
  row.grads.push({ key: row.uid, grad, chip, now: runsAtStep(graphStep, row.turn), to: null, ...rect });
}
