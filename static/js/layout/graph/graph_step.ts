/**
 * What a step says about the graph: which nodes live, what backward did to them, what their tensors are called, what
 * matters.
 */

import type { Names } from "../../trace/names.ts";
import { findEntity, isHandle } from "../../trace/entities.ts";
import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { uidOfSelection, type PaneOptions } from "../pane.ts";
import { touchedByStep, type TouchedEntities } from "../touched.ts";
import type { Entities } from "../../trace/state.ts";
import type { Node, Step, Visit } from "../../trace/wire.ts";
import type { GraphModel, VisitFacts, GraphComponent, NodeBlock } from "./graph_parts.ts";

/** when a node is run by the backward that its graph is in, or was last in */
export interface VisitOrder {
  k: number;
  step: number;
  state: "done" | "running" | "waiting" | "failed";
}

/** The graph of a trace after one step. */
export class GraphStep {
  model: GraphModel;
  i: number;
  entities: Entities;
  step: Step | null;
  names: Names;
  touched: TouchedEntities;
  selected: string | null;
  toggled: ReadonlySet<string>;
  compact: boolean;
  visitedNode: string | null;
  /** the line of the visited node: its own, or that of the node that it is docked to */
  visitedLine: string | null;
  /** where the visit's gradients go */
  gradientTargets = new Set<string>();
  /** saved slots that the step has news of */
  slotsInEvents = new Set<string>();
  /** by node, of the tensors that it made */
  outputs = new Map<string, { texts: string[]; retains: boolean; hooks: boolean }>();
  /** by storage, the first name of a tensor in it */
  firstNameByStorage = new Map<string, string>();
  components: GraphComponent[];
  livingBlocks = new Map<string, NodeBlock[]>();
  /** by graph, the backward that it is in, or was last in */
  backwards = new Map<string, string>();
  /** as far as they were asked for */
  visitOrderCache = new Map<GraphComponent, Map<string, VisitOrder | null>>();
  /** by backward and node, how many gradients that backward brought to each of its outputs */
  gradientArrivals = new Map<string, number[]>();
  /** graphs that backward has let go of */
  releasedComponents: Set<GraphComponent>;

  constructor(model: GraphModel, i: number, options: PaneOptions) {
    const { opened } = model;
    this.model = model;
    this.i = i;
    this.entities = opened.state(i);
    this.step = i >= 0 ? (opened.trace.steps[i] ?? null) : null;
    this.names = opened.names(i);
    this.touched = touchedByStep(this.step, this.entities);
    this.selected = uidOfSelection(options.selected);
    this.toggled = options.toggled;
    this.compact = options.compact ?? false;
    this.visitedNode = this.step?.visit?.node ?? null;
    this.visitedLine = (this.visitedNode && model.hosts.get(this.visitedNode)) ?? this.visitedNode;
    const next = findEntity(this.entities, this.visitedNode, "node")?.next ?? [];
    (this.step?.visit?.grad_inputs ?? []).forEach((grad, k) => {
      const to = next[k]?.[0];
      if (grad && to) this.gradientTargets.add(to);
    });
    for (const entry of this.step?.log ?? [])
      if (entry.kind === "event" && "node" in entry && "slot" in entry)
        this.slotsInEvents.add(`${entry.node}:${entry.slot}`);
    this.collectTensorNames();
    this.components = model.components.filter(({ birth, death }) => birth <= i && i <= death);
    for (const component of this.components) this.findBackwardOfComponent(component);
    this.releasedComponents = new Set(this.components.filter((component) => this.isComponentReleased(component)));
  }

  /** Names and flags of tensors by the node and the storage that they belong to. */
  collectTensorNames() {
    for (const [uid, handle] of this.entities) {
      if (!isHandle(handle)) continue;
      const name = this.tensorName(uid);
      if (name && handle.storage && !this.firstNameByStorage.has(handle.storage))
        this.firstNameByStorage.set(handle.storage, name);
      if (handle.kind !== "tensor" || !handle.grad_fn) continue;
      const output = this.outputs.get(handle.grad_fn) ?? { texts: [], retains: false, hooks: false };
      this.outputs.set(handle.grad_fn, output);
      const tags = this.names.tags.get(uid) ?? [];
      const variables = tags.filter((tag) => tag.kind === "var").map((tag) => tag.text);
      if (variables.length) output.texts.unshift(...variables);
      else if (name) output.texts.push(name);
      output.retains ||= Boolean(handle.retains_grad);
      output.hooks ||= Boolean(handle.hooks);
    }
  }

