/** What a step says about the graph: which nodes live, what backward did to them, what their tensors are called, what matters. */

import type { Names } from "../trace/names.ts";
import { find, isHandle } from "../trace/entities.ts";
import { BROKEN_STATES } from "../trace/trace_index.ts";
import { selectedUid, type PaneOptions } from "./pane.ts";
import { touched, type Touched } from "./touched.ts";
import type { Entities } from "../trace/state.ts";
import type { Node, Step, Visit } from "../trace/wire.ts";
import type { GraphModel, VisitFacts, Component, Block } from "./graph_parts.ts";

/** when a node is run by the backward that its graph is in, or was last in */
export interface Turn {
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
  touched: Touched;
  selected: string | null;
  toggled: ReadonlySet<string>;
  compact: boolean;
  now: string | null;
  /** the line of the visited node: its own, or that of the node that it is docked to */
  nowBlock: string | null;
  /** where the visit's gradients go */
  targets = new Set<string>();
  /** saved slots that the step has news of */
  news = new Set<string>();
  /** by node, of the tensors that it made */
  outputs = new Map<string, { texts: string[]; retains: boolean; hooks: boolean }>();
  /** by storage, the first name of a tensor in it */
  keepers = new Map<string, string>();
  components: Component[];
  living = new Map<string, Block[]>();
  /** by graph, the backward that it is in, or was last in */
  backwards = new Map<string, string>();
  /** as far as they were asked for */
  turns = new Map<Component, Map<string, Turn | null>>();
  /** by node, how many gradients that backward brought to each of its outputs */
  arrivals = new Map<string, number[]>();
  /** graphs that backward has let go of */
  released: Set<Component>;

  constructor(model: GraphModel, i: number, options: PaneOptions) {
    const { opened } = model;
    this.model = model;
    this.i = i;
    this.entities = opened.state(i);
    this.step = i >= 0 ? (opened.trace.steps[i] ?? null) : null;
    this.names = opened.names(i);
    this.touched = touched(this.step, this.entities);
    this.selected = selectedUid(options.selected);
    this.toggled = options.toggled;
    this.compact = options.compact ?? false;
    this.now = this.step?.visit?.node ?? null;
    this.nowBlock = (this.now && model.hosts.get(this.now)) ?? this.now;
    const next = find(this.entities, this.now, "node")?.next ?? [];
    (this.step?.visit?.grad_inputs ?? []).forEach((grad, k) => {
      const to = next[k]?.[0];
      if (grad && to) this.targets.add(to);
    });
    for (const entry of this.step?.log ?? [])
      if (entry.kind === "event" && "node" in entry && "slot" in entry) this.news.add(`${entry.node}:${entry.slot}`);
    this.readTensors();
    this.components = model.components.filter(({ birth, death }) => birth <= i && i <= death);
    for (const component of this.components) this.readComponent(component);
    this.released = new Set(this.components.filter((component) => this.isReleased(component)));
  }

