/**
 * Rails of one connected graph, as a commit graph has them: a lane for each chain, and for each edge that skips nodes.
 */

import { addToList } from "../../trace/multimap.ts";

/** a node's k-th edge and the node that it leads to */
export interface InputEdge {
  k: number;
  to: string;
}

/** how an edge gets from its input down to its reader. chain: straight down a lane that both are on. join: down the
 * input's lane, then over to the reader's. branch: over to the reader's lane at once, then down. skip: down a lane
 * of its own. */
export interface EdgeRail {
  kind: "chain" | "join" | "branch" | "skip";
  /** the one that it goes down */
  lane: number;
}

export interface GraphRails {
  lanes: number;
  /** by node */
  laneOf: Map<string, number>;
  /** by `inputEdgeKey` */
  edges: Map<string, EdgeRail>;
}

/** One edge of a node; a node whose edges change has several of a number. */
export function inputEdgeKey(reader: string, { k, to }: InputEdge) {
  return `${reader}:${k}>${to}`;
}

/** Lanes held over stretches of lines; a lane is free again beyond a stretch. */
class LaneStretches {
  /** by lane */
  stretchesOfLane: [number, number][][] = [];

  /** The first lane that is free from one line to another. */
  takeFreeLane(from: number, to: number) {
    let lane = this.stretchesOfLane.findIndex((stretches) => !stretches.some(([a, z]) => a <= to && from <= z));
    if (lane < 0) lane = this.stretchesOfLane.push([]) - 1;
    this.stretchesOfLane[lane].push([from, to]);
    return lane;
  }
}

/**
 * Lanes for all the nodes that one graph ever has, so that none moves when later ones come. `order` has inputs before
 * what reads them.
 */
export function assignRailLanes(order: string[], inputs: Map<string, InputEdge[]>): GraphRails {
  const lineByUid = new Map(order.map((uid, line) => [uid, line]));
  const lineOf = (uid: string) => lineByUid.get(uid) as number;
  const readers = readersByNode(order, inputs);
  const depths = longestPathsUp(order, inputs);
  const lanes = new LaneStretches();
  const laneOf = new Map<string, number>();
  const edges = new Map<string, EdgeRail>();
  for (const lowestUid of [...order].reverse()) {
    if (laneOf.has(lowestUid)) continue;
    const chain = longestChainUp(lowestUid, inputs, laneOf, depths);
    const top = chain[chain.length - 1].uid;
    const inputAbove = (inputs.get(top) ?? [])
      .filter((input) => laneOf.has(input.to))
      .sort((p, q) => lineOf(q.to) - lineOf(p.to))[0];
    const readerBelow = (readers.get(lowestUid) ?? [])
      .filter(({ uid }) => laneOf.has(uid))
      .sort((p, q) => lineOf(p.uid) - lineOf(q.uid))[0];
    const lane = lanes.takeFreeLane(
      inputAbove ? lineOf(inputAbove.to) + 1 : lineOf(top),
      readerBelow ? lineOf(readerBelow.uid) - 1 : lineOf(lowestUid),
    );
    for (const { uid, input } of chain) {
      laneOf.set(uid, lane);
      if (input) edges.set(inputEdgeKey(uid, input), { kind: "chain", lane });
    }
    if (inputAbove) edges.set(inputEdgeKey(top, inputAbove), { kind: "branch", lane });
    if (readerBelow) edges.set(inputEdgeKey(readerBelow.uid, readerBelow.input), { kind: "join", lane });
  }
  for (const uid of order)
    for (const input of inputs.get(uid) ?? []) {
      const key = inputEdgeKey(uid, input);
      const from = lineOf(input.to) + 1;
      if (!edges.has(key))
        edges.set(key, { kind: "skip", lane: lanes.takeFreeLane(from, Math.max(from, lineOf(uid) - 1)) });
    }
  return { lanes: lanes.stretchesOfLane.length, laneOf, edges };
}

/**
 * From a node up, at each the input with the longest way behind it, as far as no lane is given; each with the edge that
 * goes on up.
 */
function longestChainUp(
  lowestUid: string,
  inputs: Map<string, InputEdge[]>,
  laneOf: Map<string, number>,
  depths: Map<string, number>,
): { uid: string; input: InputEdge | null }[] {
  const chain: { uid: string; input: InputEdge | null }[] = [];
  for (let uid = lowestUid as string | null; uid; ) {
    let deepestInput: InputEdge | null = null;
    for (const input of inputs.get(uid) ?? [])
      if (!laneOf.has(input.to) && (!deepestInput || (depths.get(input.to) ?? 0) > (depths.get(deepestInput.to) ?? 0)))
        deepestInput = input;
    chain.push({ uid, input: deepestInput });
    uid = deepestInput ? deepestInput.to : null;
  }
  return chain;
}

function readersByNode(
  order: string[],
  inputs: Map<string, InputEdge[]>,
): Map<string, { uid: string; input: InputEdge }[]> {
  const readers = new Map<string, { uid: string; input: InputEdge }[]>();
  for (const uid of order) for (const input of inputs.get(uid) ?? []) addToList(readers, input.to, { uid, input });
  return readers;
}

/** How many nodes the longest way up from each has. */
function longestPathsUp(order: string[], inputs: Map<string, InputEdge[]>) {
  const depths = new Map<string, number>();
  for (const uid of order)
    depths.set(uid, 1 + (inputs.get(uid) ?? []).reduce((most, { to }) => Math.max(most, depths.get(to) ?? 0), 0));
  return depths;
}