  /** The name by which a reader knows a tensor: a variable's, else a path that does not go through an optimizer. */
  tensorName(uid: string): string | null {
    const tags = this.names.tags.get(uid) ?? [];
    const tag =
      tags.find((tag) => tag.kind === "var") ?? tags.find((tag) => !tag.text.includes("param_groups")) ?? tags[0];
    return tag?.text ?? null;
  }

  findBackwardOfComponent(component: GraphComponent) {
    const blocks = component.order.filter((block) => this.node(block.uid));
    this.livingBlocks.set(component.key, blocks);
    let latestStep = -1;
    for (const { uid } of blocks)
      for (const visit of this.model.visits.get(uid) ?? []) {
        if (visit.step > this.i || visit.step <= latestStep) continue;
        latestStep = visit.step;
        this.backwards.set(component.key, visit.backward);
      }
    if (latestStep < 0) return;
    for (const block of blocks) {
      this.countGradientArrivals(block.uid, component);
      for (const { vias } of block.docks) for (const via of vias) this.countGradientArrivals(via, component);
    }
  }

  countGradientArrivals(uid: string, component: GraphComponent) {
    const grads = this.latestVisit(uid, component)?.grad_inputs ?? [];
    (this.node(uid)?.next ?? []).forEach((edge, k) => {
      if (!edge || !grads[k]) return;
      const key = this.arrivalsKey(edge[0], component);
      const counts = this.gradientArrivals.get(key) ?? [];
      counts[edge[1]] = (counts[edge[1]] ?? 0) + 1;
      this.gradientArrivals.set(key, counts);
    });
  }

  /** A leaf of several graphs gets gradients of several backwards: what they bring doesn't meet. */
  arrivalsKey(uid: string, component: GraphComponent) {
    return `${this.backwards.get(component.key)} ${uid}`;
  }

  /** At which output of a node the most gradients met in the backward that a graph was last in, and how many. */
  mostGradientArrivals(uid: string, component: GraphComponent) {
    let most = { nr: 0, count: 0 };
    this.gradientArrivals.get(this.arrivalsKey(uid, component))?.forEach((count, nr) => {
      if (count > most.count) most = { nr, count };
    });
    return most;
  }

  node(uid: string): Node | undefined {
    return findEntity(this.entities, uid, "node");
  }

  /** The graph is the one that the node is in or docked to. */
  visitOrder(uid: string, component: GraphComponent): VisitOrder | null {
    let turns = this.visitOrderCache.get(component);
    if (!turns) this.visitOrderCache.set(component, (turns = new Map()));
    let turn = turns.get(uid);
    if (turn === undefined) turns.set(uid, (turn = this.computeVisitOrder(uid, component)));
    return turn;
  }

  computeVisitOrder(uid: string, component: GraphComponent): VisitOrder | null {
    const backwardUid = this.backwards.get(component.key);
    if (!backwardUid) return null;
    const { first, last } = this.model.backwards.get(backwardUid) ?? { first: 0, last: -1 };
    let latestVisit: VisitFacts | null = null;
    for (const visit of this.model.visits.get(uid) ?? [])
      if (visit.backward === backwardUid && (visit.step <= this.i || !latestVisit)) latestVisit = visit;
    if (!latestVisit) return null;
    const { k, step } = latestVisit;
    if (step > this.i) return first <= this.i && this.i < last ? { k, step, state: "waiting" } : null;
    if (this.model.opened.trace.steps[step].visit?.failed) return { k, step, state: "failed" };
    return { k, step, state: step < this.i ? "done" : "running" };
  }

  /** Whether a node, or a leaf's, has a turn in the backward that one of the graphs is in. */
  hasVisitOrder(uid: string) {
    return this.components.some((component) => this.visitOrder(uid, component) !== null);
  }

