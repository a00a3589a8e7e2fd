import assert from "node:assert/strict";
import { test } from "node:test";
import {
  haveSameOutput,
  firstStepOfIteration,
  focusAroundElement,
  skippedIterationsBefore,
  iterationFocus,
} from "../../trace/steps/skipped_iterations.ts";

const statements = [
  { kind: "Assign" },
  { kind: "For" },
  { kind: "For", loop: 1 },
  { kind: "AugAssign", loop: 2 },
  { kind: "Expr", loop: 1 },
  { kind: "Expr" },
];

const trace = (steps: any[], text = "") => ({
  program: { statements },
  steps: steps.map((s) => ({ frame: "f1", log: [{ kind: "out", text }], ...s })),
  outcome: { status: "finished" },
});

test("a gap between two heads of a loop names its iterations", () => {
  const opened = trace([
    { kind: "head", stmt: 1, iter: [4] },
    { kind: "statement", stmt: 4, iter: [4] },
    { kind: "head", stmt: 1, iter: [9], skipped: 12 },
  ]);
  assert.deepEqual(skippedIterationsBefore(opened, 2), { skipped: 12, loop: 1, around: [], from: 5, to: 8 });
  assert.equal(skippedIterationsBefore(opened, 1), null);
});

test("a gap of an inner loop keeps the counts around it, and ends where nobody saw it", () => {
  const opened = trace([
    { kind: "head", stmt: 2, iter: [3, 7] },
    { kind: "statement", stmt: 3, iter: [3, 7] },
    { kind: "statement", stmt: 2, iter: [3], skipped: 40 },
  ]);
  const skipped = skippedIterationsBefore(opened, 2);
  assert.deepEqual(skipped, { skipped: 40, loop: 2, around: [3], from: 8, to: null });
  assert.deepEqual(iterationFocus(skipped as any, 20), { loop: 2, iteration: [3, 20] });
});

test("what a called function did lies between, and is passed over", () => {
  const opened = trace([
    { kind: "head", stmt: 1, iter: [0] },
    { kind: "statement", stmt: 0, frame: "f2" },
    { kind: "head", stmt: 1, iter: [5], skipped: 3 },
  ]);
  assert.equal(skippedIterationsBefore(opened, 2)?.from, 1);
});

test("the opened iteration is found", () => {
  const opened = trace([
    { kind: "head", stmt: 2, iter: [3, 7] },
    { kind: "head", stmt: 2, iter: [3, 20] },
  ]);
  assert.equal(firstStepOfIteration(opened, { loop: 2, iteration: [3, 20] }), 1);
  assert.equal(firstStepOfIteration(opened, { loop: 1, iteration: [3, 20] }), -1);
});

test("runs that printed something else are not alike", () => {
  assert.ok(haveSameOutput(trace([{}], "a"), trace([{}], "a")));
  assert.ok(!haveSameOutput(trace([{}], "a"), trace([{}], "b")));
});

test("elements that were asked for are opened with some before them, and never before the first", () => {
  assert.deepEqual(focusAroundElement("s1", 5000, 3), { storage: "s1", step: 3, from: 4872, to: 5384 });
  assert.equal(focusAroundElement("s1", 5, 3).from, 0);
});
