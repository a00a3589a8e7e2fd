/** Entities and steps for hand-written traces, each with the fields that torch 2.13 gives it. */

/** @param {any} [over] */
export function tensor(over = {}) {
  return {
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
    ...over,
  };
}

/** @param {number[]} cells @param {string} [dtype] @param {number} [size] */
export function storage(cells, dtype = "float32", size = 4) {
  return { kind: "storage", device: "cpu", nbytes: cells.length * size, cells: { [dtype]: cells } };
}

export const counter = (value = 0) => ({ kind: "counter", value });

/** @param {string} uid */
export const ref = (uid) => ({ ref: uid });

/** @param {string} source @param {any[]} steps */
export function trace(source, steps) {
  return {
    schema: 1,
    program: { source, lines: [], statements: [], notices: [] },
    runtime: {},
    steps: steps.map((s, i) => ({
      i,
      kind: "statement",
      stmt: i,
      line: i + 1,
      frame: "f1",
      depth: 0,
      gone: [],
      log: [],
      set: {},
      ...s,
    })),
    outcome: { status: "finished" },
    cost: {},
  };
}

/** @param {Record<string, any>} vars @param {any} [rest] */
export const frame = (vars, rest = {}) => ({
  kind: "frame",
  name: "<module>",
  line: 1,
  state: "running",
  vars,
  ...rest,
});

/** @param {Record<string, any>} vars */
export const vars = (vars) => ({ vars });

/** @param {string} name @param {[string, number][]} next @param {any} [rest] */
export const node = (name, next, rest = {}) => ({ kind: "node", name, next, saved: {}, attrs: {}, ...rest });
