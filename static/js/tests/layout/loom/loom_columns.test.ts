/** Where the loom puts things: columns, lanes, shelves, thin rows, names cut to their room. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneAllocator } from "../../../layout/packing.ts";
import { layoutLoom } from "../../../layout/loom/loom.ts";
import { namesThatFit, pathThatFits } from "../../../layout/loom/loom_names.ts";
import { loomMarks } from "../../../marks/loom/loom.ts";
import { openTrace } from "../../../trace/state.ts";
import { crowd, saved } from "../../traces.ts";
import { storage, tensor, trace } from "../../entities.ts";
import { flat, drawn, having } from "./loom_drawing.ts";

/** Straight lines `xN = x * N`, each with memory of its own that stays. */
const straight = (count: number) =>
  trace(
    Array.from({ length: count }, (_, k) => `x${k} = x * ${k}`).join("\n"),
    Array.from({ length: count }, (_, k) => ({
      set: {
        f1: k
          ? { vars: { [`x${k}`]: { ref: `t${k}` } } }
          : { kind: "frame", name: "<module>", line: 1, state: "running", vars: { x0: { ref: "t0" } } },
        [`s${k}`]: storage([k, k + 1, k + 2]),
        [`c${k}`]: { kind: "counter", value: 0 },
        [`t${k}`]: tensor({ storage: `s${k}`, counter: `c${k}` }),
      },
    })),
  );

for (const [name, document] of [
  ["crowd", crowd(30)],
  ["straight", straight(100)],
] as [string, any][])
  test(`${name}: columns never stand in each other's way, nor wider than the room`, () => {
    const { plan } = drawn(document, undefined, { room: 1040 });
    for (const a of plan.columns.allColumns)
      for (const b of plan.columns.allColumns) {
        if (a === b || a.to < b.from || b.to < a.from) continue;
        assert.ok(a.right <= b.x + 0.01 || b.right <= a.x + 0.01, `${a.uid} ${b.uid}`);
      }
    assert.ok(plan.width <= 1040, String(plan.width));
  });

test("what a row makes has a column in that row, however many there are", () => {
  const { plan } = drawn(straight(100), undefined, { room: 1040 });
  plan.run.rows.forEach((_, r) => assert.ok(plan.columns.columnAt(`s${r}`, r)));
});

test("a lane is free again below its last edge, and goes on where it was asked for", () => {
  const lanes = new LaneAllocator();
  assert.deepEqual(
    [lanes.allocateLane(0, 50), lanes.allocateLane(10, 20), lanes.allocateLane(30, 40), lanes.allocateLane(50, 60, 0)],
    [0, 1, 1, 0],
  );
});

test("of a storage too big to list a handle and a write cover the part that they touch", () => {
  const big = { kind: "storage", device: "cpu", nbytes: 16384, summary: { float32: { min: 0, max: 1, mean: 0.5 } } };
  const names = { a: { ref: "t1" }, k: { ref: "t2" } };
  const { body, plan } = drawn(
    trace("", [
      {
        set: {
          f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: names },
          s1: big,
          c1: { kind: "counter", value: 0 },
          t1: tensor({ shape: [4096] }),
          t2: tensor({ shape: [1024], offset: 1024 }),
        },
      },
      {
        set: { c1: { value: 1 } },
        log: [
          {
            kind: "event",
            event: "written",
            storage: "s1",
            changed: null,
            by: "t2",
            region: { offset: 1024, shape: [1024], stride: [1], dtype: "float32" },
          },
        ],
      },
    ]),
  );
  const column = plan.columns.columnsOfStorage("s1")[0] as any;
  const write = flat([having(body, "data-loom-shot", "s1")[0]]).find((v) => v.key === "whole");
  assert.deepEqual([Number(write?.attrs.x) - column.x, Number(write?.attrs.width)], [column.w / 4, column.w / 4]);
});

