/** The graph of a whole run, before anything has a height: which nodes are one graph, their order, docked leaves and rails. */

import { addToList } from "../trace/multimap.js";
import { refOf } from "../trace/names.js";
import { numberedLabels } from "./node_labels.js";
import { assignLanes } from "./rails.js";
import { touchHistory } from "./touched.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../trace/trace_index.js").TraceIndex} TraceIndex */
/** @typedef {import("./rails.js").Input} Input */
/**
 * @typedef {{leaf: string, vias: string[], ks: number[]}} Dock
 *   a leaf at a node that reads it, by the edges `ks`; vias: nodes between them that only bring it into shape, the reader's first
 * @typedef {{uid: string, inputs: Input[], docks: Dock[], lane: number, line: number, component: Component,
 *   visited: boolean, seed: boolean}} Block
 *   a node with its leaves. inputs: its edges to other blocks. visited: whether backward ever runs it; seed: whether a
 *   backward ever begins at it
 * @typedef {{key: string, order: Block[], rails: import("./rails.js").Rails, birth: number, death: number}} Component
 *   nodes that are one graph over the whole run, inputs first. key: its first node
 * @typedef {{step: number, backward: string, k: number}} VisitFacts   the k-th visit of a backward, from 1
 * @typedef {{opened: OpenTrace, index: TraceIndex, history: import("./touched.js").TouchHistory, blocks: Map<string, Block>, components: Component[],
 *   leaves: string[], readersOf: Map<string, string[]>, hosts: Map<string, string>, labels: Map<string, string>, visits: Map<string, VisitFacts[]>,
 *   backwards: Map<string, {first: number, last: number}>, stills: Map<number, import("./graph_still.js").Still>}} GraphModel
 *   components: by birth. leaves: nodes that accumulate into a tensor. readersOf: by a leaf, the blocks it is docked to. hosts:
 *   by a docked node that is no leaf, its block.
 *   labels: by node that is no leaf. visits: by node, in order. backwards: their first and last visits' steps
 */

/** What only brings a parameter into shape for one operation stands between that operation and the parameter. */
const SHAPING_NODES =
  /^(T|Transpose|Permute|View|Unsqueeze|Squeeze|Expand|ToCopy|Reshape\w*|UnsafeView|Alias)Backward\d*$/;

/** Nodes that bring one leaf into shape. What a stranger wrote may even lead in a circle. */
const MAX_VIAS = 12;

/** What the nodes of a run are called, for the memory pane and sentences too; leaves go by their tensor's name.
 * @param {GraphModel} model @returns {Map<string, string>} by uid */
export function nodeLabels(model) {
  return model.labels;
}

/** Whether a node accumulates into a tensor's `.grad`. @param {{name?: string | null, variable?: string | null}} node */
function isLeafNode(node) {
  return Boolean(node.variable) || /AccumulateGrad$/.test(node.name ?? "");
}

/** @param {OpenTrace} opened @returns {GraphModel} */
export function graphModel(opened) {
  const { index, trace } = opened;
  const edges = allEdges(trace.steps ?? []);
  const graphShape = new GraphShape(index, edges, namedNodes(trace.steps ?? []));
  const blocks = graphShape.makeBlocks();
  const seeds = backwardStarts(opened, edges);
  const components = connectedBlocks(blocks).map((members) => makeComponent(members, blocks, index));
  components.sort((a, b) => a.birth - b.birth);
  /** @type {Map<string, string>} */
  const labels = new Map();
  /** @type {Map<string, string[]>} */
  const readersOf = new Map();
  /** @type {Map<string, string>} */
  const readerOfVia = new Map();
  for (const graph of components) {
    const uids = graph.order.flatMap((block) => [...block.docks.flatMap((dock) => dock.vias), block.uid]);
    for (const [uid, label] of numberedLabels(uids, (uid) => index.nodes.get(uid)?.name ?? uid)) labels.set(uid, label);
    for (const block of graph.order) {
      block.visited = index.visitsOf.has(block.uid);
      block.seed = seeds.has(block.uid);
      for (const dock of block.docks) {
        addToList(readersOf, dock.leaf, block.uid);
        for (const via of dock.vias) readerOfVia.set(via, block.uid);
      }
    }
  }
  return {
    opened,
    index,
    history: touchHistory(opened),
    blocks,
    components,
    leaves: [...index.nodes.keys()].filter((uid) => graphShape.isLeaf(uid)),
    readersOf,
    hosts: readerOfVia,
    labels,
    ...visitFacts(index),
    stills: new Map(),
  };
}

/** Every edge that a node ever has; a node's edges hardly ever change. @param {import("../trace/wire.js").Step[]} steps
 * @returns {Map<string, Input[]>} by node */
