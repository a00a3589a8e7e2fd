/** A node's line in the graph pane from left to right: its name, its tensor's name, what it saved, its leaves, its gradients. */

import { addDocks, addSlimDocks, addHiddenCount, turnWidth } from "./graph_docks.ts";
import { addGradientsAbove, addFirstGradient, addGradientSum } from "./graph_gradients.ts";
import { NODE, railX, SLIM, type Column } from "./graph_sizes.ts";
import { addSlots, HIDDEN_SLOTS_WIDTH as SLOTS_COUNT } from "./graph_slots.ts";
import { LineRoom } from "./line_room.ts";
import { textWidth } from "./metrics.ts";
import type { Node } from "../trace/wire.ts";
import type { GraphStep } from "./graph_step.ts";
import type { Row } from "./graph_places.ts";
import type { Block, Dock } from "./graph_parts.ts";

const MIN_BOX = 44;

interface RowPosition {
  level: "full" | "slim";
  top: number;
  bottom: number;
  /** of the node's box */
  y: number;
  docks: Dock[];
}

/** @param isPlaced whether a leaf stands for itself here */
export function graphRow(
  graphStep: GraphStep,
  block: Block,
  column: Column,
  position: RowPosition,
  isPlaced: (leaf: string, reader: string) => boolean,
): Row {
  const { uid, component } = block;
  const isFull = position.level === "full";
  const node = graphStep.node(uid) as Node;
  const label = graphStep.model.labels.get(uid) ?? uid;
  const font = isFull ? 12 : 11;
  const x = column.left + 8;
  const h = isFull ? NODE : SLIM;
  const lead = turnWidth(graphStep, uid) > 15 ? 14 : 11;
  const w = Math.min(column.right - x, Math.max(MIN_BOX, Math.ceil(textWidth(label, font)) + lead + 9));
  const cy = position.y + h / 2;
  const row: Row = {
    uid,
    block,
    level: position.level,
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
    rail: railX(column, block.lane),
    name: node.name ?? uid,
    turn: graphStep.turn(uid, component),
    dot: false,
    met: graphStep.mostArrivals(uid).count,
    tag: null,
    flags: [],
    slots: [],
    moreSlots: null,
    docks: [],
    hidden: null,
    grads: [],
    seed: false,
    moreGrads: 0,
    past: graphStep.isPast(block),
  };
  const line = new LineRoom(x + w + 5, column.right, cy);
  addNames(graphStep, row, line);
  addSlots(graphStep, row, node, line);
  if (isFull) {
    addGradientSum(graphStep, row, line);
    addDocks(graphStep, row, position.docks, column, isPlaced);
    addHiddenCount(row, position.docks, line);
    addGradientsAbove(graphStep, row, node, column);
    addFirstGradient(graphStep, row, column);
  } else addSlimDocks(graphStep, row, line, isPlaced);
  return row;
}

function addNames(graphStep: GraphStep, row: Row, line: LineRoom) {
  const output = graphStep.outputs.get(row.uid);
  const texts = [...new Set(output?.texts ?? [])];
  const slots = Object.keys(graphStep.node(row.uid)?.saved ?? {}).length ? SLOTS_COUNT : 0;
  if (texts.length && line.left > 24 + slots) {
    const shownTexts = texts.slice(0, 2).join(", ");
    const text = textWidth(shownTexts, 11) + 10 < line.left - 60 ? shownTexts : texts[0];
    const hidden = text === shownTexts ? texts.slice(2) : texts.slice(1);
    const moreText = hidden.length ? ` +${hidden.length}` : "";
    const w = Math.min(line.left - slots, Math.ceil(textWidth(text + moreText, 11)) + 10);
    row.tag = { ...line.takeRect(w, 16, 5), text: text + moreText, hidden };
  }
  for (const text of [output?.retains && "retain_grad", output?.hooks && "hook"]) {
    const w = text ? Math.ceil(textWidth(text, 9)) + 8 : 0;
    if (text && w < line.left - 30) row.flags.push({ ...line.takeRect(w, 14), text, hidden: [] });
  }
}
