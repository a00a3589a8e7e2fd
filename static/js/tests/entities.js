/** Entities and steps for hand-written traces, each with the fields that torch 2.13 gives it. */

export { counter, ndarray, node, ref, storage, tensor } from "../specimen_entities.js";

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
