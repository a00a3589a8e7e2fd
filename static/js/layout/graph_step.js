/** What a step says about the graph: which nodes live, what backward did to them, what their tensors are called, what matters. */

import { find, isHandle } from "../trace/entities.js";
import { BROKEN_STATES } from "../trace/trace_index.js";
import { selectedUid } from "./pane.js";
import { touched } from "./touched.js";

/** @typedef {import("./graph_model.js").GraphModel} GraphModel */
/** @typedef {import("./graph_model.js").Block} Block */
/** @typedef {import("./graph_model.js").Component} Component */
/** @typedef {import("../trace/entities.js").Node} Node */
/** @typedef {import("../trace/wire.js").Visit} Visit */
/**
 * @typedef {{k: number, step: number, state: "done" | "running" | "waiting" | "failed"}} Turn
 *   when a node is run by the backward that its graph is in, or was last in
 */

/** The graph of a trace after one step. */
export class GraphStep {
  /** @param {GraphModel} model @param {number} i @param {import("./pane.js").PaneOptions} options */
  constructor(model, i, options) {
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
    /** the line of the visited node: its own, or that of the node that it is docked to */
    this.nowBlock = (this.now && model.hosts.get(this.now)) ?? this.now;
    /** @type {Set<string>} where the visit's gradients go */
    this.targets = new Set();
    const next = find(this.entities, this.now, "node")?.next ?? [];
    (this.step?.visit?.grad_inputs ?? []).forEach((grad, k) => {
      const to = next[k]?.[0];
      if (grad && to) this.targets.add(to);
    });
    /** @type {Set<string>} saved slots that the step has news of */
    this.news = new Set();
    for (const entry of this.step?.log ?? [])
      if (entry.kind === "event" && "node" in entry && "slot" in entry) this.news.add(`${entry.node}:${entry.slot}`);
    /** @type {Map<string, {texts: string[], retains: boolean, hooks: boolean}>} by node, of the tensors that it made */
    this.outputs = new Map();
    /** @type {Map<string, string>} by storage, the first name of a tensor in it */
    this.keepers = new Map();
    this.readTensors();
    /** @type {Component[]} */
    this.components = model.components.filter(({ birth, death }) => birth <= i && i <= death);
    /** @type {Map<string, Block[]>} */
    this.living = new Map();
    /** @type {Map<string, string>} by graph, the backward that it is in, or was last in */
    this.backwards = new Map();
    /** @type {Map<Component, Map<string, Turn | null>>} as far as they were asked for */
    this.turns = new Map();
    /** @type {Map<string, number[]>} by node, how many gradients that backward brought to each of its outputs */
    this.arrivals = new Map();
    for (const component of this.components) this.readComponent(component);
    /** @type {Set<Component>} graphs that backward has let go of */
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

  /** The name by which a reader knows a tensor: a variable's, else a path that does not go through an optimizer.
   * @param {string} uid @returns {string | null} */
  nameOf(uid) {
    const tags = this.names.tags.get(uid) ?? [];
    const tag =
      tags.find((tag) => tag.kind === "var") ?? tags.find((tag) => !tag.text.includes("param_groups")) ?? tags[0];
    return tag?.text ?? null;
  }

  /** @param {Component} component */
  readComponent(component) {
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

  /** @param {string} uid @param {Component} component */
  countArrivals(uid, component) {
    const grads = this.visit(uid, component)?.grad_inputs ?? [];
    (this.node(uid)?.next ?? []).forEach((edge, k) => {
      if (!edge || !grads[k]) return;
      const counts = this.arrivals.get(edge[0]) ?? [];
      counts[edge[1]] = (counts[edge[1]] ?? 0) + 1;
      this.arrivals.set(edge[0], counts);
    });
  }

  /** At which output of a node the most gradients met, and how many. @param {string} uid */
  mostArrivals(uid) {
    let most = { nr: 0, count: 0 };
    this.arrivals.get(uid)?.forEach((count, nr) => {
      if (count > most.count) most = { nr, count };
    });
    return most;
  }

  /** @param {string} uid @returns {Node | undefined} */
  node(uid) {
    return find(this.entities, uid, "node");
  }

  /** @param {string} uid a node's @param {Component} component the graph that it is in or docked to @returns {Turn | null} */
  turn(uid, component) {
    let turns = this.turns.get(component);
    if (!turns) this.turns.set(component, (turns = new Map()));
    let turn = turns.get(uid);
    if (turn === undefined) turns.set(uid, (turn = this.findTurn(uid, component)));
    return turn;
  }

  /** @param {string} uid @param {Component} component @returns {Turn | null} */
  findTurn(uid, component) {
    const backwardUid = this.backwards.get(component.key);
    if (!backwardUid) return null;
    const { first, last } = this.model.backwards.get(backwardUid) ?? { first: 0, last: -1 };
    /** @type {import("./graph_model.js").VisitFacts | null} */
    let latestVisit = null;
    for (const visit of this.model.visits.get(uid) ?? [])
      if (visit.backward === backwardUid && (visit.step <= this.i || !latestVisit)) latestVisit = visit;
    if (!latestVisit) return null;
    const { k, step } = latestVisit;
    if (step > this.i) return first <= this.i && this.i < last ? { k, step, state: "waiting" } : null;
    if (this.model.opened.trace.steps[step].visit?.failed) return { k, step, state: "failed" };
    return { k, step, state: step < this.i ? "done" : "running" };
  }

  /** Whether a node, or a leaf's, has a turn in the backward that one of the graphs is in. @param {string} uid */
  hasTurn(uid) {
    return this.components.some((component) => this.turn(uid, component) !== null);
  }

  /** Whether a node is of the past: backward is over and let go of what its graph saved. @param {Block} block */
  isPast(block) {
    return this.released.has(block.component) && this.rank(block) === 0;
  }

  /** Whether the backward that a graph was last in has ended without failing, and some node let go of what it had saved.
   * @param {Component} component */
  isReleased(component) {
    const { last = Infinity } = this.model.backwards.get(this.backwards.get(component.key) ?? "") ?? {};
    if (last >= this.i || this.model.opened.trace.steps[last]?.visit?.failed) return false;
    return (this.living.get(component.key) ?? []).some(({ uid }) => this.node(uid)?.released);
  }

  /** What the backward that a graph was last in did at a node, so far. @param {string} uid @param {Component} component
   * @returns {Visit | null} */
  visit(uid, component) {
    const turn = this.turn(uid, component);
    if (!turn || turn.step > this.i) return null;
    return this.model.opened.trace.steps[turn.step].visit ?? null;
  }

  /** The reader at which a leaf stands for itself: the one whose gradient came last, else the first. @param {string} leafUid
   * @returns {string | null} */
  readerOf(leafUid) {
    let reader = /** @type {string | null} */ (null);
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

  /** The reader at which the step has to do with a leaf; null where it has nothing to do with it. @param {string} leafUid */
  leafHome(leafUid) {
    if (leafUid === this.now || leafUid === this.selected) return this.readerOf(leafUid);
    const block = this.targets.has(leafUid) ? this.model.blocks.get(this.nowBlock ?? "") : undefined;
    return block?.docks.some((dock) => dock.leaf === leafUid) ? block.uid : null;
  }

  /** How much a node's line matters, see `LeveledLine`. @param {Block} block */
  rank(block) {
    const { uid, docks } = block;
    if (uid === this.nowBlock || uid === this.selected || this.toggled.has(leavesKey(uid))) return 3;
    for (const { leaf, vias } of docks) {
      if (this.selected && vias.includes(this.selected)) return 3;
      if ((leaf === this.now || leaf === this.selected) && this.readerOf(leaf) === uid) return 3;
    }
    if (this.touched.uids.has(uid) || this.targets.has(uid)) return 2;
    return this.isBroken(uid) ? 1 : 0;
  }

  /** Whether a node keeps something that is no longer what backward needs. @param {string} uid */
  isBroken(uid) {
    const node = this.node(uid);
    return !node?.released && Object.values(node?.saved ?? {}).some((saved) => BROKEN_STATES.has(saved.state));
  }

  /** The last step that touched a node or what is docked to it. @param {Block} block */
  lastTouched(block) {
    const { history } = this.model;
    let last = history.lastTouch(block.uid, this.i);
    for (const { vias } of block.docks) for (const via of vias) last = Math.max(last, history.lastTouch(via, this.i));
    return last;
  }

  /** Leaves' nodes that no living node reads. @returns {string[]} */
  idleLeaves() {
    return this.model.leaves.filter((leafUid) => this.node(leafUid) && this.readerOf(leafUid) === null);
  }

  /** What a node that accumulates into a leaf is called after: the leaf's name. @param {string} accumulator the node's uid */
  leafName(accumulator) {
    const variable = this.node(accumulator)?.variable;
    return (variable && this.nameOf(variable)) || variable || accumulator;
  }
}

/** The key that opens the fold that a node is in. @param {string} uid */
export function openKey(uid) {
  return `graph ${uid}`;
}

/** The key that shows all leaves of a node. @param {string} uid */
export function leavesKey(uid) {
  return `leaves ${uid}`;
}
