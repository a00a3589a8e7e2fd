/** Memory that NumPy and torch share is one storage, read from where each of them begins. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cellsReadBy } from "../../findings/facts/cell_values.ts";
import { stepPicture } from "../../marks/still.ts";
import { cellReads } from "../../trace/reads.ts";
import { openTrace } from "../../trace/state.ts";
import type { VNode } from "../../browser/svg.ts";
import { frame, ndarray, ref, storage, tensor, trace, vars } from "../entities.ts";

const inner = (cells: number[], at: number, rest: any = {}) => ({
  ...storage(cells),
  within: { storage: "s1", at },
  ...rest,
});
const A = { s1: storage([1, 2, 3]), a1: ndarray({ shape: [3], storage: "s1" }), f1: frame({ a: ref("a1") }) };
const T = {
  s2: inner([2, 3], 4),
  t1: tensor({ shape: [2], storage: "s2", counter: null }),
  f1: vars({ t: ref("t1") }),
};
const written = (uid: string, offset: number, rest: any = {}) => ({
  kind: "event",
  event: "written",
  storage: uid,
  changed: 1,
  region: { offset, shape: [1], stride: [1], dtype: "float32" },
  ...rest,
});
const op = { kind: "op", name: "aten::add_", inputs: ["t1"], outputs: ["t1"], requires_grad: [false], grad_mode: true };
const WRITE = {
  set: { s1: { cells_at: { float32: { 2: 9 } } }, s2: { cells_at: { float32: { 1: 9 } } } },
  log: [written("s1", 2), op, written("s2", 1, { op: 1, by: "t1" })],
};

test("a tensor of a part of an array reads the array's cells, from where it begins", () => {
  const opened = openTrace(trace("", [{ set: A }, { set: T }, WRITE]));
  const entities = opened.state(2);
  assert.equal(entities.has("s2"), false);
  assert.deepEqual(
    cellReads(entities.get("t1") as any).map(({ cell }) => cell),
    [1, 2],
  );
  assert.deepEqual(opened.index.handlesOfStorage("s1", 2), ["a1", "t1"]);
});

test("a write is told once, as that of the tensor that wrote, at the array's cell", () => {
  const { log } = openTrace(trace("", [{ set: A }, { set: T }, WRITE])).trace.steps[2];
  assert.deepEqual(log, [op, written("s1", 2, { op: 0, by: "t1" })]);
  const byArray = { ...WRITE, log: [written("s1", 2), written("s2", 1)] };
  assert.deepEqual(openTrace(trace("", [{ set: A }, { set: T }, byArray])).trace.steps[2].log, [written("s1", 2)]);
});

test("what outlives the other, begins between its cells or is read under another dtype keeps a memory of its own", () => {
  const last = (steps: any[]) => openTrace(trace("", steps)).state(steps.length - 1);
  const end = { set: { f1: { unset: ["a"] } }, gone: ["a1", "s1"] };
  assert.ok(last([{ set: A }, { set: T }, end]).has("s2"));
  assert.ok(last([{ set: A }, { set: { ...T, s2: inner([2, 3], 2) } }]).has("s2"));
  const other = inner([], 4, { cells: { int32: [5, 6] } });
  assert.ok(last([{ set: A }, { set: { ...T, s2: other } }]).has("s2"));
});

test("a tensor that moves to another memory reads that from its own offset", () => {
  const moved = { set: { s3: storage([7, 8]), t1: { storage: "s3" } } };
  const t1: any = openTrace(trace("", [{ set: A }, { set: T }, moved]))
    .state(2)
    .get("t1");
  assert.deepEqual(
    cellReads(t1).map(({ cell }) => cell),
    [0, 1],
  );
});

test("the recorded program that shares memory draws one box for it, with both on it", () => {
  const document = JSON.parse(readFileSync("tests/golden/numpy_shares.json", "utf8"));
  for (let i = 3; i < document.steps.length; i++) {
    const strips: string[] = [];
    const walk = ({ attrs, children }: VNode) => {
      if (attrs["data-storage-strip"]) strips.push(`${attrs["data-storage-strip"]}`);
      children.forEach(walk);
    };
    stepPicture(openTrace(document), i, {}, { w: 1080, h: Number.POSITIVE_INFINITY }).nodes.forEach(walk);
    const living = [...openTrace(document).state(i).values()].filter(({ kind }) => kind === "storage").length;
    assert.equal(strips.length, living, `step ${i}`);
    assert.equal(new Set(strips).size, living);
  }
});

test("memory that is too large to list is one too, and knows what was known of its parts", () => {
  const large = (windows: any) => ({
    ...storage([]),
    cells: undefined,
    nbytes: 8000,
    summary: { float32: { mean: 0 } },
    windows: { float32: windows },
  });
  const t = (fields: any) => tensor({ shape: [2], counter: null, ...fields });
  const set = {
    s1: large([[0, [1, 2]]]),
    a1: ndarray({ shape: [2000], storage: "s1" }),
    s2: { ...large([[0, [1, 2]]]), within: { storage: "s1", at: 0 } },
    s3: inner([7, 8], 400),
    t1: t({ storage: "s2", offset: 50 }),
    t2: t({ storage: "s3" }),
  };
  const view = { set: { s2: { windows: { float32: [[50, [5, 6]]] } }, s3: { cells_at: { float32: { 1: 9 } } } } };
  const entities = openTrace(trace("", [{ set }, view])).state(1);
  assert.deepEqual([...entities.keys()], ["s1", "a1", "t1", "t2"]);
  assert.deepEqual(
    ["t1", "t2"].map((uid) => cellsReadBy(entities, entities.get(uid) as any)),
    [
      [5, 6],
      [7, 9],
    ],
  );
});
