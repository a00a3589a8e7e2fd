/** What the marks of one step need to know besides their own entity: names, readers, the backward in progress, the step's events. */

import { find, isHandle } from "../trace/entities.js";
import { graphModelOf } from "../layout/graph_model.js";
import { shortNodeName } from "../layout/node_labels.js";
import { touched } from "../layout/touched.js";
import { addToList } from "../trace/multimap.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../trace/state.js").Snapshot} Snapshot */
/** @typedef {import("../trace/names.js").Names} Names */
/**
 * @typedef {{snap: Snapshot, touched: import("../layout/touched.js").Touched, labels: import("./labels.js").Labels, names: Names,
 *   previous: import("../trace/state.js").Entities, steps: import("../trace/wire.js").Step[], grads: Set<string>,
 *   readers: Map<string, string[]>, writers: Set<string>, outputs: Map<string, string[]>,
 *   visits: {node: string, step: number}[], visited: Map<string, {k: number, step: number}>, sums: Map<string, number>,
 *   events: Set<string>, nodeName: (uid: string) => string, made: (node: string) => string[], peeks: Map<string, number>}} StepFacts
 *   touched: what the step touched. grads: storages of gradients. readers: by storage, its handles. writers: handles that the step wrote through. outputs:
 *   by node, the names of what it made. visits: of the backward in progress, those to come included; visited: by node, its
 *   turn and step; sums: how many gradients reached a node. events: saved slots that the step has news of, as `node:slot`. made: the handles that a node made.
 *   peeks: from where on big storages show their cells
 */

/** @param {OpenTrace} opened @param {Snapshot} snap @param {import("./labels.js").Labels} labels
 * @param {Map<string, number>} [windowStarts] @returns {StepFacts} */
export function stepFacts(opened, snap, labels, windowStarts = new Map()) {
  const { entities, index } = snap;
  const { steps } = opened.trace;
  const namesAndPaths = opened.names(index);
  return {
    snap,
    touched: touched(snap.step, entities),
    labels,
    peeks: windowStarts,
    names: namesAndPaths,
    previous: opened.state(index - 1),
    steps,
    ...sharingFacts(snap, namesAndPaths),
    ...backwardFacts(opened, snap),
    ...eventFacts(snap),
    made: (nodeUid) => opened.index.outputsOf(nodeUid, index),
    nodeName: (uid) => graphModelOf(opened).labels.get(uid) ?? shortNodeName(find(entities, uid, "node")?.name ?? uid),
  };
}

/** @param {Snapshot} snap @param {Names} namesAndPaths @returns {Pick<StepFacts, "grads" | "readers" | "outputs">} */
function sharingFacts({ entities }, namesAndPaths) {
  const grads = /** @type {Set<string>} */ (new Set());
  const readers = /** @type {Map<string, string[]>} */ (new Map());
  const outputs = /** @type {Map<string, string[]>} */ (new Map());
  for (const [uid, entity] of entities) {
    if (!isHandle(entity)) continue;
    if (entity.storage) addToList(readers, entity.storage, uid);
    const grad = entity.grad ? entities.get(entity.grad) : undefined;
    if (isHandle(grad) && grad.storage) grads.add(grad.storage);
    if (!entity.grad_fn) continue;
    for (const tag of namesAndPaths.tags.get(uid) ?? [])
      if (tag.kind === "var") addToList(outputs, entity.grad_fn, tag.text);
  }
  for (const [uid, node] of entities) {
    const tag = node.kind === "node" && node.variable ? namesAndPaths.tags.get(node.variable)?.[0] : undefined;
    if (tag) outputs.set(uid, [tag.text]);
  }
  return { grads, readers, outputs };
}

/** A trace is read after the run: visits to come are known. @param {OpenTrace} opened @param {Snapshot} snap
 * @returns {Pick<StepFacts, "visits" | "visited" | "sums">} */
function backwardFacts(opened, { entities, step, index }) {
  const visits = step?.visit ? (opened.index.visits.get(step.visit.backward) ?? []) : [];
  const visited = /** @type {Map<string, {k: number, step: number}>} */ (new Map());
  visits.forEach(({ node, step: visitStep }, k) => {
    // Of a node that ran more than once the latest run seen so far counts.
    if (!visited.has(node) || visitStep <= index) visited.set(node, { k: k + 1, step: visitStep });
  });
  const sums = /** @type {Map<string, number>} */ (new Map());
  for (const visit of visits) {
    if (visit.step > index) continue;
    const grads = opened.trace.steps[visit.step]?.visit?.grad_inputs ?? [];
    (find(entities, visit.node, "node")?.next ?? []).forEach((edge, k) => {
      if (edge && grads[k]) sums.set(edge[0], (sums.get(edge[0]) ?? 0) + 1);
    });
  }
  return { visits, visited, sums };
}

/** @param {Snapshot} snap @returns {Pick<StepFacts, "events" | "writers">} */
function eventFacts({ step }) {
  const events = /** @type {Set<string>} */ (new Set());
  const writers = /** @type {Set<string>} */ (new Set());
  for (const entry of step?.log ?? []) {
    if (entry.kind !== "event") continue;
    if ("node" in entry && "slot" in entry) events.add(`${entry.node}:${entry.slot}`);
    if (entry.event === "written" && entry.by) writers.add(entry.by);
  }
  return { events, writers };
}
