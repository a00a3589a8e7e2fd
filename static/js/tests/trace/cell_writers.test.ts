import assert from "node:assert/strict";
import { test } from "node:test";
import { openTrace } from "../../trace/state.ts";
import { lastWriteStep } from "../../trace/cell_writers.ts";

const opened = openTrace({
  steps: [
    { set: { s1: { kind: "storage", nbytes: 12, cells: { float32: [1, 2, 3] } } } },
    { set: { s1: { cells_at: { float32: { 1: 9 } } } } },
    { set: { s2: { kind: "storage", nbytes: 4, cells: { float32: [0] } } } },
    { set: { s1: { cells: { float32: [5, 9, 3] } } } },
    { set: { s1: { held_by: ["t1"] } } },
    {
      set: {
        s3: {
          kind: "storage",
          nbytes: 8000,
          windows: {
            float32: [
              [0, [1, 1]],
              [90, [7]],
            ],
          },
        },
      },
    },
    {
      set: {
        s3: {
          windows: {
            float32: [
              [0, [1, 4]],
              [90, [7]],
            ],
          },
        },
      },
    },
  ],
});

test("a cell was last written by its patch, by a whole row in which it differs, or by its allocation", () => {
  assert.equal(lastWriteStep(opened, "s1", 1, "float32", 6), 1);
  assert.equal(lastWriteStep(opened, "s1", 0, "float32", 6), 3);
  assert.equal(lastWriteStep(opened, "s1", 2, "float32", 6), 0);
  assert.equal(lastWriteStep(opened, "s1", 0, "float32", 2), 0);
  assert.equal(lastWriteStep(opened, "s1", 1, "float32", 0), 0);
});

test("a cell in a window, and one that nobody wrote yet", () => {
  assert.equal(lastWriteStep(opened, "s3", 1, "float32", 6), 6);
  assert.equal(lastWriteStep(opened, "s3", 90, "float32", 6), 5);
  assert.equal(lastWriteStep(opened, "s2", 0, "float32", 1), -1);
});
