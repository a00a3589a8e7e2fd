/** The few words the picture itself says; a page passes its own language's. */

/** @typedef {Record<keyof typeof LABELS, string>} Labels */

export const LABELS = {
  names: "Names",
  handles: "Handles",
  storages: "Storages",
  graph: "Graph",
  freed: "freed",
  expects: "expects",
  now: "now",
  still: "still",
  otherBytes: "other bytes",
  released: "released",
  inside: "inside",
  unnamed: "no name",
  none: "None",
  module: "module",
  memory: "memory",
  nodes: "nodes",
  oneNode: "node",
  leaves: "leaves",
  oneLeaf: "leaf",
  noGraph: "No graph yet.",
  programDown: "program ↓",
  gradientsUp: "gradients ↑",
  graphOf: "graph of {name}",
  graphUnnamed: "graph of a result without a name",
  backwardHere: "backward is here",
  backwardDone: "backward is done",
  idleLeaves: "{n} waiting for the next graph",
};
