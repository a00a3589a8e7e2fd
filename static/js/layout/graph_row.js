/** A node's line in the graph pane from left to right: its name, its tensor's name, what it saved, its leaves, its gradients. */

import { addDocks, addSlimDocks, addHiddenCount, turnWidth } from "./graph_docks.js";
import { addGradientsAbove, addFirstGradient, addGradientSum } from "./graph_gradients.js";
import { NODE, railX, SLIM } from "./graph_sizes.js";
import { addSlots, HIDDEN_SLOTS_WIDTH as SLOTS_COUNT } from "./graph_slots.js";
import { LineRoom } from "./line_room.js";
import { textWidth } from "./metrics.js";

/** @typedef {import("./graph_step.js").GraphStep} GraphStep */
/** @typedef {import("./graph_step.js").Turn} Turn */
/** @typedef {import("./graph_model.js").Block} Block */
/** @typedef {import("./graph_model.js").Dock} Dock */
/** @typedef {import("./graph_sizes.js").Column} Column */
/** @typedef {import("./pane.js").Rect} Rect */
/** @typedef {import("../trace/wire.js").Grad} Grad */
/**
 * @typedef {Rect & {text: string, hidden: string[]}} TextPlace   hidden: what there is no room for
 * @typedef {Rect & {key: string, slot: string, saved: import("../trace/entities.js").Slot, state: string, dot: boolean,
 *   head: string, now: number | null}} SlotChip
 *   state: the saved slot's, `freed` where the node let go of everything. dot: there is no room for its text
 * @typedef {Rect & {key: string, grad: Grad, chip: import("./grad_chip.js").ChipTexts, now: boolean,
 *   to: {text: string, x: number} | null}} GradPlace
 *   key: the edge that the gradient is on, else the node that it is at. to: where it climbs to, and where that is written
 * @typedef {Rect & {uid: string, label: string, turn: Turn | null, lead: number}} Shaping   a node between a leaf and its reader
 * @typedef {Rect & {leaf: string, label: string, turn: Turn | null, again: boolean, met: number, shapings: Shaping[],
 *   dock: Dock, cy: number, lead: number, most: number}} DockPlace
 *   again: the leaf stands for itself elsewhere. met: how many gradients it got in this backward. most: characters of its name
 * @typedef {Rect & {uid: string, block: Block, level: "full" | "slim", top: number, bottom: number, cy: number, rail: number,
 *   font: number, label: string, lead: number, name: string, dot: boolean, turn: Turn | null, met: number,
 *   tag: TextPlace | null, flags: TextPlace[], slots: SlotChip[], moreSlots: (Rect & {keys: string[]}) | null, docks: DockPlace[], hidden: (Rect & {key: string, uids: string[]}) | null, grads: GradPlace[],
 *   seed: boolean, moreGrads: number, past: boolean}} Row
 *   its rectangle is the node's box. top, bottom: with its leaves and gradients. lead: the room before its label. dot:
 *   whether an edge reaches its rail. hidden: leaves that have no place; moreSlots: saved slots that have none; moreGrads: how many gradients have none. past: backward is over and let go of what its graph saved
 */

const MIN_BOX = 44;

/**
 * @param {GraphStep} graphStep @param {Block} block @param {Column} column
 * @param {{level: "full" | "slim", top: number, bottom: number, y: number, docks: Dock[]}} position   y: of the node's box
 * @param {(leaf: string, reader: string) => boolean} isPlaced whether a leaf stands for itself here @returns {Row}
 */
export function graphRow(graphStep, block, column, position, isPlaced) {
  const { uid, component } = block;
  const isFull = position.level === "full";
  const node = /** @type {import("../trace/entities.js").Node} */ (graphStep.node(uid));
  const label = graphStep.model.labels.get(uid) ?? uid;
  const font = isFull ? 12 : 11;
  const x = column.left + 8;
  const h = isFull ? NODE : SLIM;
  const lead = turnWidth(graphStep, uid) > 15 ? 14 : 11;
  const w = Math.min(column.right - x, Math.max(MIN_BOX, Math.ceil(textWidth(label, font)) + lead + 9));
  const cy = position.y + h / 2;
  /** @type {Row} */
  const row = {
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

/** @param {GraphStep} graphStep @param {Row} row @param {LineRoom} line */
function addNames(graphStep, row, line) {
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
