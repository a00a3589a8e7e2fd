/** The whole picture of one step, as descriptions: what is where comes from the plan, what there is from the state. */

import { pinKey } from "../layout/lifetimes.js";
import { textWidth } from "../layout/metrics.js";
import { names } from "../layout/names.js";
import { handleRow } from "../layout/plan.js";
import { ALL, inBand } from "../layout/view.js";
import { h } from "../svg.js";
import { frameMark, objectMark } from "./card.js";
import { foldMark, rimMark } from "./fold.js";
import { beadsMark, cardMark, railMark, tagsMark } from "./handle.js";
import { edgeMark, gradMarks, leaderMark, nodeMark, roundedPath } from "./node.js";
import { alarmText, pinMark } from "./pin.js";
import { ghostMark, inlineLabel, storageMark } from "./storage.js";
import { LABELS } from "./labels.js";

/** @typedef {import("../svg.js").VNode} VNode */
/**
 * @typedef {{plan: import("../layout/plan.js").Plan, snap: import("../state.js").Snapshot, labels: import("./labels.js").Labels,
 *   names: import("../layout/names.js").Names, previous: import("../state.js").Entities, steps: any[],
 *   grads: Set<string>, readers: Map<string, string[]>, writers: Set<string>, outputs: Map<string, string[]>,
 *   visits: {node: string, step: number}[], visited: Map<string, {k: number, step: number}>, sums: Map<string, number>, events: Set<string>,
 *   nodeName: (uid: string) => string, peeks: Map<string, number>}} Scene
 */

/**
 * @param {import("../layout/plan.js").Plan} plan
 * @param {import("../state.js").OpenTrace} opened
 * @param {number} i
 * @param {Partial<import("./labels.js").Labels>} [labels]
 * @param {import("../layout/view.js").View} [view] what is drawn of each side
 * @returns {{memory: VNode[], between: VNode[], graph: VNode[]}}
 */
