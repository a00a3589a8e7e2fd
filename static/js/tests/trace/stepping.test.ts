import assert from "node:assert/strict";
import { test } from "node:test";
import { callDepthByStep, outermostLoopIterations, stepOutFrom, stepOverFrom } from "../../trace/steps/stepping.ts";

const frame = (caller: string | undefined) => ({ kind: "frame", ...(caller && { caller }) });
/** f is called at step 1 and calls g at step 2; a backward of two visits stands at its end. */
const STEPS = [
  { frame: "f1", set: { f1: frame(undefined) } },
  { frame: "f1", kind: "call", set: { f2: frame("f1") } },
  { frame: "f2", kind: "call", set: { f3: frame("f2") } },
  { frame: "f3", set: {} },
  { frame: "f2", set: {} },
  { frame: "f1", set: {} },
  { frame: "f1", visit: {}, set: {} },
  { frame: "f1", visit: {}, set: {} },
  { frame: "f1", set: {} },
];

test("a function's steps are one deeper than the call, and so are a backward's", () => {
  assert.deepEqual(callDepthByStep(STEPS), [0, 0, 1, 2, 1, 0, 1, 1, 0]);
});

test("over a call and a backward, both ways, and out", () => {
  const deep = callDepthByStep(STEPS);
  assert.equal(stepOverFrom(deep, 1, 1), 5);
  assert.equal(stepOverFrom(deep, 5, 1), 8);
  assert.equal(stepOverFrom(deep, 5, -1), 1);
  assert.equal(stepOverFrom(deep, 2, 1), 4);
  assert.equal(stepOverFrom(deep, 8, 1), 8);
  assert.equal(stepOverFrom(deep, 0, -1), 0);
  assert.equal(stepOutFrom(deep, 3), 4);
  assert.equal(stepOutFrom(deep, 6), 8);
  assert.equal(stepOutFrom(deep, 0), 0);
});

test("an outermost iteration is one stretch, whatever runs inside", () => {
  const steps = [{}, { iter: [0] }, { iter: [0, 0] }, { iter: [0, 1] }, { iter: [1] }, {}, { iter: [0] }];
  assert.deepEqual(outermostLoopIterations(steps), [
    { from: 1, to: 3, odd: false },
    { from: 4, to: 4, odd: true },
    { from: 6, to: 6, odd: false },
  ]);
});
