/** The whole picture of one step, as descriptions: what is where comes from the plan, what there is from the state. */

import { isHandle } from "../entities.js";
import { handleRow } from "../layout/plan.js";
import { ALL, inBand } from "../layout/view.js";
import { push } from "../multimap.js";
import { h } from "../svg.js";
import { pinKey } from "../trace_index.js";
import { frameMark, objectMark } from "./card.js";
import { foldMark, rimMark } from "./fold.js";
import { beadsMark } from "./beads.js";
import { cardMark } from "./handle.js";
import { railMark } from "./rail.js";
import { tagsMark } from "./tag.js";
import { LABELS } from "./labels.js";
import { gradPlaceholders, leafMeeting } from "./leaf.js";
import { edgeMark, leaderMark, nodeMark } from "./node.js";
import { gradMarks } from "./grad.js";
import { alarmText, pinMark } from "./pin.js";
import { sceneFacts } from "./scene_facts.js";
import { ghostMark, storageMark } from "./storage.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("./scene_facts.js").Scene} Scene */
/** @typedef {import("../layout/view.js").Band} Band */
/** @typedef {{y: number, h: number} | undefined} Tall   what stands between two heights; undefined where nobody knows */
/** @typedef {(VNode | null)[]} Marks */

/** Room around a box, and around a rail, that counts as in sight. */
const MARGIN = 40;
const RAIL_MARGIN = 60;

/**
 * @param {import("../layout/plan.js").Plan} plan
 * @param {import("../state.js").OpenTrace} opened
 * @param {number} i
 * @param {Partial<import("./labels.js").Labels>} [labels]
 * @param {import("../layout/view.js").View} [view] what is drawn of each side
 * @returns {{memory: VNode[], between: VNode[], graph: VNode[]}}
 */
export function scene(plan, opened, i, labels = {}, view = { memory: ALL, graph: ALL }) {
  const facts = sceneFacts(plan, opened, opened.at(i), { ...LABELS, ...labels }, view.peeks);
  const memory = memoryMarks(facts, view.memory);
  const { graph, between, pins } = graphSide(facts, view);
  const drawn = (/** @type {Marks} */ marks) => /** @type {VNode[]} */ (marks.filter(Boolean));
  return { memory: drawn([...memory, ...pins]), between: drawn(between), graph: drawn(graph) };
}

/** @param {Tall} box @param {Band} band */
function isVisible(box, band) {
  return !box || inBand(band, box.y - MARGIN, box.y + box.h + MARGIN);
}

/** Frames, containers, storages and handles, with their names and counters. @param {Scene} scene @param {Band} band @returns {Marks} */
function memoryMarks(scene, band) {
  const { plan, snap } = scene;
  const { cards, storages } = plan.memory;
  const recede = receding(scene);
  /** @type {Marks} */
  const marks = laneHeads(scene);
  /** @type {Marks} */
  const wires = [];
  /** @type {Marks} */
  const handles = [];
  /** @type {Map<string, import("../layout/memory.js").CardRow[]>} */
  const rails = new Map();
  for (const [uid, entity] of snap.entities) {
    if (entity.kind === "frame") {
      if (isVisible(cards.get(uid), band)) marks.push(frameMark(scene, uid, entity));
    } else if (entity.kind === "object") {
      if (isVisible(cards.get(uid), band)) marks.push(objectMark(scene, uid, entity));
    } else if (entity.kind === "storage") {
      if (isVisible(storages.get(uid), band)) marks.push(recede(storageMark(scene, uid, entity), uid));
    } else if (isHandle(entity)) {
      const row = handleRow(plan, uid, entity);
      if (!row) continue;
      const storage = entity.storage ?? "";
      if (entity.counter) push(rails, `${entity.counter}|${storage}`, row);
      if (!isVisible(row, band) && !isVisible(storages.get(storage), band)) continue;
      const on = storage || uid;
      wires.push(recede(beadsMark(scene, uid, entity, row), uid, on));
      handles.push(recede(tagsMark(scene, uid, row), uid, on), recede(cardMark(scene, uid, entity, row), uid, on));
    }
  }
  for (const [uid, storage] of snap.freed)
    if (isVisible(storages.get(uid), band)) marks.push(ghostMark(scene, uid, storage));
  marks.push(...wires, ...gradPlaceholders(scene, (box) => isVisible(box, band)), ...handles);
  for (const [key, rows] of rails) {
    const ys = rows.map((row) => row.cy);
    if (!inBand(band, Math.min(...ys) - RAIL_MARGIN, Math.max(...ys) + RAIL_MARGIN)) continue;
    const [counter, storage] = key.split("|");
    marks.push(recede(railMark(scene, counter, storage, rows), counter, storage));
  }
  return marks;
}

