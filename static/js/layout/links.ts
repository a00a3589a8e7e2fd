/** The links between memory and graph: of what a step touched, what is selected and what is broken. */

import { findEntity, isHandle } from "../trace/entities.ts";
import { BROKEN_SLOT_STATES } from "../trace/trace_index.ts";
import type { Names } from "../trace/names.ts";
import type { Snapshot } from "../trace/state.ts";
import type { Rect } from "./pane.ts";
import type { StagePlan } from "./stage_plan.ts";

/** What of a step its links are found from. */
interface LinkFacts {
  snap: Snapshot;
  names: Names;
  /** by storage, its handles */
  readers: Map<string, string[]>;
  nodeName: (uid: string) => string;
  /** the handles that a node made */
  made: (node: string) => string[];
}

/** gradient: one that arrives at a leaf; broken: a saved value that isn't what backward needs; new: what this step
 * made or saved. */
export interface PaneLink {
  key: string;
  kind: "gradient" | "broken" | "selected" | "new";
  graph: Rect;
  memory: Rect;
  graphName: string;
  memoryName: string;
  /** the gradient is added to another */
  sum: boolean;
  /** whether it begins at a saved slot */
  slot: boolean;
  /** whether something else stands in its line before it. The names are for an end that is out of sight */
  behind: boolean;
  /** how far above its end in the memory it passes, 0 where it comes from the right */
  above: number;
}

/** How far above a pin a link passes. */
const LINK_PIN_CLEARANCE = 6;
/** More links of what is new than these hide more than they tell. */
const MAX_NEW_LINKS = 6;

/** The links with both ends drawn, each once. `selected` is a uid. */
export function linksBetweenPanes(renderContext: LinkFacts, plan: StagePlan, selected: string | null): PaneLink[] {
  const { memory, graph } = plan;
  if (!memory || !graph) return [];
  const collector = new LinkCollector(renderContext, memory.anchors, graph.anchors);
  addArrivingGradientLink(collector);
  addSavedValueLinks(collector, selected);
  if (selected) addSelectionLinks(collector, selected);
  const newLinkList = linksOfNewEntities(renderContext, memory.anchors, graph.anchors);
  return [...collector.links.values(), ...newLinkList.filter(({ key }) => !collector.links.has(key))];
}

/** Gathers links between what is drawn in both panes. */
class LinkCollector {
  facts: LinkFacts;
  memory: Map<string, Rect>;
  graph: Map<string, Rect>;
  links = new Map<string, PaneLink>();

  /** Takes the anchors of both panes. */
  constructor(renderContext: LinkFacts, memory: Map<string, Rect>, graph: Map<string, Rect>) {
    this.facts = renderContext;
    this.memory = memory;
    this.graph = graph;
  }

  /** Of the `graphAnchors` the first that is drawn counts. */
  addLink(
    kind: PaneLink["kind"],
    graphAnchors: string[],
    memoryAnchors: string[],
    { graphName, memoryName, sum = false }: { graphName: string; memoryName: string; sum?: boolean },
  ) {
    const graphAnchor = graphAnchors.find((anchor) => this.graph.has(anchor));
    const memoryAnchor = memoryAnchors.find((anchor) => this.memory.has(anchor));
    const graph = this.graph.get(graphAnchor ?? "");
    const memory = this.memory.get(memoryAnchor ?? "");
    const lane = this.memory.get(`above ${memoryAnchor}`);
    const key = `${graphAnchor} ${memoryAnchor}`;
    if (graph && memory && !this.links.has(key))
      this.links.set(key, {
        key,
        kind,
        graph,
        memory,
        graphName,
        memoryName,
        sum,
        slot: graphAnchor?.includes(":") ?? false,
        behind: this.hasAnchorOnItsLeft(graph),
        above: memoryAnchor?.startsWith("pin ") ? LINK_PIN_CLEARANCE : lane && memory ? memory.y - lane.y : 0,
      });
  }

  /** Whether something stands left of this in its line. */
  hasAnchorOnItsLeft({ x, y, h }: Rect) {
    const middle = y + h / 2;
    for (const other of this.graph.values())
      if (other.x + other.w <= x && other.y < middle && other.y + other.h > middle) return true;
    return false;
  }

  /** What a reader calls an entity. */
  entityName(uid: string) {
    return this.facts.names.paths.get(uid) ?? uid;
  }
}

