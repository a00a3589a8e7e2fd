/** The few words the picture itself says; a page passes its own language's. */

/** @typedef {Record<keyof typeof WORDS, string>} Words */

export const WORDS = {
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