test("a row in which nothing happened is thin", () => {
  const { plan } = drawn(saved("stale"));
  const heights = plan.rows.map((row) => row.h);
  assert.deepEqual(
    plan.rows.map((row) => row.thin),
    [false, false, false, false, true],
  );
  assert.ok(heights[4] < Math.min(...heights.slice(0, 4)) / 2);
});

/** One statement that makes many tensors, each with memory and a node of its own. */
function manyAtOnce(count: number) {
  const set = {
    f1: { kind: "frame", name: "<module>", line: 1, state: "running" },
  } as Record<string, any>;
  set.f1.vars = Object.fromEntries(Array.from({ length: count }, (_, k) => [`y${k}`, { ref: `t${k}` }]));
  for (let k = 0; k < count; k++) {
    set[`s${k}`] = storage([k, k + 1, k + 2]);
    set[`c${k}`] = { kind: "counter", value: 0 };
    set[`n${k}`] = { kind: "node", name: `MulBackward${k}`, next: k ? [[`n${k - 1}`, 0]] : [], saved: {} };
    set[`t${k}`] = tensor({ storage: `s${k}`, counter: `c${k}`, requires_grad: true, leaf: false, grad_fn: `n${k}` });
  }
  return trace("y = make()", [{ set }]);
}

test("what a row touches stands below each other where it does not fit beside each other; what is more is counted", () => {
  const few = drawn(manyAtOnce(12), 0, { room: 1040 });
  assert.ok(few.plan.columns.shelfCount(0) > 1);
  for (let k = 0; k < 12; k++) assert.equal(having(few.body, "data-loom-handle", `t${k}`).length, 1);
  const many = drawn(manyAtOnce(200), 0, { room: 1040 });
  const shown = having(many.body, "data-loom-handle").length;
  assert.equal(shown + many.plan.rows[0].hidden.length, 200);
  assert.ok(many.plan.height < 2500, String(many.plan.height));
  assert.match(many.code.map((v) => v.text ?? "").join(" "), new RegExp(`and ${200 - shown} more: `));
});

test("nodes that share a line are one dot; the one that backward visits is named", () => {
  const set = {
    f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: {} },
  } as Record<string, any>;
  for (let k = 0; k < 60; k++)
    set[`n${k}`] = {
      kind: "node",
      name: k === 40 ? "TanhBackward0" : "MulBackward0",
      next: k ? [[`n${k - 1}`, 0]] : [],
      saved: {},
    };
  const visit = { backward: "b1", node: "n40", grad_outputs: [null], grad_inputs: [null] };
  const document = trace("loss = net(x)\nloss.backward()", [
    { set },
    { kind: "visit", stmt: 1, line: 2, visit, set: {} },
  ]);
  const { plan, body, code } = drawn(document, 1);
  assert.ok(new Set([...plan.dots.values()].map(({ y }) => y)).size <= 16);
  assert.equal(plan.dots.size, 60);
  assert.ok(body.some((v) => v.text === "TanhBackward0"));
  assert.equal(having(code, "data-loom-visited", "n40")[0].text, "▸ Tanh");
});

test("the head names what is in sight, also where it is not there at the step", () => {
  const opened = openTrace(straight(100));
  const plan = layoutLoom(opened, { room: 1040 });
  const { head } = loomMarks(plan, opened, 0, {}, undefined, 60);
  assert.match(
    flat(head)
      .map((v) => v.text ?? "")
      .join(" "),
    /x60/,
  );
  assert.equal(having(flat(head), "data-loom-absent", "s60").length, 1);
});

test("of a path its end is kept, of several names the first", () => {
  assert.equal(pathThatFits("net.0.weight.grad", 14), "…0.weight.grad");
  assert.equal(pathThatFits("net.0.weight.grad", 6), "…grad");
  assert.equal(pathThatFits("embedding", 6), "embed…");
  assert.equal(namesThatFit("a b c", 5), "a b c");
  assert.equal(namesThatFit("net.weight opt.param_groups[0]", 13), "net.weight +1");
});
