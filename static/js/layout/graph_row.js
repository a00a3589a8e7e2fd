/** A node's line in the graph pane from left to right: its name, its tensor's name, what it saved, its leaves, its gradients. */

import { ALARMS } from "../trace_index.js";
import { gradChip } from "./grad_chip.js";
import { CHIP_GAP, CHIP_LINE, chipLines, DOCK, docksHeight, NODE, railX, SLIM } from "./graph_sizes.js";
import { leavesKey } from "./graph_step.js";
import { textWidth } from "./metrics.js";
import { slotText } from "./slot_text.js";

/** @typedef {import("./graph_step.js").GraphStep} GraphStep */
/** @typedef {import("./graph_step.js").Turn} Turn */
/** @typedef {import("./graph_model.js").Block} Block */
/** @typedef {import("./graph_model.js").Dock} Dock */
/** @typedef {import("./graph_sizes.js").Column} Column */
/** @typedef {import("./pane.js").Rect} Rect */
/** @typedef {import("../trace.js").Grad} Grad */
/**
 * @typedef {Rect & {text: string, hidden: string[]}} Words   hidden: what there is no room for
 * @typedef {Rect & {key: string, slot: string, saved: import("../entities.js").Slot, state: string, dot: boolean,
 *   head: string, now: number | null}} SlotChip
 *   state: the saved slot's, `freed` where the node let go of everything. dot: there is no room for its text
 * @typedef {Rect & {key: string, grad: Grad, chip: import("./grad_chip.js").ChipTexts, now: boolean,
 *   to: {text: string, x: number} | null}} GradPlace
 *   key: the edge that the gradient is on, else the node that it is at. to: where it climbs to, and where that is written
 * @typedef {Rect & {uid: string, label: string, turn: Turn | null, lead: number}} Shaping   a node between a leaf and its reader
 * @typedef {Rect & {leaf: string, label: string, turn: Turn | null, again: boolean, met: number, shapings: Shaping[],
 *   dock: Dock, cy: number, lead: number}} DockPlace
 *   again: the leaf stands for itself elsewhere. met: how many gradients it got in this backward
 * @typedef {Rect & {uid: string, block: Block, level: "full" | "slim", top: number, bottom: number, cy: number, rail: number,
 *   font: number, label: string, name: string, turn: Turn | null, met: number, tag: Words | null, flags: Words[],
 *   slots: SlotChip[], docks: DockPlace[], hidden: (Rect & {key: string, uids: string[]}) | null, grads: GradPlace[],
 *   seed: boolean}} Row
 *   its rectangle is the node's box. top, bottom: with its leaves and gradients. hidden: leaves that have no place
 */

/** From a node's box to its leaves. */
export const BRACKET = 32;
const LEAST_BOX = 44;
/** The room of the count of leaves that have no place. */
const MORE = 30;
/** The room of the mark at which gradients add up. */
const MEET = 14;

/**
 * @param {GraphStep} step @param {Block} block @param {Column} column
 * @param {{level: "full" | "slim", top: number, bottom: number, y: number, docks: Dock[]}} at   y: of the node's box
 * @param {(leaf: string, reader: string) => boolean} stands whether a leaf stands for itself here @returns {Row}
 */
export function graphRow(step, block, column, at, stands) {
  const { uid, component } = block;
  const full = at.level === "full";
  const node = /** @type {import("../entities.js").Node} */ (step.node(uid));
  const label = step.model.labels.get(uid) ?? uid;
  const font = full ? 12 : 11;
  const x = column.left + 8;
  const h = full ? NODE : SLIM;
  const w = Math.min(column.right - x, Math.max(LEAST_BOX, Math.ceil(textWidth(label, font)) + 20));
  const cy = at.y + h / 2;
  /** @type {Row} */
  const row = {
    ...{ uid, block, level: at.level, top: at.top, bottom: at.bottom, x, y: at.y, w, h, cy, font, label },
    ...{ rail: railX(column, block.lane), name: node.name ?? uid, turn: step.turn(uid, component) },
    ...{ met: step.met(uid).count, tag: null, flags: [], slots: [], docks: [], hidden: null, grads: [], seed: false },
  };
  const line = new LineRoom(x + w + 5, column.right, cy);
  addNames(step, row, line);
  addSlots(step, row, node, line);
  if (full) {
    addSum(step, row, line);
    addDocks(step, row, at.docks, column, stands);
    countHidden(row, at.docks, line);
    addGradients(step, row, node, column);
    addSeed(step, row, column);
  } else addSlimDocks(step, row, line, stands);
  return row;
}

