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
};
