/** The graph of a run, as its pane is laid out from it. */

import type { InputEdge, GraphRails } from "./rails.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { TraceIndex } from "../../trace/trace_index.ts";

/** a leaf at a node that reads it, by the edges `ks` */
export interface AttachedLeaf {
  leaf: string;
  /** nodes between them that only bring it into shape, the reader's first */
  vias: string[];
  ks: number[];
}

/** a node with its leaves. */
export interface NodeBlock {
  uid: string;
  /** its edges to other blocks */
  inputs: InputEdge[];
  docks: AttachedLeaf[];
  lane: number;
  line: number;
  component: GraphComponent;
  /** whether backward ever runs it */
  visited: boolean;
  /** whether a backward ever begins at it */
  seed: boolean;
}

/** nodes that are one graph over the whole run, inputs first. */
export interface GraphComponent {
  /** its first node */
  key: string;
  order: NodeBlock[];
  rails: GraphRails;
  birth: number;
  death: number;
}

/** the k-th visit of a backward, from 1 */
export interface VisitFacts {
  step: number;
  backward: string;
  k: number;
}

export interface GraphModel {
  opened: OpenTrace;
  index: TraceIndex;
  blocks: Map<string, NodeBlock>;
  /** by birth */
  components: GraphComponent[];
  /** nodes that accumulate into a tensor */
  leaves: string[];
  /** by a leaf, the blocks it is docked to */
  readersOf: Map<string, string[]>;
  /** by a docked node that is no leaf, its block */
  hosts: Map<string, string>;
  /** by tensor, the variable that last named it */
  formerNames: Map<string, string>;
  /** by node that is no leaf */
  labels: Map<string, string>;
  /** by node, in order */
  visits: Map<string, VisitFacts[]>;
  /** their first and last visits' steps */
  backwards: Map<string, { first: number; last: number }>;
  /** by step, whether what arrived at a leaf was added to a gradient that it had */
  additions: Map<number, boolean>;
  stills: Map<string, FixedGraphPlaces>;
  /** by the size of a pane */
  spreads: Map<string, FixedGraphPlaces | null>;
}

/** Heights of a graph's parts, and the sizes of its type: second words are always 12. */
export interface GraphSizes {
  /** a node's box when open, and its name */
  node: number;
  nodeFont: number;
  /** a docked leaf's line and its box, and the names of leaves and tensors */
  leafLine: number;
  leaf: number;
  nameFont: number;
  /** between the last docked leaf and the node */
  leavesGap: number;
  /** a gradient's chip, its line, and the numbers in it */
  chip: number;
  chipLine: number;
  chipFont: number;
  slot: number;
}

export interface FixedGraphPlaces {
  /** of all */
  height: number;
  /** whether graphs have titles, for there are several at a time */
  titled: boolean;
  /** by graph, where it begins */
  tops: Map<string, number>;
  /** by node, where the room above it begins */
  blocks: Map<string, number>;
  /** where leaves wait that no node reads */
  idle: number;
  sizes: GraphSizes;
  /** what is added above each node but a graph's first */
  spread: number;
}