/** The room that is left in a line. */
class LineRoom {
  /** @param {number} x @param {number} right @param {number} cy */
  constructor(x, right, cy) {
    this.x = x;
    this.right = right;
    this.cy = cy;
  }

  get left() {
    return this.right - this.x;
  }

  /** @param {number} w @param {number} h @param {number} [gap] after it @returns {Rect} */
  take(w, h, gap = 4) {
    const rect = { x: this.x, y: this.cy - h / 2, w, h };
    this.x += w + gap;
    return rect;
  }
}

/** @param {GraphStep} step @param {Row} row @param {LineRoom} line */
function addNames(step, row, line) {
  const made = step.outputs.get(row.uid);
  const texts = [...new Set(made?.texts ?? [])];
  if (texts.length && line.left > 24) {
    const shown = texts.slice(0, 2).join(" ");
    const text = textWidth(shown, 11) + 10 < line.left - 60 ? shown : texts[0];
    const hidden = text === shown ? texts.slice(2) : texts.slice(1);
    const more = hidden.length ? ` +${hidden.length}` : "";
    const w = Math.min(line.left, Math.ceil(textWidth(text + more, 11)) + 10);
    row.tag = { ...line.take(w, 16, 5), text: text + more, hidden };
  }
  for (const text of [made?.retains && "retain_grad", made?.hooks && "hook"]) {
    const w = text ? Math.ceil(textWidth(text, 9)) + 8 : 0;
    if (text && w < line.left - 30) row.flags.push({ ...line.take(w, 14), text, hidden: [] });
  }
}

/** What a node saved: in words where there is room, else as dots; what is broken or news is always in words.
 * @param {GraphStep} step @param {Row} row @param {import("../entities.js").Node} node @param {LineRoom} line */
function addSlots(step, row, node, line) {
  const entries = Object.entries(node.saved ?? {}).map(([slot, saved]) => {
    const key = `${row.uid}:${slot}`;
    const state = saved.state === "freed" || node.released ? "freed" : saved.state;
    const text = slotText(step, slot, saved, state);
    const loud = ALARMS.has(state) || (step.news.has(key) && state !== "freed");
    return { key, slot, saved, state, ...text, loud, words: loud };
  });
  const width = (/** @type {typeof entries[0]} */ entry) => (entry.words ? entry.width + 4 : 10);
  const right = line.right;
  if (row.block.docks.length && row.level === "slim") line.right -= MORE;
  let taken = entries.reduce((sum, entry) => sum + width(entry), 0);
  if (row.level === "full")
    for (const entry of entries) {
      if (entry.words || taken - 10 + entry.width + 4 > line.left) continue;
      entry.words = true;
      taken += entry.width + 4 - 10;
    }
  for (const { width: wide, words, loud: _, ...slot } of entries) {
    if (line.left < 8) break;
    const rect = words ? line.take(Math.min(wide, line.left), 16) : line.take(7, 7, 3);
    row.slots.push({ ...rect, ...slot, dot: !words });
  }
  line.right = right;
}

/** The sum of the gradients that met at a node, when it runs. @param {GraphStep} step @param {Row} row @param {LineRoom} line */
function addSum(step, row, line) {
  const { nr, count } = step.met(row.uid);
  const grad = step.visit(row.uid, row.block.component)?.grad_outputs[nr];
  if (count < 2 || !grad || line.left < 50 || !atStep(step, row.turn)) return;
  const chip = gradChip(grad, line.left);
  row.grads.push({ key: row.uid, grad, chip, now: true, to: null, ...line.take(chip.width, 18) });
}

/** @param {GraphStep} step @param {Turn | null} turn */
function atStep(step, turn) {
  return turn !== null && turn.step === step.i;
}

/** The leaves that a node reads, above it. @param {GraphStep} step @param {Row} row @param {Dock[]} docks those with a line
 * @param {Column} column @param {(leaf: string, reader: string) => boolean} stands */
