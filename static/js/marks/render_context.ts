/**
 * What the marks of one step need to know besides their own entity: names, readers, the backward in progress, the
 * step's events.
 */

import { findEntity, isHandle } from "../trace/entities.ts";
import { cachedGraphModel } from "../layout/graph/graph_model.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import { addToList } from "../trace/multimap.ts";
import { oldValuesAt, type OldValues } from "./old_values.ts";
import type { Names } from "../trace/names.ts";
import type { Entities, OpenTrace, Snapshot } from "../trace/state.ts";
import type { StageLabels } from "./labels.ts";

/** So many changed tensors have frames around what changed. */
const MAX_FRAMED = 12;

export interface RenderContext {
  snap: Snapshot;
  labels: StageLabels;
  names: Names;
  previous: Entities;
  /** storages of gradients */
  grads: Set<string>;
  /** by storage, its handles */
  readers: Map<string, string[]>;
  /** the step changed more tensors than are framed: each has a bar beside it */
  manyChanged: boolean;
  /** handles that the step wrote through */
  writers: Set<string>;
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
  let oldValues: OldValues | null = null;
  return {
    snap,
    oldValues() {
      oldValues ??= oldValuesAt(opened, snap);
      return oldValues;
    },
    labels,
    manyChanged: new Set([...snap.written.keys(), ...snap.fresh].filter((uid) => uid[0] === "s")).size > MAX_FRAMED,
    peeks: windowStarts,
    hadGraph: [...opened.index.nodes.keys()].some((uid) => (opened.index.lifetimes.get(uid)?.birth ?? index) <= index),
    names: opened.names(index),
    previous: opened.state(index - 1),
    ...gradientAndReaderFacts(snap),
    ...eventFacts(snap),
    made: (nodeUid) => opened.index.outputsOfNode(nodeUid, index),
    nodeName: (uid) =>
      cachedGraphModel(opened).labels.get(uid) ?? shortNodeName(findEntity(entities, uid, "node")?.name ?? uid),
  };
}

function gradientAndReaderFacts({ entities }: Snapshot): Pick<RenderContext, "grads" | "readers"> {
  const grads = new Set<string>();
  const readers = new Map<string, string[]>();
  for (const [uid, entity] of entities) {
    if (!isHandle(entity)) continue;
    if (entity.storage) addToList(readers, entity.storage, uid);
    const grad = entity.grad ? entities.get(entity.grad) : undefined;
    if (isHandle(grad) && grad.storage) grads.add(grad.storage);
  }
  return { grads, readers };
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