function allEdges(steps) {
  /** @type {Map<string, Input[]>} */
  const edges = new Map();
  for (const { set = {} } of steps)
    for (const [uid, fields] of Object.entries(set)) {
      if (uid[0] !== "n" || !fields.next) continue;
      const nodeInputs = edges.get(uid) ?? [];
      edges.set(uid, nodeInputs);
      /** @type {([string, number] | null)[]} */ (fields.next).forEach((edge, k) => {
        if (edge && !nodeInputs.some((input) => input.k === k && input.to === edge[0]))
          nodeInputs.push({ k, to: edge[0] });
      });
    }
  return edges;
}

/** Nodes whose tensor a variable ever names: they are of the program itself. @param {import("../trace/wire.js").Step[]} steps */
function namedNodes(steps) {
  /** @type {Set<string>} */
  const namedTensors = new Set();
  /** @type {[string, string][]} */
  const tensorNodes = [];
  for (const { set = {} } of steps)
    for (const [uid, fields] of Object.entries(set)) {
      if (uid[0] === "t" && fields.grad_fn) tensorNodes.push([uid, fields.grad_fn]);
      if (uid[0] !== "f") continue;
      for (const value of Object.values(fields.vars ?? {})) {
        const to = refOf(/** @type {import("../trace/entities.js").Value} */ (value));
        if (to) namedTensors.add(to);
      }
    }
  return new Set(tensorNodes.flatMap(([tensor, node]) => (namedTensors.has(tensor) ? [node] : [])));
}

/** Where backwards begin: nodes that no node visited before passed a gradient to. @param {OpenTrace} opened
 * @param {Map<string, Input[]>} edges */
function backwardStarts({ index, trace }, edges) {
  /** @type {Set<string>} */
  const starts = new Set();
  for (const visits of index.visits.values()) {
    /** @type {Set<string>} */
    const receivers = new Set();
    for (const { node, step } of visits) {
      if (!receivers.has(node)) starts.add(node);
      const grads = trace.steps[step].visit?.grad_inputs ?? [];
      for (const { k, to } of edges.get(node) ?? []) if (grads[k]) receivers.add(to);
    }
  }
  return starts;
}

/** @param {TraceIndex} index @returns {Pick<GraphModel, "visits" | "backwards">} */
function visitFacts(index) {
  /** @type {Map<string, VisitFacts[]>} */
  const visits = new Map();
  /** @type {Map<string, {first: number, last: number}>} */
  const backwards = new Map();
  for (const [backward, list] of index.visits) {
    list.forEach(({ node, step }, k) => addToList(visits, node, { step, backward, k: k + 1 }));
    backwards.set(backward, { first: list[0].step, last: list[list.length - 1].step });
  }
  for (const list of visits.values()) list.sort((a, b) => a.step - b.step);
  return { visits, backwards };
}

/** Which nodes are lines of their own, and which are docked to one. */
class GraphShape {
  /** @param {TraceIndex} index @param {Map<string, Input[]>} edges @param {Set<string>} named */
  constructor(index, edges, named) {
    this.index = index;
    this.edges = edges;
    this.named = named;
    /** @type {Map<string, string[]>} */
    this.readers = new Map();
    for (const [uid, inputs] of edges)
      for (const { to } of inputs) if (index.nodes.has(to)) addToList(this.readers, to, uid);
  }

  /** @param {string} uid */
  isLeaf(uid) {
    return isLeafNode(this.index.nodes.get(uid) ?? {});
  }

  /** @param {string} uid */
  inputEdges(uid) {
    return (this.edges.get(uid) ?? []).filter(({ to }) => this.index.nodes.has(to));
  }

  /** The nodes from one down which a leaf is brought into shape for its only reader, and the leaf.
   * @param {string} uid @returns {{vias: string[], leaf: string} | null} */
  dockAbove(uid) {
    /** @type {string[]} */
    const vias = [];
    for (let current = uid; vias.length <= MAX_VIAS; ) {
      if (this.isLeaf(current)) return { vias, leaf: current };
      const facts = this.index.nodes.get(current);
      const inputs = this.inputEdges(current);
      const [reader] = this.readers.get(current) ?? [];
      const isShaping = SHAPING_NODES.test(facts?.name ?? "") && !facts?.slots.length && !this.named.has(current);
      if (
        !isShaping ||
        inputs.length !== 1 ||
        this.readers.get(current)?.length !== 1 ||
        !this.livesWith(current, reader)
      )
        return null;
      vias.push(current);
      current = inputs[0].to;
    }
    return null;
  }

  /** Whether a node is there just as long as its reader. @param {string} uid @param {string} reader */
  livesWith(uid, reader) {
    const ownLife = this.index.lives.get(uid);
    const readerLife = this.index.lives.get(reader);
    return ownLife?.birth === readerLife?.birth && ownLife?.death === readerLife?.death;
  }