function addDocks(step, row, docks, column, stands) {
  const { component } = row.block;
  const left = row.x + BRACKET + 13;
  let pillX = left;
  let y = row.y - docksHeight(docks.length);
  const lines = docks.map((dock) => {
    const cy = y + 9;
    y += DOCK;
    let x = left;
    const shapings = dock.vias.map((uid) => {
      const label = step.model.labels.get(uid) ?? uid;
      const w = Math.max(20, Math.ceil(textWidth(label, 10)) + 10) + turnRoom(step, uid);
      const place = { uid, label, x, y: cy - 9, w, h: 18, turn: step.turn(uid, component), lead: turnRoom(step, uid) };
      x += w + 12;
      return place;
    });
    pillX = Math.max(pillX, x);
    return { dock, cy, shapings };
  });
  for (const { dock, cy, shapings } of lines) {
    const grads = dockGradients(step, row, dock);
    const turn = step.turn(dock.leaf, component);
    const label = `+= ${step.leafName(dock.leaf)}`;
    const lead = turnRoom(step, dock.leaf);
    const x = pillX + (dock.ks.length > 1 ? MEET : 0);
    const wanted = grads.reduce(
      (sum, { grad, now }) => sum + Math.min(gradChip(grad, 150).width, now ? 118 : 60) + 12,
      8,
    );
    const short = Math.ceil(textWidth(label.slice(label.lastIndexOf(".") + 1), 10)) + 32 + lead;
    const least = grads.some(({ now }) => now) ? Math.min(short, lead + 48) : short;
    const w = Math.min(Math.ceil(textWidth(label, 10)) + 18 + lead, Math.max(least, column.right - x - wanted));
    const again = !stands(dock.leaf, row.uid);
    const met = turn && turn.step <= step.i ? step.met(dock.leaf).count : 0;
    row.docks.push({ leaf: dock.leaf, label, turn, again, met, shapings, dock, cy, lead, x, y: cy - 9, w, h: 18 });
    const meets = met > 1 && dock.ks.length === 1 ? MEET : 0;
    addDockGradients(row, grads, new LineRoom(x + w + 8 + meets, column.right, cy));
  }
}

/** The room at the left of a leaf's name for its turn in a backward, kept from the start where it ever has one.
 * @param {GraphStep} step @param {string} uid */
export function turnRoom(step, uid) {
  const visits = step.model.visits.get(uid);
  return visits ? (visits.some(({ k }) => k > 99) ? 20 : 15) : 0;
}

/** Leaves of an open node that have no line. @param {Row} row @param {Dock[]} shown @param {LineRoom} line */
function countHidden(row, shown, line) {
  const uids = row.block.docks.flatMap((dock) => (shown.includes(dock) ? [] : [...dock.vias, dock.leaf]));
  if (uids.length) row.hidden = { ...line.take(34, 16), key: leavesKey(row.uid), uids };
}

/** The gradients on their way to a leaf that the step shows: the latest on each of its edges.
 * @param {GraphStep} step @param {Row} row @param {Dock} dock @returns {{key: string, grad: Grad, now: boolean, to: string}[]} */
function dockGradients(step, row, { leaf, vias, ks }) {
  const { component } = row.block;
  for (const via of [...vias].reverse()) {
    const grad = step.visit(via, component)?.grad_inputs.find(Boolean);
    const to = vias[vias.indexOf(via) + 1];
    const now = atStep(step, step.turn(via, component));
    const k = edgeNumber(step, via, to ?? leaf);
    if (grad) return [{ key: `${via}:${k}`, grad, now, to: to ? (step.model.labels.get(to) ?? to) : "" }];
  }
  const visit = step.visit(row.uid, component);
  const now = atStep(step, row.turn);
  const to = vias.length ? (step.model.labels.get(vias[0]) ?? vias[0]) : "";
  const grads = ks.flatMap((k) => {
    const grad = visit?.grad_inputs[k];
    return grad ? [{ key: `${row.uid}:${k}`, grad, now, to }] : [];
  });
  const sum = step.met(leaf).count > 1 ? step.visit(leaf, component)?.grad_outputs[0] : null;
  if (!sum || !atStep(step, step.turn(leaf, component)) || step.readerOf(leaf) !== row.uid) return grads;
  return [{ key: leaf, grad: sum, now: true, to: "" }, ...grads];
}

/** Which of a node's edges leads to another. @param {GraphStep} step @param {string} from @param {string} to */
export function edgeNumber(step, from, to) {
  return (step.node(from)?.next ?? []).findIndex((edge) => edge?.[0] === to);
}

/** @param {Row} row @param {ReturnType<typeof dockGradients>} grads @param {LineRoom} line */
function addDockGradients(row, grads, line) {
  grads.forEach(({ key, grad, now, to }, i) => {
    const later = grads.length - i - 1;
    const share = now && !grads[i + 1]?.now ? line.left - later * 62 : line.left / (later + 1) - (later ? 12 : 0);
    const lead = to && share > 60 ? Math.ceil(textWidth(`↑${to}`, 9.5)) + 4 : 0;
    if (share - lead < (now ? 18 : 44)) return;
    const chip = gradChip(grad, share - lead);
    if (chip.width > line.left - lead + 6) return;
    const place = lead ? { text: `↑${to}`, x: line.x } : null;
    line.x += lead;
    row.grads.push({ key, grad, chip, now, to: place, ...line.take(chip.width, 18, 12) });
  });
}