export function scene(plan, opened, i, labels = {}, view = { memory: ALL, graph: ALL }) {
  const { cards: cardBoxes, storages: shelves, pins } = plan.memory;
  /** @param {{y: number, h: number} | undefined} at @param {import("../layout/view.js").Band} [side] */
  const isVisible = (at, side = view.memory) => !at || inBand(side, at.y - 40, at.y + at.h + 40);
  const snap = opened.at(i);
  const { entities } = snap;
  const s = sceneFacts(plan, opened, snap, { ...LABELS, ...labels }, view.peeks);
  /** @type {(VNode | null)[]} */
  const memory = [...laneHeads(s)];
  /** @type {(VNode | null)[]} */
  const wires = [];
  /** @type {(VNode | null)[]} */
  const cards = [];
  /** @type {Map<string, import("../layout/memory.js").CardRow[]>} */
  const rails = new Map();
  const touched = plan.metrics.dense ? touchedUids(snap) : new Set();
  /** @param {VNode | null} mark @param {string[]} uids whose mark it is */
  const emphasised = (mark, ...uids) => (touched.size && !uids.some((uid) => touched.has(uid)) ? receded(mark) : mark);
  for (const [uid, entity] of entities) {
    if (entity.kind === "frame") isVisible(cardBoxes.get(uid)) && memory.push(frameMark(s, uid, entity));
    else if (entity.kind === "object") isVisible(cardBoxes.get(uid)) && memory.push(objectMark(s, uid, entity));
    else if (entity.kind === "storage")
      isVisible(shelves.get(uid)) && memory.push(emphasised(storageMark(s, uid, entity), uid));
    else if (entity.kind === "tensor" || entity.kind === "array") {
      const row = handleRow(plan, uid, entity);
      if (!row) continue;
      if (entity.counter) {
        const key = `${entity.counter}|${entity.storage ?? ""}`;
        rails.set(key, [...(rails.get(key) ?? []), row]);
      }
      if (!isVisible(row) && !isVisible(shelves.get(entity.storage ?? ""), view.memory)) continue;
      wires.push(emphasised(beadsMark(s, uid, entity, row), uid, entity.storage));
      cards.push(
        emphasised(tagsMark(s, uid, row), uid, entity.storage),
        emphasised(cardMark(s, uid, entity, row), uid, entity.storage),
      );
    }
  }
  for (const [uid, storage] of snap.freed) isVisible(shelves.get(uid)) && memory.push(ghostMark(s, uid, storage));
  memory.push(...wires, ...gradPlaceholders(s, isVisible), ...cards);
  for (const [key, rows] of rails) {
    const ys = rows.map((row) => row.cy);
    if (!inBand(view.memory, Math.min(...ys) - 60, Math.max(...ys) + 60)) continue;
    const [counter, storage] = key.split("|");
    memory.push(emphasised(railMark(s, counter, storage, rows), counter, storage));
  }
  /** @type {(VNode | null)[]} */
  const graph = [];
  /** @type {(VNode | null)[]} */
  const between = [];
  /** @type {(VNode | null)[]} */
  const nodes = [];
  /** @type {Map<string, any[]>} */
  const pinned = new Map();
  /** @type {Map<string, VNode>} */
  const edges = new Map();
  for (const [uid, node] of entities) {
    if (node.kind !== "node") continue;
    const box = plan.graph.boxes.get(uid);
    if (isVisible(box, view.graph)) nodes.push(nodeMark(s, uid, node));
    (node.next ?? []).forEach((/** @type {any} */ _, /** @type {number} */ k) => {
      const key = `${uid}:${k}`;
      const edge = plan.graph.edges.get(plan.graph.carries.get(key) ?? key);
      if (!edge || !entities.has(node.next[k]?.[0]) || !crossesBand(view.graph, edge.points)) return;
      // Of the edges that a fold draws as one, that of the node that runs.
      if (snap.step?.visit?.node === uid || !edges.has(edge.key)) edges.set(edge.key, edgeMark(s, key, edge));
    });
    for (const [slot, saved] of Object.entries(node.saved ?? {})) {
      if (!saved.storage || saved.state === "freed" || node.released) continue;
      const key = pinKey(uid, slot, saved);
      const pin = pins.get(key);
      const seen = !pin || inBand(view.memory, pin.y - 40, pin.y + 40);
      if (seen) memory.push(pinMark(s, uid, slot, saved));
      if (seen) pinned.set(saved.storage, [...(pinned.get(saved.storage) ?? []), saved]);
      if (!plan.stacked && crossesBand(view.memory, plan.graph.leaders.get(key) ?? []))
        between.push(leaderMark(s, uid, slot, saved));
    }
    const variable = node.variable ? entities.get(node.variable) : undefined;
    const row = variable && handleRow(plan, node.variable, variable);
    if (!plan.stacked && (!row || !box || inBand(view.memory, row.cy, box.cy))) between.push(leafMeeting(s, uid, node));
  }
  for (const [storage, pins] of pinned) memory.push(alarmText(s, storage, pins));
  for (const rim of plan.graph.rims) if (isVisible(rim, view.graph)) graph.push(rimMark(s, rim));
  for (const fold of plan.graph.cards)
    if (isVisible(plan.graph.boxes.get(fold.uid), view.graph)) nodes.push(foldMark(s, fold));
  graph.push(...edges.values(), ...nodes, ...gradMarks(s));
  const drawn = (/** @type {(VNode | null)[]} */ list) => /** @type {VNode[]} */ (list.filter(Boolean));
  return { memory: drawn(memory), between: drawn(between), graph: drawn(graph) };
}

/** What a step did something to. @param {import("../state.js").Snapshot} snap @returns {Set<string>} */
function touchedUids(snap) {
  const visit = snap.step?.visit;
  return new Set([
    ...snap.fresh,
    ...snap.written.keys(),
    ...snap.changed,
    ...(visit ? [visit.node, visit.accumulates ?? ""] : []),
  ]);
}

/** In a crowd, what the step left alone stands back. @param {VNode | null} mark @returns {VNode | null} */
function receded(mark) {
  return mark && { ...mark, attrs: { ...mark.attrs, class: `${mark.attrs.class ?? ""} receded` } };
}

/** Whether a line through these points comes through the band. @param {import("../layout/view.js").Band} band
 * @param {[number, number][]} points */