  /** Whether a node is of the past: backward is over and let go of what its graph saved. */
  isReleasedAndUntouched(block: NodeBlock) {
    return this.releasedComponents.has(block.component) && !this.isOfInterest(block);
  }

  /** Whether the backward that a graph was last in has ended without failing, and some node let go of what it had
   * saved. */
  isComponentReleased(component: GraphComponent) {
    const { last = Infinity } = this.model.backwards.get(this.backwards.get(component.key) ?? "") ?? {};
    if (last >= this.i || this.model.opened.trace.steps[last]?.visit?.failed) return false;
    return (this.livingBlocks.get(component.key) ?? []).some(({ uid }) => this.node(uid)?.released);
  }

  /** What the backward that a graph was last in did at a node, so far. */
  latestVisit(uid: string, component: GraphComponent): Visit | null {
    const turn = this.visitOrder(uid, component);
    if (!turn || turn.step > this.i) return null;
    return this.model.opened.trace.steps[turn.step].visit ?? null;
  }

  /** Whether what arrived at a leaf in the backward that its graph was last in was added to a gradient that it had. */
  isAddedToGradient(leafUid: string, component: GraphComponent): boolean {
    const step = this.visitOrder(leafUid, component)?.step ?? Infinity;
    if (step > this.i) return false;
    const { additions, opened } = this.model;
    let isAdded = additions.get(step);
    if (isAdded === undefined) {
      const before = opened.state(step - 1);
      isAdded = Boolean(findEntity(before, findEntity(before, leafUid, "node")?.variable, "tensor")?.grad);
      additions.set(step, isAdded);
    }
    return isAdded;
  }

  /** The reader at which a leaf stands for itself: the one whose gradient came last, else the first. */
  mainReaderOf(leafUid: string): string | null {
    let reader = null as string | null;
    let latestStep = -1;
    for (const uid of this.model.readersOf.get(leafUid) ?? []) {
      const block = this.model.blocks.get(uid);
      if (!block || !this.node(uid)) continue;
      reader ??= uid;
      const turn = this.visitOrder(uid, block.component);
      if (!turn || turn.step > this.i || turn.step < latestStep) continue;
      latestStep = turn.step;
      reader = uid;
    }
    return reader;
  }

  /** The reader at which the step has to do with a leaf; null where it has nothing to do with it. */
  touchedReaderOf(leafUid: string) {
    if (leafUid === this.visitedNode || leafUid === this.selected) return this.mainReaderOf(leafUid);
    const block = this.gradientTargets.has(leafUid) ? this.model.blocks.get(this.visitedLine ?? "") : undefined;
    return block?.docks.some((dock) => dock.leaf === leafUid) ? block.uid : null;
  }

  /** Whether a step, a selection or a broken value is about a node or what is docked to it. */
  isOfInterest({ uid, docks }: NodeBlock) {
    const isChosen = (other: string) => other === this.visitedNode || other === this.selected;
    return (
      uid === this.visitedLine ||
      uid === this.selected ||
      docks.some(
        ({ leaf, vias }) =>
          (this.selected !== null && vias.includes(this.selected)) ||
          (isChosen(leaf) && this.mainReaderOf(leaf) === uid),
      ) ||
      this.touched.uids.has(uid) ||
      this.gradientTargets.has(uid) ||
      this.hasBrokenSlot(uid)
    );
  }

  /** Whether a node keeps something that is no longer what backward needs. */
  hasBrokenSlot(uid: string) {
    const node = this.node(uid);
    return !node?.released && Object.values(node?.saved ?? {}).some((saved) => BROKEN_SLOT_STATES.has(saved.state));
  }

  /** Leaves' nodes that no living node reads. */
  unreadLeaves(): string[] {
    return this.model.leaves.filter((leafUid) => this.node(leafUid) && this.mainReaderOf(leafUid) === null);
  }

  /**
   * What a node that accumulates into a leaf is called after: the leaf's name, or `old w` where `w` now is another
   * tensor.
   */
  accumulatorLeafName(accumulator: string) {
    const variable = this.node(accumulator)?.variable;
    if (!variable) return accumulator;
    const former = this.model.formerNames.get(variable);
    return this.tensorName(variable) ?? (former ? `old ${former}` : variable);
  }
}