  /** Names and flags of tensors by the node and the storage that they belong to. */
  readTensors() {
    for (const [uid, handle] of this.entities) {
      if (!isHandle(handle)) continue;
      const name = this.nameOf(uid);
      if (name && handle.storage && !this.keepers.has(handle.storage)) this.keepers.set(handle.storage, name);
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
  nameOf(uid: string): string | null {
    const tags = this.names.tags.get(uid) ?? [];
    const tag =
      tags.find((tag) => tag.kind === "var") ?? tags.find((tag) => !tag.text.includes("param_groups")) ?? tags[0];
    return tag?.text ?? null;
  }

  readComponent(component: Component) {
    const blocks = component.order.filter((block) => this.node(block.uid));
    this.living.set(component.key, blocks);
    let latestStep = -1;
    for (const { uid } of blocks)
      for (const visit of this.model.visits.get(uid) ?? []) {
        if (visit.step > this.i || visit.step <= latestStep) continue;
        latestStep = visit.step;
        this.backwards.set(component.key, visit.backward);
      }
    if (latestStep < 0) return;
    for (const block of blocks) {
      this.countArrivals(block.uid, component);
      for (const { vias } of block.docks) for (const via of vias) this.countArrivals(via, component);
    }
  }

  countArrivals(uid: string, component: Component) {
    const grads = this.visit(uid, component)?.grad_inputs ?? [];
    (this.node(uid)?.next ?? []).forEach((edge, k) => {
      if (!edge || !grads[k]) return;
      const counts = this.arrivals.get(edge[0]) ?? [];
      counts[edge[1]] = (counts[edge[1]] ?? 0) + 1;
      this.arrivals.set(edge[0], counts);
    });
  }

  /** At which output of a node the most gradients met, and how many. */
  mostArrivals(uid: string) {
    let most = { nr: 0, count: 0 };
    this.arrivals.get(uid)?.forEach((count, nr) => {
      if (count > most.count) most = { nr, count };
    });
    return most;
  }

  node(uid: string): Node | undefined {
    return find(this.entities, uid, "node");
  }

  /** @param uid a node's @param component the graph that it is in or docked to */
  turn(uid: string, component: Component): Turn | null {
    let turns = this.turns.get(component);
    if (!turns) this.turns.set(component, (turns = new Map()));
    let turn = turns.get(uid);
    if (turn === undefined) turns.set(uid, (turn = this.findTurn(uid, component)));
    return turn;
  }

  findTurn(uid: string, component: Component): Turn | null {
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
  hasTurn(uid: string) {
    return this.components.some((component) => this.turn(uid, component) !== null);
  }

  /** Whether a node is of the past: backward is over and let go of what its graph saved. */
  isPast(block: Block) {
    return this.released.has(block.component) && this.rank(block) === 0;
  }

  /** Whether the backward that a graph was last in has ended without failing, and some node let go of what it had
   * saved. */
  isReleased(component: Component) {
    const { last = Infinity } = this.model.backwards.get(this.backwards.get(component.key) ?? "") ?? {};
    if (last >= this.i || this.model.opened.trace.steps[last]?.visit?.failed) return false;
    return (this.living.get(component.key) ?? []).some(({ uid }) => this.node(uid)?.released);
  }

  /** What the backward that a graph was last in did at a node, so far. */
  visit(uid: string, component: Component): Visit | null {
    const turn = this.turn(uid, component);
    if (!turn || turn.step > this.i) return null;
    return this.model.opened.trace.steps[turn.step].visit ?? null;
  }

  /** The reader at which a leaf stands for itself: the one whose gradient came last, else the first. */
  readerOf(leafUid: string): string | null {
    let reader = null as string | null;
    let latestStep = -1;
    for (const uid of this.model.readersOf.get(leafUid) ?? []) {
      const block = this.model.blocks.get(uid);
      if (!block || !this.node(uid)) continue;
      reader ??= uid;
      const turn = this.turn(uid, block.component);
      if (!turn || turn.step > this.i || turn.step < latestStep) continue;
      latestStep = turn.step;
      reader = uid;
    }
    return reader;
  }

  /** The reader at which the step has to do with a leaf; null where it has nothing to do with it. */
  leafHome(leafUid: string) {
    if (leafUid === this.now || leafUid === this.selected) return this.readerOf(leafUid);
    const block = this.targets.has(leafUid) ? this.model.blocks.get(this.nowBlock ?? "") : undefined;
    return block?.docks.some((dock) => dock.leaf === leafUid) ? block.uid : null;
  }

  /** How much a node's line matters, see `LeveledLine`. */
  rank(block: Block) {
    const { uid, docks } = block;
    if (uid === this.nowBlock || uid === this.selected || this.toggled.has(leavesKey(uid))) return 3;
    for (const { leaf, vias } of docks) {
      if (this.selected && vias.includes(this.selected)) return 3;
      if ((leaf === this.now || leaf === this.selected) && this.readerOf(leaf) === uid) return 3;
    }
    if (this.touched.uids.has(uid) || this.targets.has(uid)) return 2;
    return this.isBroken(uid) ? 1 : 0;
  }

  /** Whether a node keeps something that is no longer what backward needs. */
  isBroken(uid: string) {
    const node = this.node(uid);
    return !node?.released && Object.values(node?.saved ?? {}).some((saved) => BROKEN_STATES.has(saved.state));
  }

  /** The last step that touched a node or what is docked to it. */
  lastTouched(block: Block) {
    const { history } = this.model;
    let last = history.lastTouch(block.uid, this.i);
    for (const { vias } of block.docks) for (const via of vias) last = Math.max(last, history.lastTouch(via, this.i));
    return last;
  }

  /** Leaves' nodes that no living node reads. */
  idleLeaves(): string[] {
    return this.model.leaves.filter((leafUid) => this.node(leafUid) && this.readerOf(leafUid) === null);
  }

  /** What a node that accumulates into a leaf is called after: the leaf's name. @param accumulator the node's uid */
  leafName(accumulator: string) {
    const variable = this.node(accumulator)?.variable;
    return (variable && this.nameOf(variable)) || variable || accumulator;
  }
}

/** The key that opens the fold that a node is in. */
export function openKey(uid: string) {
  return `graph ${uid}`;
}

/** The key that shows all leaves of a node. */
export function leavesKey(uid: string) {
  return `leaves ${uid}`;
}