function crossesBand(band, points) {
  const ys = points.map((point) => point[1]);
  return !ys.length || inBand(band, Math.min(...ys) - 20, Math.max(...ys) + 20);
}

/** @param {import("../layout/plan.js").Plan} plan @param {import("../state.js").OpenTrace} opened
 * @param {import("../state.js").Snapshot} snap @param {import("./labels.js").Labels} labels
 * @param {Map<string, number>} [peeks] @returns {Scene} */
function sceneFacts(plan, opened, snap, labels, peeks = new Map()) {
  const { entities, step, index } = snap;
  const steps = opened.trace.steps;
  const grads = new Set();
  /** @type {Map<string, string[]>} */
  const readers = new Map();
  /** @type {Map<string, string[]>} */
  const outputs = new Map();
  const naming = names(entities);
  for (const [uid, t] of entities) {
    if (t.kind !== "tensor" && t.kind !== "array") continue;
    if (t.storage) readers.set(t.storage, [...(readers.get(t.storage) ?? []), uid]);
    const to = t.grad ? entities.get(t.grad) : undefined;
    if (to?.storage) grads.add(to.storage);
    const vars = (naming.tags.get(uid) ?? []).filter((tag) => tag.kind === "var").map((tag) => tag.text);
    if (t.grad_fn && vars.length) outputs.set(t.grad_fn, [...(outputs.get(t.grad_fn) ?? []), ...vars]);
  }
  for (const [uid, node] of entities) {
    if (node.kind !== "node" || !node.variable) continue;
    const vars = (naming.tags.get(node.variable) ?? []).slice(0, 1).map((tag) => tag.text);
    if (vars.length) outputs.set(uid, vars);
  }
  // The visits of the backward in progress, those to come included: a trace is read after the run.
  const visits = step?.visit ? (plan.lives.visits.get(step.visit.backward) ?? []) : [];
  /** @type {Map<string, {k: number, step: number}>} */
  const visited = new Map();
  visits.forEach(({ node, step: at }, k) => {
    // Of a node that ran more than once the latest run seen so far counts.
    if (!visited.has(node) || at <= index) visited.set(node, { k: k + 1, step: at });
  });
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const visit of visits) {
    if (visit.step > index) continue;
    const grads_in = steps[visit.step]?.visit?.grad_inputs ?? [];
    (entities.get(visit.node)?.next ?? []).forEach((/** @type {any} */ edge, /** @type {number} */ k) => {
      if (edge && grads_in[k]) sums.set(edge[0], (sums.get(edge[0]) ?? 0) + 1);
    });
  }
  const events = new Set();
  const writers = new Set();
  for (const entry of step?.log ?? []) {
    if (entry.kind !== "event") continue;
    if (entry.node && entry.slot) events.add(`${entry.node}:${entry.slot}`);
    if (entry.event === "written" && entry.by) writers.add(entry.by);
  }
  return {
    plan,
    snap,
    labels: labels,
    peeks,
    names: naming,
    previous: opened.state(index - 1),
    steps,
    grads: /** @type {Set<string>} */ (grads),
    readers,
    writers: /** @type {Set<string>} */ (writers),
    outputs,
    visits,
    visited,
    sums,
    events: /** @type {Set<string>} */ (events),
    nodeName: (uid) => entities.get(uid)?.name ?? uid,
  };
}

/** The lanes' names. @param {Scene} s */
function laneHeads(s) {
  const { lanes } = s.plan.memory;
  const list = /** @type {[keyof import("./labels.js").Labels, number][]} */ ([
    ["names", lanes.names.x],
    ["handles", lanes.handles.x],
    ["storages", lanes.storages.x],
  ]);
  return list.map(([word, x]) => h("text", { key: `head ${word}`, class: "lane-head", x, y: 22 }, s.labels[word]));
}

/** `a.grad` before there is one: its place, kept free, says None; afterwards a line from the leaf to it.
 * @param {Scene} s @param {(at: {y: number, h: number} | undefined) => boolean} sees */
