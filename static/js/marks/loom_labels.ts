/** What the loom's picture says in words; a page passes its own language's. */

/** What the loom says; a page passes its own language's. */
export const LOOM_LABELS = {
  program: "Program",
  runs: "time runs down",
  memory: "Memory",
  now: "now",
  graph: "Graph",
  grows: "grows down; gradients climb up",
  freed: "freed",
  through: "written through",
  written: "written",
  broken: "broken",
  bytes: "other bytes",
  released: "released",
  unseen: "{n} statements not recorded",
  passing: "freed at once: {n}",
  raises: "raises",
  cut: "no grad_fn",
  visit: "visit {k} of {n}",
  more: "more lines: {n}",
  end: "the end",
  unnamed: "unnamed",
  unnamed_title:
    "Memory that no visible name refers to: intermediate results, what the engine keeps, what is deep inside objects",
  hidden: "and {n} more",
};

export type LoomLabels = Record<keyof typeof LOOM_LABELS, string>;
