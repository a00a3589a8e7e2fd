/** The links between memory and graph: of what a step touched, what is selected and what is broken. */

import { find, isHandle } from "../entities.js";
import { ALARMS } from "../trace_index.js";

/** @typedef {import("./pane.js").Rect} Rect */
/** @typedef {import("./stage_plan.js").StagePlan} StagePlan */
/** @typedef {import("../marks/step_facts.js").StepFacts} StepFacts */
/**
 * @typedef {{key: string, kind: "gradient" | "broken" | "selected" | "new", graph: Rect, memory: Rect, graphName: string,
 *   memoryName: string, sum: boolean, slot: boolean, pin: boolean}} Link
 *   gradient: one that arrives at a leaf; broken: a saved value that isn't what backward needs; new: what this step made
 *   or saved. sum: the gradient is added to another. slot, pin: whether it begins at a saved slot, and ends at its pin. The names are for an end that is out of sight
 */

/** More links of what is new than these hide more than they tell. */
const MOST_NEW = 6;

/**
 * @param {StepFacts} facts @param {StagePlan} plan @param {string | null} selected its uid
 * @returns {Link[]} those with both ends drawn, each once
 */
export function links(facts, plan, selected) {
  const { memory, graph } = plan;
  if (!memory || !graph) return [];
  const join = new Join(facts, memory.anchors, graph.anchors);
  arrivingGradient(join);
  savedValues(join, selected);
  if (selected) selection(join, selected);
  const fresh = newest(facts, memory.anchors, graph.anchors);
  return [...join.links.values(), ...fresh.filter(({ key }) => !join.links.has(key))];
}

/** Gathers links between what is drawn in both panes. */
class Join {
  /** @param {StepFacts} facts @param {Map<string, Rect>} memory @param {Map<string, Rect>} graph anchors */
  constructor(facts, memory, graph) {
    this.facts = facts;
    this.memory = memory;
    this.graph = graph;
    /** @type {Map<string, Link>} */
    this.links = new Map();
  }

  /** @param {Link["kind"]} kind @param {string[]} graphAnchors the first that is drawn counts @param {string[]} memoryAnchors
   * @param {{graphName: string, memoryName: string, sum?: boolean}} named */
  add(kind, graphAnchors, memoryAnchors, { graphName, memoryName, sum = false }) {
    const from = graphAnchors.find((anchor) => this.graph.has(anchor));
    const to = memoryAnchors.find((anchor) => this.memory.has(anchor));
    const graph = this.graph.get(from ?? "");
    const memory = this.memory.get(to ?? "");
    const key = `${from} ${to}`;
    if (graph && memory && !this.links.has(key))
      this.links.set(key, {
        key,
        kind,
        graph,
        memory,
        graphName,
        memoryName,
        sum,
        slot: from?.includes(":") ?? false,
        pin: to?.startsWith("pin ") ?? false,
      });
  }

  /** What a reader calls an entity. @param {string} uid */
  nameOf(uid) {
    return this.facts.names.paths.get(uid) ?? uid;
  }
}

/** The gradient that reaches a leaf in this visit. @param {Join} join */
function arrivingGradient(join) {
  const { step, entities } = join.facts.snap;
  const leaf = step?.visit?.accumulates;
  if (!step?.visit || !leaf) return;
  const tensor = entities.get(leaf);
  const first = step.log.some((entry) => entry.kind === "event" && entry.event === "grad_accumulated" && entry.first);
  const grad = tensor?.kind === "tensor" ? tensor.grad : null;
  const memoryName = `${join.nameOf(leaf)}.grad`;
  join.add("gradient", [`dock ${step.visit.node}`, step.visit.node], [`grad ${leaf}`, grad ?? "", leaf], {
    graphName: `+= ${join.nameOf(leaf)}`,
    memoryName,
    sum: !first,
  });
}

/** Slots whose value is broken, and those that keep the selected storage. @param {Join} join @param {string | null} selected */
function savedValues(join, selected) {
  const { entities } = join.facts.snap;
  const chosen = entities.get(selected ?? "");
  const storage = chosen?.kind === "storage" ? selected : isHandle(chosen) ? chosen.storage : null;
  for (const [uid, node] of entities) {
    if (node.kind !== "node") continue;
    for (const [slot, saved] of Object.entries(node.saved ?? {})) {
      const broken = ALARMS.has(saved.state) && !node.released;
      if (!saved.storage || !(broken || saved.storage === storage || uid === selected)) continue;
      if (saved.state === "freed" || node.released) continue;
      const named = {
        graphName: `${join.facts.nodeName(uid)} · ${slot}`,
        memoryName: storageName(join, saved.storage),
      };
      join.add(broken ? "broken" : "selected", [`${uid}:${slot}`, uid], [`pin ${uid}:${slot}`, saved.storage], named);
    }
  }
}

/** The node that made the selected handle, the leaves docked for it, or what the selected node made.
 * @param {Join} join @param {string} selected */
function selection(join, selected) {
  const handle = find(join.facts.snap.entities, selected, "tensor");
  const named = (/** @type {string} */ node, /** @type {string} */ uid) => ({
    graphName: join.facts.nodeName(node),
    memoryName: join.nameOf(uid),
  });
  if (handle?.grad_fn) join.add("selected", [handle.grad_fn], [selected], named(handle.grad_fn, selected));
  for (const [uid, node] of join.facts.snap.entities) {
    if (node.kind !== "node") continue;
    if (node.variable === selected) join.add("selected", [`dock ${uid}`, uid], [selected], named(uid, selected));
    if (uid === selected && node.variable)
      join.add("selected", [`dock ${uid}`, uid], [node.variable], named(uid, node.variable));
  }
  if (selected[0] !== "n") return;
  for (const uid of join.facts.made(selected)) join.add("selected", [selected], [uid], named(selected, uid));
}

/** From what this step made to the node that made it, and from the slots that it filled to what they keep; none where
 * there are too many. @param {StepFacts} facts @param {Map<string, Rect>} memory @param {Map<string, Rect>} graph @returns {Link[]} */
function newest(facts, memory, graph) {
  const { snap } = facts;
  if (snap.step?.visit) return [];
  const join = new Join(facts, memory, graph);
  for (const uid of snap.fresh) {
    const entity = snap.entities.get(uid);
    if (entity?.kind === "tensor" && entity.grad_fn && facts.names.tags.has(uid))
      join.add("new", [entity.grad_fn], [uid], {
        graphName: facts.nodeName(entity.grad_fn),
        memoryName: join.nameOf(uid),
      });
    if (entity?.kind !== "node") continue;
    for (const [slot, saved] of Object.entries(entity.saved ?? {}))
      if (saved.storage && saved.state === "ok")
        join.add("new", [`${uid}:${slot}`], [`pin ${uid}:${slot}`, saved.storage], {
          graphName: `${facts.nodeName(uid)} · ${slot}`,
          memoryName: storageName(join, saved.storage),
        });
  }
  return join.links.size > MOST_NEW ? [] : [...join.links.values()];
}

/** A storage by the name of one of its handles. @param {Join} join @param {string} storage */
function storageName(join, storage) {
  const reader = (join.facts.readers.get(storage) ?? []).find((uid) => join.facts.names.paths.has(uid));
  return reader ? join.nameOf(reader) : storage;
}
