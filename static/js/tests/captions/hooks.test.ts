import assert from "node:assert/strict";
import { test } from "node:test";
import { captionNotesOfStep } from "../../captions/notes.ts";
import { openTrace } from "../../trace/state.ts";

/** y = x * 3, a hook on y, and a backward from its sum. */
function opened({ arrives, edges = 1, hooks = 1 }: { arrives: number[]; edges?: number; hooks?: number }) {
  const node = (name: string, next: any[]) => ({ kind: "node", name, next, saved: {} });
  const set = {
    f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: { y: { ref: "t1" } } },
    n1: node("MulBackward0", [null]),
    n2: node("SumBackward0", [["n1", 0]]),
    ...(edges > 1 && { n3: node("NegBackward0", [["n1", 0]]) }),
    t1: {
      kind: "tensor",
      shape: [2],
      stride: [1],
      offset: 0,
      dtype: "torch.float32",
      grad_fn: "n1",
      ...(hooks && { hooks }),
    },
    b1: { kind: "backward", api: "backward" },
  };
  const step = { frame: "f1", line: 2, gone: [], log: [] };
  const visit = (uid: string, from: number[], to: number[]) => ({
    kind: "visit",
    set: {},
    ...step,
    visit: { backward: "b1", node: uid, grad_outputs: [{ cells: from }], grad_inputs: [{ cells: to }] },
  });
  const steps = [
    { i: 0, kind: "statement", set, ...step },
    { i: 1, ...visit("n2", [1], [1, 1]) },
    { i: 2, ...visit("n1", arrives, [30, 30]) },
  ];
  return openTrace({ program: { source: "", statements: [] }, steps, outcome: { status: "finished" } });
}

const hookChanges = (how: Parameters<typeof opened>[0]) =>
  captionNotesOfStep(opened(how), 2)
    .filter(({ key }) => key === "hooked")
    .map(({ args }) => args);

test("a gradient that arrives as another one than was sent was changed by the hook", () => {
  assert.deepEqual(hookChanges({ arrives: [10, 10] }), [
    { tensor: { name: "y", of: "t1" }, from: "[1, 1]", to: "[10, 10]" },
  ]);
});

test("nothing is said where it is the same, where there is no hook, or where more than one edge leads there", () => {
  assert.deepEqual(hookChanges({ arrives: [1, 1] }), []);
  assert.deepEqual(hookChanges({ arrives: [10, 10], hooks: 0 }), []);
  assert.deepEqual(hookChanges({ arrives: [10, 10], edges: 2 }), []);
});
