/** Entities as a trace tells them, and small traces made of them: for specimens and for tests. */

export const entityRef = (uid: string) => ({ ref: uid });

export const counter = (value = 0) => ({ kind: "counter", value });

/** `size` is that of an element, in bytes. */
export const storage = (cells: any[], dtype = "float32", size = 4) => ({
  kind: "storage",
  device: "cpu",
  nbytes: cells.length * size,
  cells: { [dtype]: cells },
});

export const tensor = (overrides: any = {}) => ({
  kind: "tensor",
  type: "Tensor",
  shape: [3],
  dtype: "float32",
  device: "cpu",
  layout: "strided",
  storage: "s1",
  offset: 0,
  stride: [1],
  counter: "c1",
  requires_grad: false,
  leaf: true,
  retains_grad: false,
  bits: [],
  hooks: 0,
  ...overrides,
});

/** A numpy array of three numbers, on the storage s1. */
export const ndarray = () => ({
  kind: "array",
  type: "ndarray",
  shape: [3],
  dtype: "float32",
  storage: "s1",
  at: 0,
  steps: [4],
  writeable: true,
});

export const node = (name: string, next: [string, number][], fields: any = {}) => ({
  kind: "node",
  name,
  next,
  saved: {},
  attrs: {},
  ...fields,
});

export const frame = (vars: Record<string, any>) => ({
  kind: "frame",
  name: "<module>",
  line: 1,
  state: "running",
  vars,
});

export function makeTrace(source: string, steps: any[]) {
  return {
    program: { source, lines: [], statements: [], notices: [] },
    steps: steps.map((step, i) => ({
      i,
      kind: "statement",
      stmt: i,
      line: i + 1,
      frame: "f1",
      depth: 0,
      gone: [],
      log: [],
      set: {},
      ...step,
    })),
    outcome: { status: "finished" },
  };
}