/** The gradient that reaches a leaf in this visit. */
function addArrivingGradientLink(collector: LinkCollector) {
  const { step, entities } = collector.facts.snap;
  const leafUid = step?.visit?.accumulates;
  if (!step?.visit || !leafUid) return;
  const tensor = entities.get(leafUid);
  const first = step.log.some((entry) => entry.kind === "event" && entry.event === "grad_accumulated" && entry.first);
  const grad = tensor?.kind === "tensor" ? tensor.grad : null;
  const memoryName = `${collector.entityName(leafUid)}.grad`;
  collector.addLink(
    "gradient",
    [`dock ${step.visit.node}`, step.visit.node],
    [`grad ${leafUid}`, grad ?? "", leafUid],
    {
      graphName: memoryName,
      memoryName,
      sum: !first,
    },
  );
}

/** Slots whose value is broken, and those that keep the selected storage. */
function addSavedValueLinks(collector: LinkCollector, selected: string | null) {
  const { entities } = collector.facts.snap;
  const selectedEntity = entities.get(selected ?? "");
  const storageUid =
    selectedEntity?.kind === "storage" ? selected : isHandle(selectedEntity) ? selectedEntity.storage : null;
  for (const [uid, node] of entities) {
    if (node.kind !== "node") continue;
    for (const [slot, saved] of Object.entries(node.saved ?? {})) {
      const isBroken = BROKEN_SLOT_STATES.has(saved.state) && !node.released;
      if (!saved.storage || !(isBroken || saved.storage === storageUid || uid === selected)) continue;
      if (saved.state === "freed" || node.released) continue;
      const named = {
        graphName: `${collector.facts.nodeName(uid)} · ${slot}`,
        memoryName: storageHandleName(collector, saved.storage),
      };
      collector.addLink(
        isBroken ? "broken" : "selected",
        [`${uid}:${slot}`, uid],
        [`pin ${uid}:${slot}`, saved.storage],
        named,
      );
    }
  }
}

/** The node that made the selected handle, the leaves docked for it, or what the selected node made. */
function addSelectionLinks(collector: LinkCollector, selected: string) {
  const handle = findEntity(collector.facts.snap.entities, selected, "tensor");
  const named = (nodeUid: string, uid: string) => ({
    graphName: collector.facts.nodeName(nodeUid),
    memoryName: collector.entityName(uid),
  });
  if (handle?.grad_fn) collector.addLink("selected", [handle.grad_fn], [selected], named(handle.grad_fn, selected));
  for (const [uid, node] of collector.facts.snap.entities) {
    if (node.kind !== "node") continue;
    if (node.variable === selected)
      collector.addLink("selected", [`dock ${uid}`, uid], [selected], named(uid, selected));
    if (uid === selected && node.variable)
      collector.addLink("selected", [`dock ${uid}`, uid], [node.variable], named(uid, node.variable));
  }
  if (selected[0] !== "n") return;
  for (const uid of collector.facts.made(selected))
    collector.addLink("selected", [selected], [uid], named(selected, uid));
}

/** From what this step made to the node that made it, and from the slots that it filled to what they keep; none
 * where there are too many. */
function linksOfNewEntities(renderContext: LinkFacts, memory: Map<string, Rect>, graph: Map<string, Rect>): PaneLink[] {
  const { snap } = renderContext;
  if (snap.step?.visit) return [];
  const collector = new LinkCollector(renderContext, memory, graph);
  for (const uid of snap.fresh) {
    const entity = snap.entities.get(uid);
    if (entity?.kind === "tensor" && entity.grad_fn && renderContext.names.tags.has(uid))
      collector.addLink("new", [entity.grad_fn], [uid], {
        graphName: renderContext.nodeName(entity.grad_fn),
        memoryName: collector.entityName(uid),
      });
    if (entity?.kind !== "node") continue;
    for (const [slot, saved] of Object.entries(entity.saved ?? {}))
      if (saved.storage && saved.state === "ok")
        collector.addLink("new", [`${uid}:${slot}`], [`pin ${uid}:${slot}`, saved.storage], {
          graphName: `${renderContext.nodeName(uid)} · ${slot}`,
          memoryName: storageHandleName(collector, saved.storage),
        });
  }
  return collector.links.size > MAX_NEW_LINKS ? [] : [...collector.links.values()];
}

/** A storage by the name of one of its handles. */
function storageHandleName(collector: LinkCollector, storageUid: string) {
  const reader = (collector.facts.readers.get(storageUid) ?? []).find((uid) => collector.facts.names.paths.has(uid));
  return reader ? collector.entityName(reader) : storageUid;
}
