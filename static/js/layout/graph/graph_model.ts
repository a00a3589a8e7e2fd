/**
 * The graph of a whole run, before anything has a height: which nodes are one graph, their order, docked leaves and
 * rails.
 */

import { addToList } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import { numberedNodeLabels } from "../text/node_labels.ts";
import { assignRailLanes, type InputEdge } from "./rails.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Lifetime, TraceIndex } from "../../trace/trace_index.ts";
import type { Step, Value } from "../../trace/wire.ts";
import type { AttachedLeaf, NodeBlock, GraphComponent, VisitFacts, GraphModel } from "./graph_parts.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

/** What only brings a parameter into shape for one operation stands between that operation and the parameter. */
const RESHAPING_NODE_PATTERN =
  /^(T|Transpose|Permute|View|Unsqueeze|Squeeze|Expand|ToCopy|Reshape\w*|UnsafeView|Alias)Backward\d*$/;

/** Nodes that bring one leaf into shape. What a stranger wrote may even lead in a circle. */
const MAX_RESHAPING_NODES = 12;

/**
 * What the nodes of a run are called, by uid, for the memory pane and sentences too; leaves go by their tensor's name.
 */
export function nodeLabelsByUid(model: GraphModel): Map<string, string> {
  return model.labels;
}

/** Whether a node accumulates into a tensor's `.grad`. */
function isAccumulateGradNode(node: { name?: string | null; variable?: string | null }) {
  return Boolean(node.variable) || /AccumulateGrad$/.test(node.name ?? "");
}