function gradPlaceholders(s, sees) {
  const out = [];
  const { metrics: M, memory } = s.plan;
  const owners = new Set([...s.snap.entities.keys(), ...s.snap.freed.keys()].map((k) => memory.storages.get(k)?.owner));
  for (const [uid, t] of s.snap.entities) {
    if (t.kind !== "tensor" || !t.leaf || !t.requires_grad || !t.storage) continue;
    const kid = memory.placeholders.get(t.storage);
    const row = handleRow(s.plan, uid, t);
    const shelf = kid ? memory.storages.get(kid) : undefined;
    if (!shelf || !row || !(sees(shelf) || sees(row))) continue;
    const grad = t.grad ? s.snap.entities.get(t.grad) : null;
    const target = grad ? handleRow(s.plan, t.grad, grad) : null;
    const x = memory.lanes.handles.x;
    if (grad && target && target.cy > row.cy)
      out.push(
        h("path", {
          key: `to grad ${uid}`,
          class: "grad-wire",
          "data-grad-wire": uid,
          d: `M${x + 26} ${row.cy + M.cardH / 2}V${target.cy - M.cardH / 2}`,
        }),
      );
    else if (!owners.has(t.storage) && !t.grad) {
      const y = shelf.stripY;
      const text = `${s.names.paths.get(uid) ?? ""}.grad`;
      out.push(
        h(
          "g",
          { key: `none ${uid}`, class: "placeholder" },
          h("path", { d: `M${x + 26} ${row.cy + M.cardH / 2}V${y}` }),
          h("rect", {
            x: shelf.stripX,
            y,
            width: Math.max(56, Math.min(shelf.strip.w, 160)),
            height: Math.min(M.cellH, 26),
            rx: 3,
          }),
          h("text", { class: "meta end", x: shelf.stripX - 14, y: y + 17 }, text),
          h("text", { class: "meta", x: shelf.stripX + 12, y: y + 17 }, s.labels.none),
        ),
      );
    }
  }
  return out;
}

/** A leaf meets its AccumulateGrad; in its visit the gradient goes on into `.grad`. @param {Scene} s @param {string} uid
 * @param {any} node */
function leafMeeting(s, uid, node) {
  const variable = s.snap.entities.get(node.variable ?? "");
  const box = s.plan.graph.boxes.get(uid);
  const row = variable ? handleRow(s.plan, node.variable, variable) : undefined;
  const shelf = s.plan.memory.storages.get(variable?.storage ?? "");
  if (!variable || !box || !row || !shelf) return null;
  const right = shelf.stripX + shelf.strip.w;
  const out = [];
  // In one line with its card, a strip has its pins and its name at its right: the line begins after them.
  const label = textWidth(inlineLabel(shelf.uid, s.snap.entities.get(shelf.uid) ?? {}), 8.5);
  const start = shelf.inline ? right + 14 + shelf.side + label : right;
  if (Math.abs(box.cy - row.cy) < 1)
    out.push(h("path", { key: "line", class: "leaf-line", d: `M${start} ${row.cy}H${box.x}` }));
  else {
    const x = s.plan.memory.width + 6;
    out.push(
      h("path", {
        key: "line",
        class: "leaf-line",
        d: roundedPath(
          [
            [start, row.cy],
            [x, row.cy],
            [x, box.cy],
            [box.x, box.cy],
          ],
          9,
        ),
      }),
    );
  }
  const visit = s.snap.step?.visit;
  const grad = visit?.node === uid && variable.grad ? s.snap.entities.get(variable.grad) : null;
  const to = grad ? s.plan.memory.storages.get(grad.storage ?? "") : undefined;
  if (to) {
    const x = box.x + 16;
    const y = to.stripY + Math.min(to.strip.h, 44) / 2;
    const end = to.stripX + to.strip.w + 6;
    out.push(
      h("path", {
        key: "into",
        class: "into-grad",
        d: roundedPath(
          [
            [x, box.y + box.h],
            [x, y],
            [end + 8, y],
          ],
          9,
        ),
      }),
    );
    out.push(h("path", { key: "tip", class: "arrow", d: `M${end} ${y}l9 -5v10z` }));
  }
  return h("g", { key: `meeting ${uid}`, class: "meeting", "data-meets": `${node.variable} ${uid}` }, out);
}
