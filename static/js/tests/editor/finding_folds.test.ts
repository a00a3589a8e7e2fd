import assert from "node:assert/strict";
import test from "node:test";
import { foldsBetween } from "../../editor/finding_folds.ts";

test("what lies between the lines of a finding folds, but for a line around each", () => {
  assert.deepEqual(foldsBetween([40, 12], 60), [{ first: 14, last: 38 }]);
  assert.deepEqual(foldsBetween([5, 20, 21, 60], 60), [
    { first: 7, last: 18 },
    { first: 23, last: 58 },
  ]);
});

test("few lines, one line and lines that are not there fold nothing", () => {
  assert.deepEqual(foldsBetween([10, 15], 60), []);
  assert.deepEqual(foldsBetween([10, 16], 60), []);
  assert.deepEqual(foldsBetween([10, 17], 60), [{ first: 12, last: 15 }]);
  assert.deepEqual(foldsBetween([10, 10], 60), []);
  assert.deepEqual(foldsBetween([10, 99], 60), []);
});
