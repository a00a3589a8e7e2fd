/**
 * What the marks of one step need to know besides their own entity: names, readers, the backward in progress, the
 * step's events.
 */

import { findEntity, isHandle } from "../trace/entities.ts";
import { cachedGraphModel } from "../layout/graph/graph_model.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import { touchedByStep, type TouchedEntities } from "../layout/touched.ts";
import { addToList } from "../trace/multimap.ts";
import { oldValuesAt, type OldValues } from "./old_values.ts";
import type { Names } from "../trace/names.ts";
import type { Entities, OpenTrace, Snapshot } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";
import type { StageLabels } from "./labels.ts";

/** So many changed tensors have frames around what changed. */
const MAX_FRAMED = 12;

export interface RenderContext {
  snap: Snapshot;
  /** what the step touched */
  touched: TouchedEntities;
  labels: StageLabels;
  names: Names;
  previous: Entities;
  steps: Step[];
  /** storages of gradients */
  grads: Set<string>;
  /** by storage, its handles */
  readers: Map<string, string[]>;
  /** the step changed more tensors than are framed: each has a bar beside it */
  manyChanged: boolean;
  /** handles that the step wrote through */
  writers: Set<string>;
  /** by node, the names of what it made */
  outputs: Map<string, string[]>;
  /** of the backward in progress, those to come included */
  visits: { node: string; step: number }[];
  /** by node, its turn and step */
  visited: Map<string, { k: number; step: number }>;
  /** how many gradients reached a node */
  sums: Map<string, number>;
  /** saved slots that the step has news of, as `node:slot` */
  events: Set<string>;
  nodeName: (uid: string) => string;
  /** the handles that a node made */
  made: (node: string) => string[];
  /** from where on big storages show their cells */
  peeks: Map<string, number>;
  /** whether nodes were there before, or are */
  hadGraph: boolean;
  /** by storage, the values struck out in its cells */
  oldValues: () => OldValues;
}

export function createRenderContext(
  opened: OpenTrace,
  snap: Snapshot,
  labels: StageLabels,
  windowStarts: Map<string, number> = new Map(),
): RenderContext {
  const { entities, index } = snap;
  const { steps } = opened.trace;
  const namesAndPaths = opened.names(index);
  let oldValues: OldValues | null = null;
  return {
    snap,
    oldValues() {
      oldValues ??= oldValuesAt(opened, snap);
      return oldValues;
    },
    touched: touchedByStep(snap.step, entities),
    labels,
    manyChanged: new Set([...snap.written.keys(), ...snap.fresh].filter((uid) => uid[0] === "s")).size > MAX_FRAMED,
    peeks: windowStarts,
    hadGraph: [...opened.index.nodes.keys()].some((uid) => (opened.index.lifetimes.get(uid)?.birth ?? index) <= index),
    names: namesAndPaths,
    previous: opened.state(index - 1),
    steps,
    ...gradientAndReaderFacts(snap, namesAndPaths),
    ...backwardVisitFacts(opened, snap),
    ...eventFacts(snap),
    made: (nodeUid) => opened.index.outputsOfNode(nodeUid, index),
    nodeName: (uid) =>
      cachedGraphModel(opened).labels.get(uid) ?? shortNodeName(findEntity(entities, uid, "node")?.name ?? uid),
  };
}

function gradientAndReaderFacts(
  { entities }: Snapshot,
  namesAndPaths: Names,
): Pick<RenderContext, "grads" | "readers" | "outputs"> {
  const grads = new Set<string>();
  const readers = new Map<string, string[]>();
  const outputs = new Map<string, string[]>();
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

/** A trace is read after the run: visits to come are known. */
function backwardVisitFacts(
  opened: OpenTrace,
  { entities, step, index }: Snapshot,
): Pick<RenderContext, "visits" | "visited" | "sums"> {
  const visits = step?.visit ? (opened.index.visitsByBackward.get(step.visit.backward) ?? []) : [];
  const visited = new Map<string, { k: number; step: number }>();
  visits.forEach(({ node, step: visitStep }, k) => {
    // Of a node that ran more than once the latest run seen so far counts.
    if (!visited.has(node) || visitStep <= index) visited.set(node, { k: k + 1, step: visitStep });
  });
  const sums = new Map<string, number>();
  for (const visit of visits) {
    if (visit.step > index) continue;
    const grads = opened.trace.steps[visit.step]?.visit?.grad_inputs ?? [];
    (findEntity(entities, visit.node, "node")?.next ?? []).forEach((edge, k) => {
      if (edge && grads[k]) sums.set(edge[0], (sums.get(edge[0]) ?? 0) + 1);
    });
  }
  return { visits, visited, sums };
}

function eventFacts({ step }: Snapshot): Pick<RenderContext, "events" | "writers"> {
  const events = new Set<string>();
  const writers = new Set<string>();
  for (const entry of step?.log ?? []) {
    if (entry.kind !== "event") continue;
    if ("node" in entry && "slot" in entry) events.add(`${entry.node}:${entry.slot}`);
    if (entry.event === "written" && entry.by) writers.add(entry.by);
  }
  return { events, writers };
}