/** The gradients on their way to other nodes, side by side above the node and its leaves.
 * @param {GraphStep} step @param {Row} row @param {import("../entities.js").Node} node @param {Column} column */
function addGradients(step, row, node, column) {
  const { block } = row;
  const gap = row.y - docksHeight(row.docks.length) - row.top;
  const visit = step.visit(row.uid, block.component);
  if (!visit || gap < CHIP_GAP) return;
  const inputs = block.inputs.filter(({ k, to }) => visit.grad_inputs[k] && node.next?.[k]?.[0] === to);
  const { beside, lines } = chipLines(block, column);
  const columns = Math.min(beside, inputs.length);
  const left = row.x + 18;
  const share = (column.right - left) / Math.max(1, columns);
  inputs.slice(0, beside * lines).forEach(({ k, to }, i) => {
    const grad = /** @type {Grad} */ (visit.grad_inputs[k]);
    const x = left + (i % columns) * share;
    const cy = row.top + CHIP_GAP / 2 + 1 + Math.floor(i / columns) * CHIP_LINE;
    const nextTo = inputs.length === 1 && step.model.blocks.get(to)?.line === block.line - 1;
    const name = step.outputs.get(to)?.texts[0];
    const target = `↑${step.model.labels.get(to) ?? to}`;
    const most = share - 50;
    const text = [name ? `${target} ${name}` : target, target].find((words) => textWidth(words, 9.5) < most) ?? "↑";
    const lead = nextTo ? 0 : Math.ceil(textWidth(text, 9.5)) + 4;
    const chip = gradChip(grad, Math.min(170, share - lead - 8));
    const now = atStep(step, row.turn);
    const rect = { x: x + lead, y: cy - 9, w: chip.width, h: 18 };
    row.grads.push({ key: `${row.uid}:${k}`, grad, chip, now, to: lead ? { text, x } : null, ...rect });
  });
}

/** What a backward begins with, below the node where it does. @param {GraphStep} step @param {Row} row @param {Column} column */
function addSeed(step, row, column) {
  const visit = step.visit(row.uid, row.block.component);
  const grad = visit?.grad_outputs.find(Boolean);
  if (!grad || step.met(row.uid).count || row.bottom < row.y + row.h + 20) return;
  const chip = gradChip(grad, column.right - row.x - 30);
  row.seed = true;
  const rect = { x: row.x + 22, y: row.y + row.h + 6, w: chip.width, h: 18 };
  row.grads.push({ key: row.uid, grad, chip, now: atStep(step, row.turn), to: null, ...rect });
}

/** Leaves in a slim line, at its end; those without room are counted. @param {GraphStep} step @param {Row} row
 * @param {LineRoom} line @param {(leaf: string, reader: string) => boolean} stands */
function addSlimDocks(step, row, line, stands) {
  const { component, docks } = row.block;
  /** @type {string[]} */
  const hidden = [];
  docks.forEach((dock, i) => {
    const rest = i + 1 < docks.length || hidden.length ? MORE : 0;
    const label = `+ ${step.leafName(dock.leaf)}`;
    const wide = dock.vias.map((uid) => Math.max(16, Math.ceil(textWidth(step.model.labels.get(uid) ?? uid, 9)) + 8));
    const lead = wide.reduce((sum, w) => sum + w + 5, 0);
    const room = line.left - rest - lead;
    if (hidden.length || room < 34) {
      hidden.push(...dock.vias, dock.leaf);
      return;
    }
    const shapings = dock.vias.map((uid, n) => ({
      ...{ uid, label: step.model.labels.get(uid) ?? uid, turn: step.turn(uid, component), lead: 0 },
      ...line.take(wide[n], 16, 5),
    }));
    const rect = line.take(Math.min(room, Math.ceil(textWidth(label, 9)) + 14), 16);
    const turn = step.turn(dock.leaf, component);
    const met = turn && turn.step <= step.i ? step.met(dock.leaf).count : 0;
    row.docks.push({
      leaf: dock.leaf,
      label,
      turn,
      again: !stands(dock.leaf, row.uid),
      met,
      shapings,
      dock,
      cy: row.cy,
      lead: 0,
      ...rect,
    });
  });
  if (hidden.length) row.hidden = { ...line.take(26, 16), key: leavesKey(row.uid), uids: hidden };
}