export function buildGraphModel(opened: OpenTrace): GraphModel {
  const { index, trace } = opened;
  const edges = edgesByNode(trace.steps ?? []);
  const graphShape = new GraphBlocksBuilder(index, edges, nodesOfNamedTensors(trace.steps ?? []));
  const blocks = graphShape.makeNodeBlocks();
  const seeds = nodesWhereBackwardsStart(opened, edges);
  const components = connectedNodeGroups(blocks).map((members) => makeGraphComponent(members, blocks, index));
  components.sort((a, b) => a.birth - b.birth);
  const labels = new Map<string, string>();
  const readersOf = new Map<string, string[]>();
  const readerOfVia = new Map<string, string>();
  for (const graph of components) {
    const uids = graph.order.flatMap((block) => [...block.docks.flatMap((dock) => dock.vias), block.uid]);
    for (const [uid, label] of numberedNodeLabels(uids, (uid) => index.nodes.get(uid)?.name ?? uid))
      labels.set(uid, label);
    for (const block of graph.order) {
      block.visited = index.visitStepsByNode.has(block.uid);
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
    blocks,
    components,
    leaves: [...index.nodes.keys()].filter((uid) => graphShape.isAccumulator(uid)),
    readersOf,
    hosts: readerOfVia,
    labels,
    formerNames: namesOfVariables(trace.steps ?? []),
    ...collectVisitsAndBackwards(index),
    additions: new Map(),
    stills: new Map(),
    spreads: new Map(),
  };
}

/** Every edge that a node ever has, by node; a node's edges hardly ever change. */
function edgesByNode(steps: Step[]): Map<string, InputEdge[]> {
  const edges = new Map<string, InputEdge[]>();
  for (const { set = {} } of steps)
    for (const [uid, fields] of Object.entries(set)) {
      if (uid[0] !== "n" || !fields.next) continue;
      const nodeInputs = edges.get(uid) ?? [];
      edges.set(uid, nodeInputs);
      (fields.next as ([string, number] | null)[]).forEach((edge, k) => {
        if (edge && !nodeInputs.some((input) => input.k === k && input.to === edge[0]))
          nodeInputs.push({ k, to: edge[0] });
      });
    }
  return edges;
}

/** Nodes whose tensor a variable ever names: they are of the program itself. */
function nodesOfNamedTensors(steps: Step[]) {
  const namedTensors = new Set<string>();
  const tensorNodes: [string, string][] = [];
  for (const { set = {} } of steps)
    for (const [uid, fields] of Object.entries(set)) {
      if (uid[0] === "t" && fields.grad_fn) tensorNodes.push([uid, fields.grad_fn]);
      if (uid[0] !== "f") continue;
      for (const value of Object.values(fields.vars ?? {})) {
        const to = referencedUid(value as Value);
        if (to) namedTensors.add(to);
      }
    }
  return new Set(tensorNodes.flatMap(([tensor, node]) => (namedTensors.has(tensor) ? [node] : [])));
}

/** The variable that last named each tensor. */
function namesOfVariables(steps: Step[]) {
  const names = new Map<string, string>();
  for (const { set = {} } of steps)
    for (const [uid, fields] of Object.entries(set)) {
      if (uid[0] !== "f") continue;
      for (const [name, value] of Object.entries(fields.vars ?? {})) {
        const to = referencedUid(value as Value);
        if (to) names.set(to, name);
      }
    }
  return names;
}

/** Where backwards begin: nodes that no node visited before passed a gradient to. */
function nodesWhereBackwardsStart({ index, trace }: OpenTrace, edges: Map<string, InputEdge[]>) {
  const starts = new Set<string>();
  for (const visits of index.visitsByBackward.values()) {
    const receivers = new Set<string>();
    for (const { node, step } of visits) {
      if (!receivers.has(node)) starts.add(node);
      const grads = trace.steps[step].visit?.grad_inputs ?? [];
      for (const { k, to } of edges.get(node) ?? []) if (grads[k]) receivers.add(to);
    }
  }
  return starts;
}

function collectVisitsAndBackwards(index: TraceIndex): Pick<GraphModel, "visits" | "backwards"> {
  const visits = new Map<string, VisitFacts[]>();
  const backwards = new Map<string, { first: number; last: number }>();
  for (const [backward, list] of index.visitsByBackward) {
    list.forEach(({ node, step }, k) => addToList(visits, node, { step, backward, k: k + 1 }));
    backwards.set(backward, { first: list[0].step, last: list[list.length - 1].step });
  }
  for (const list of visits.values()) list.sort((a, b) => a.step - b.step);
  return { visits, backwards };
}

/** Which nodes are lines of their own, and which are docked to one. */
class GraphBlocksBuilder {
  index: TraceIndex;
  edges: Map<string, InputEdge[]>;
  namedNodes: Set<string>;
  readers = new Map<string, string[]>();

  constructor(index: TraceIndex, edges: Map<string, InputEdge[]>, named: Set<string>) {
    this.index = index;
    this.edges = edges;
    this.namedNodes = named;
    for (const [uid, inputs] of edges)
      for (const { to } of inputs) if (index.nodes.has(to)) addToList(this.readers, to, uid);
  }

  isAccumulator(uid: string) {
    return isAccumulateGradNode(this.index.nodes.get(uid) ?? {});
  }

  inputEdges(uid: string) {
    return (this.edges.get(uid) ?? []).filter(({ to }) => this.index.nodes.has(to));
  }

  /** The nodes from one down which a leaf is brought into shape for its only reader, and the leaf. */
  reshapedLeafAbove(uid: string): { vias: string[]; leaf: string } | null {
    const vias: string[] = [];
    for (let current = uid; vias.length <= MAX_RESHAPING_NODES; ) {
      if (this.isAccumulator(current)) return { vias, leaf: current };
      const facts = this.index.nodes.get(current);
      const inputs = this.inputEdges(current);
      const [reader] = this.readers.get(current) ?? [];
      const isShaping =
        RESHAPING_NODE_PATTERN.test(facts?.name ?? "") && !facts?.slots.length && !this.namedNodes.has(current);
      if (
        !isShaping ||
        inputs.length !== 1 ||
        this.readers.get(current)?.length !== 1 ||
        !this.hasSameLifetime(current, reader)
      )
        return null;
      vias.push(current);
      current = inputs[0].to;
    }
    return null;
  }

  /** Whether a node is there just as long as its reader. */
  hasSameLifetime(uid: string, reader: string) {
    const ownLife = this.index.lifetimes.get(uid);
    const readerLife = this.index.lifetimes.get(reader);
    return ownLife?.birth === readerLife?.birth && ownLife?.death === readerLife?.death;
  }

  makeNodeBlocks(): Map<string, NodeBlock> {
    const docked = new Set<string>();
    const blocks = new Map<string, NodeBlock>();
    for (const uid of this.index.nodes.keys()) {
      if (this.isAccumulator(uid)) continue;
      const connections = { inputs: [] as InputEdge[], docks: [] as AttachedLeaf[] };
      for (const input of this.inputEdges(uid)) {
        const dock = this.reshapedLeafAbove(input.to);
        if (!dock) connections.inputs.push(input);
        else attachLeaf(connections.docks, dock, input.k);
        for (const via of dock?.vias ?? []) docked.add(via);
      }
      const placeholders = { lane: 0, line: 0, component: {} as GraphComponent, visited: false, seed: false };
      blocks.set(uid, { uid, ...connections, ...placeholders });
    }
    for (const uid of docked) blocks.delete(uid);
    return blocks;
  }
}

function attachLeaf(docks: AttachedLeaf[], { vias, leaf }: { vias: string[]; leaf: string }, k: number) {
  const sameLeaf = vias.length ? undefined : docks.find((other) => other.leaf === leaf && !other.vias.length);
  if (!sameLeaf) docks.push({ leaf, vias, ks: [k] });
  else if (!sameLeaf.ks.includes(k)) sameLeaf.ks.push(k);
}

/** Blocks that edges connect; leaves join nothing, for graphs share them. */
function connectedNodeGroups(blocks: Map<string, NodeBlock>): string[][] {
  const parent = new Map([...blocks.keys()].map((uid) => [uid, uid]));
  const rootOf = (uid: string) => {
    let current = uid;
    for (
      let parentUid = parent.get(current) as string;
      parentUid !== current;
      parentUid = parent.get(current) as string
    ) {
      parent.set(current, parent.get(parentUid) as string);
      current = parentUid;
    }
    return current;
  };
  for (const { uid, inputs } of blocks.values())
    for (const { to } of inputs) if (blocks.has(to)) parent.set(rootOf(to), rootOf(uid));
  const members = new Map<string, string[]>();
  for (const uid of blocks.keys()) addToList(members, rootOf(uid), uid);
  return [...members.values()];
}

function makeGraphComponent(members: string[], blocks: Map<string, NodeBlock>, index: TraceIndex): GraphComponent {
  const order = sortInProgramOrder(members, blocks, index);
  const lineOf = new Map(order.map((uid, i) => [uid, i]));
  const inputs = new Map<string, InputEdge[]>();
  for (const uid of order) {
    const block = blocks.get(uid) as NodeBlock;
    // Edges lead up, whatever a trace says: a circle would have no order.
    block.inputs = block.inputs.filter(({ to }) => (lineOf.get(to) ?? Infinity) < (lineOf.get(uid) as number));
    inputs.set(
      uid,
      block.inputs.filter(({ to }, n) => block.inputs.findIndex((other) => other.to === to) === n), // one rail for both
    );
  }
  const lives = order.map((uid) => index.lifetimes.get(uid) as Lifetime);
  const birth = lives.reduce((least, life) => Math.min(least, life.birth), Infinity);
  const death = lives.reduce((most, life) => Math.max(most, life.death), -1);
  const orderedBlocks = order.map((uid) => blocks.get(uid) as NodeBlock);
  const component = { key: order[0], order: orderedBlocks, rails: assignRailLanes(order, inputs), birth, death };
  orderedBlocks.forEach((block, i) =>
    Object.assign(block, { component, line: i, lane: component.rails.laneOf.get(block.uid) ?? 0 }),
  );
  return component;
}

/** Inputs before what reads them, else as they were made, of one step by the numbers of their uids; found without
 * recursion: what is made later stands below. */
function sortInProgramOrder(members: string[], blocks: Map<string, NodeBlock>, index: TraceIndex): string[] {
  const birth = (uid: string) => index.lifetimes.get(uid)?.birth ?? 0;
  const ordered = new Set<string>();
  const opened = new Set<string>();
  const number = (uid: string) => Number(uid.slice(1));
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

/** The graph of a run, made once. */
export const cachedGraphModel = weakMemoize((opened: OpenTrace): GraphModel => buildGraphModel(opened));