/** In a crowd, the marks of what the step left alone stand back. @param {Scene} scene
 * @returns {(mark: VNode | null, ...uids: string[]) => VNode | null} */
function receding({ plan, snap }) {
  const visit = snap.step?.visit;
  const visited = visit ? [visit.node, visit.accumulates ?? ""] : [];
  const touched = plan.metrics.dense
    ? new Set([...snap.fresh, ...snap.written.keys(), ...snap.changed, ...visited])
    : new Set();
  return (mark, ...uids) => {
    if (!mark || !touched.size || uids.some((uid) => touched.has(uid))) return mark;
    return { ...mark, attrs: { ...mark.attrs, class: `${mark.attrs.class ?? ""} receded` } };
  };
}

/** Nodes, folds and edges; what leads from the graph to the memory; and the pins, which stand in the memory.
 * @param {Scene} scene @param {import("../layout/view.js").View} view */
function graphSide(scene, view) {
  const { plan, snap } = scene;
  const { boxes, rims, cards } = plan.graph;
  /** @type {Marks} */
  const nodes = [];
  /** @type {Marks} */
  const between = [];
  /** @type {Marks} */
  const pins = [];
  /** @type {Map<string, import("../entities.js").Slot[]>} */
  const pinned = new Map();
  /** @type {Map<string, VNode>} */
  const edges = new Map();
  for (const [uid, node] of snap.entities) {
    if (node.kind !== "node") continue;
    if (isVisible(boxes.get(uid), view.graph)) nodes.push(nodeMark(scene, uid, node));
    addEdges(scene, uid, node, view.graph, edges);
    addPins(scene, uid, node, view.memory, { pins, pinned, between });
    const variable = snap.entities.get(node.variable ?? "");
    const row = isHandle(variable) ? handleRow(plan, node.variable ?? "", variable) : undefined;
    const box = boxes.get(uid);
    if (!plan.stacked && (!row || !box || inBand(view.memory, row.cy, box.cy)))
      between.push(leafMeeting(scene, uid, node));
  }
  for (const [storage, slots] of pinned) pins.push(alarmText(scene, storage, slots));
  /** @type {Marks} */
  const graph = [];
  for (const rim of rims) if (isVisible(rim, view.graph)) graph.push(rimMark(scene, rim));
  for (const fold of cards) if (isVisible(boxes.get(fold.uid), view.graph)) nodes.push(foldMark(scene, fold));
  graph.push(...edges.values(), ...nodes, ...gradMarks(scene));
  return { graph, between, pins };
}

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Node} node @param {Band} band
 * @param {Map<string, VNode>} edges to add to, by the edge that is drawn */
function addEdges(scene, uid, node, band, edges) {
  const { plan, snap } = scene;
  (node.next ?? []).forEach((target, k) => {
    const key = `${uid}:${k}`;
    const edge = plan.graph.edges.get(plan.graph.carries.get(key) ?? key);
    if (!edge || !snap.entities.has(target?.[0] ?? "") || !crossesBand(band, edge.points)) return;
    // Of the edges that a fold draws as one, that of the node that runs.
    if (snap.step?.visit?.node === uid || !edges.has(edge.key)) edges.set(edge.key, edgeMark(scene, key, edge));
  });
}

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Node} node @param {Band} band
 * @param {{pins: Marks, pinned: Map<string, import("../entities.js").Slot[]>, between: Marks}} out */
function addPins(scene, uid, node, band, { pins, pinned, between }) {
  const { plan } = scene;
  for (const [slot, saved] of Object.entries(node.saved ?? {})) {
    if (!saved.storage || saved.state === "freed" || node.released) continue;
    const key = pinKey(uid, slot, saved);
    const pin = plan.memory.pins.get(key);
    if (!pin || inBand(band, pin.y - MARGIN, pin.y + MARGIN)) {
      pins.push(pinMark(scene, uid, slot, saved));
      push(pinned, saved.storage, saved);
    }
    if (!plan.stacked && crossesBand(band, plan.graph.leaders.get(key) ?? []))
      between.push(leaderMark(scene, uid, slot, saved));
  }
}

/** Whether a line through these points comes through the band. @param {Band} band @param {[number, number][]} points */
function crossesBand(band, points) {
  const ys = points.map((point) => point[1]);
  return !ys.length || inBand(band, Math.min(...ys) - 20, Math.max(...ys) + 20);
}

/** The lanes' names. @param {Scene} scene @returns {Marks} */
function laneHeads({ plan, labels }) {
  const { lanes } = plan.memory;
  const heads = /** @type {[keyof import("./labels.js").Labels, number][]} */ ([
    ["names", lanes.names.x],
    ["handles", lanes.handles.x],
    ["storages", lanes.storages.x],
  ]);
  return heads.map(([lane, x]) => h("text", { key: `head ${lane}`, class: "lane-head", x, y: 22 }, labels[lane]));
}