  /** @returns {Map<string, Block>} */
  makeBlocks() {
    const docked = new Set();
    /** @type {Map<string, Block>} */
    const blocks = new Map();
    for (const uid of this.index.nodes.keys()) {
      if (this.isLeaf(uid)) continue;
      const connections = { inputs: /** @type {Input[]} */ ([]), docks: /** @type {Dock[]} */ ([]) };
      for (const input of this.inputEdges(uid)) {
        const dock = this.dockAbove(input.to);
        if (!dock) connections.inputs.push(input);
        else addDock(connections.docks, dock, input.k);
        for (const via of dock?.vias ?? []) docked.add(via);
      }
      const placeholders = { lane: 0, line: 0, component: /** @type {Component} */ ({}), visited: false, seed: false };
      blocks.set(uid, { uid, ...connections, ...placeholders });
    }
    for (const uid of docked) blocks.delete(uid);
    return blocks;
  }
}

/** @param {Dock[]} docks @param {{vias: string[], leaf: string}} dock @param {number} k */
function addDock(docks, { vias, leaf }, k) {
  const sameLeaf = vias.length ? undefined : docks.find((other) => other.leaf === leaf && !other.vias.length);
  if (!sameLeaf) docks.push({ leaf, vias, ks: [k] });
  else if (!sameLeaf.ks.includes(k)) sameLeaf.ks.push(k);
}

/** Blocks that edges connect; leaves join nothing, for graphs share them. @param {Map<string, Block>} blocks @returns {string[][]} */
function connectedBlocks(blocks) {
  const parent = new Map([...blocks.keys()].map((uid) => [uid, uid]));
  const rootOf = (/** @type {string} */ uid) => {
    let current = uid;
    for (
      let parentUid = /** @type {string} */ (parent.get(current));
      parentUid !== current;
      parentUid = /** @type {string} */ (parent.get(current))
    ) {
      parent.set(current, /** @type {string} */ (parent.get(parentUid)));
      current = parentUid;
    }
    return current;
  };
  for (const { uid, inputs } of blocks.values())
    for (const { to } of inputs) if (blocks.has(to)) parent.set(rootOf(to), rootOf(uid));
  /** @type {Map<string, string[]>} */
  const members = new Map();
  for (const uid of blocks.keys()) addToList(members, rootOf(uid), uid);
  return [...members.values()];
}

/** @param {string[]} members @param {Map<string, Block>} blocks @param {TraceIndex} index @returns {Component} */
function makeComponent(members, blocks, index) {
  const order = programOrder(members, blocks, index);
  const lineOf = new Map(order.map((uid, i) => [uid, i]));
  /** @type {Map<string, Input[]>} */
  const inputs = new Map();
  for (const uid of order) {
    const block = /** @type {Block} */ (blocks.get(uid));
    // Edges lead up, whatever a trace says: a circle would have no order.
    block.inputs = block.inputs.filter(
      ({ to }) => (lineOf.get(to) ?? Infinity) < /** @type {number} */ (lineOf.get(uid)),
    );
    inputs.set(uid, block.inputs);
  }
  const lives = order.map((uid) => /** @type {import("../trace/trace_index.js").Life} */ (index.lives.get(uid)));
  const birth = lives.reduce((least, life) => Math.min(least, life.birth), Infinity);
  const death = lives.reduce((most, life) => Math.max(most, life.death), -1);
  const orderedBlocks = order.map((uid) => /** @type {Block} */ (blocks.get(uid)));
  const component = { key: order[0], order: orderedBlocks, rails: assignLanes(order, inputs), birth, death };
  orderedBlocks.forEach((block, i) =>
    Object.assign(block, { component: component, line: i, lane: component.rails.laneOf.get(block.uid) ?? 0 }),
  );
  return component;
}

/** Inputs before what reads them, else as they were made, of one step by the numbers of their uids; found without recursion:
 * what is made later stands below.
 * @param {string[]} members @param {Map<string, Block>} blocks @param {TraceIndex} index @returns {string[]} */
function programOrder(members, blocks, index) {
  const birth = (/** @type {string} */ uid) => index.lives.get(uid)?.birth ?? 0;
  /** @type {Set<string>} */
  const ordered = new Set();
  /** @type {Set<string>} */
  const opened = new Set();
  const number = (/** @type {string} */ uid) => Number(uid.slice(1));
  for (const start of [...members].sort((a, b) => birth(a) - birth(b) || number(a) - number(b))) {
    const stack = [start];
    while (stack.length) {
      const uid = stack[stack.length - 1];
      const unordered =
        ordered.has(uid) || opened.has(uid)
          ? []
          : (blocks.get(uid)?.inputs ?? []).filter(({ to }) => blocks.has(to) && !ordered.has(to));
      opened.add(uid);
      if (unordered.length) stack.push(...unordered.reverse().map(({ to }) => to));
      else {
        stack.pop();
        ordered.add(uid);
      }
    }
  }
  return [...ordered];
}

/** @type {WeakMap<OpenTrace, GraphModel>} */
const models = new WeakMap();

/** The graph of a run, made once. @param {OpenTrace} opened @returns {GraphModel} */
export function graphModelOf(opened) {
  const model = models.get(opened) ?? graphModel(opened);
  models.set(opened, model);
  return model;
}
