/**
 * A node's line in the graph pane from left to right: its name, its tensor's name, what it saved, its leaves, its
 * gradients.
 */

import { addAttachedLeaves, visitOrderMarkWidth } from "./attached_leaves.ts";
import { addOutgoingGradients, addInitialGradient, addGradientSumAtNode } from "./graph_gradients.ts";
import { GRAPH_WORD_FONT_SIZE, graphRailX, type GraphColumn } from "./graph_sizes.ts";
import { addSavedSlots, HIDDEN_SLOT_COUNT_WIDTH } from "./graph_slots.ts";
import { LineRoom } from "../line_room.ts";
import { textWidth } from "../text/metrics.ts";
import type { Node } from "../../trace/wire.ts";
import type { GraphStep } from "./graph_step.ts";
import type { NodePlace } from "./graph_places.ts";
import type { NodeBlock } from "./graph_parts.ts";

const MIN_NODE_BOX_WIDTH = 44;

interface RowPosition {
  top: number;
  bottom: number;
  /** of the node's box */
  y: number;
}

/** `isPlaced` says whether a leaf stands for itself here. */
export function layoutNodePlace(
  graphStep: GraphStep,
  block: NodeBlock,
  column: GraphColumn,
  position: RowPosition,
  isPlaced: (leaf: string, reader: string) => boolean,
): NodePlace {
  const { uid, component } = block;
  const node = graphStep.node(uid) as Node;
  const label = graphStep.model.labels.get(uid) ?? uid;
  const font = column.sizes.nodeFont;
  const x = column.left + 8;
  const h = column.sizes.node;
  const lead = Math.max(11, Math.ceil(visitOrderMarkWidth(graphStep, uid) / 2) + 3);
  const w = Math.min(column.right - x, Math.max(MIN_NODE_BOX_WIDTH, Math.ceil(textWidth(label, font)) + lead + 9));
  const cy = position.y + h / 2;
  const row: NodePlace = {
    uid,
    block,
    top: position.top,
    bottom: position.bottom,
    x,
    y: position.y,
    w,
    h,
    cy,
    font,
    label,
    lead,
    rail: graphRailX(column, block.lane),
    name: node.name ?? uid,
    turn: graphStep.visitOrder(uid, component),
    dot: false,
    met: graphStep.mostGradientArrivals(uid, component).count,
    tag: null,
    flags: [],
    slots: [],
    moreSlots: null,
    docks: [],
    grads: [],
    seed: false,
    moreGrads: 0,
    past: graphStep.isReleasedAndUntouched(block),
  };
  const line = new LineRoom(x + w + 5, column.right, cy);
  addTensorNamesAndFlags(graphStep, row, line, column.sizes.nameFont);
  addSavedSlots(graphStep, row, line, column.sizes.slot);
  addGradientSumAtNode(graphStep, row, line, column);
  addAttachedLeaves(graphStep, row, column, isPlaced);
  addOutgoingGradients(graphStep, row, node, column);
  addInitialGradient(graphStep, row, column);
  return row;
}

function addTensorNamesAndFlags(graphStep: GraphStep, row: NodePlace, line: LineRoom, font: number) {
  const output = graphStep.outputs.get(row.uid);
  const texts = [...new Set(output?.texts ?? [])];
  const slots = Object.keys(graphStep.node(row.uid)?.saved ?? {}).length ? HIDDEN_SLOT_COUNT_WIDTH : 0;
  if (texts.length && line.widthLeft > 24 + slots) {
    const shownTexts = texts.slice(0, 2).join(", ");
    const text = textWidth(shownTexts, font) + 12 < line.widthLeft - 60 ? shownTexts : texts[0];
    const hidden = text === shownTexts ? texts.slice(2) : texts.slice(1);
    const moreText = hidden.length ? ` +${hidden.length}` : "";
    const w = Math.min(line.widthLeft - slots, Math.ceil(textWidth(text + moreText, font)) + 12);
    row.tag = { ...line.takeRectFromLeft(w, font + 8, 5), text: text + moreText, hidden, font };
  }
  for (const text of [output?.retains && "retain_grad", output?.hooks && "hook"]) {
    const w = text ? Math.ceil(textWidth(text, GRAPH_WORD_FONT_SIZE)) + 8 : 0;
    if (text && w < line.widthLeft - 30)
      row.flags.push({ ...line.takeRectFromLeft(w, 18), text, hidden: [], font: GRAPH_WORD_FONT_SIZE });
  }
}
