/** The loom tells the whole trace: every storage, handle, write, tick, pin, node and gradient, each in its row. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { wireText } from "../layout/format.js";
import { Lanes } from "../layout/lanes.js";
import { loomLayout } from "../layout/loom.js";
import { fitNames, shortPath } from "../layout/loom_names.js";
import { reads } from "../layout/reads.js";
import { runRows } from "../layout/run_rows.js";
import { loomMarks, loomPicture } from "../marks/loom.js";
import { shelfOfStep } from "../marks/loom_scene.js";
import { openTrace } from "../state.js";
import { render } from "../svg.js";
import { ALL, backward, crowd, saved, sharing, views } from "./traces.js";
import { storage, tensor, trace } from "./entities.js";

/** @typedef {import("../svg.js").VNode} VNode */

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))]);

/** @param {VNode[]} nodes @returns {VNode[]} */
function flat(nodes) {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

/** @param {any} document @param {number} [i] @param {any} [options] */
function drawn(document, i, options = {}) {
  const opened = openTrace(document);
  const plan = loomLayout(opened, options);
  const { head, code, body } = loomMarks(plan, opened, i ?? opened.count - 1, {}, options.band);
  return { opened, plan, head: flat(head), code: flat(code), body: flat(body) };
}

/** @param {VNode[]} list @param {string} name @param {string} [value] */
const having = (list, name, value) =>
  list.filter((v) => name in v.attrs && (value === undefined || v.attrs[name] === value));
/** @param {VNode} mark @param {RegExp} name */
const texts = (mark, name) =>
  mark.children.filter((c) => c.tag === "text" && name.test(c.attrs.class)).map((c) => c.text);

for (const [name, make] of Object.entries(ALL))
  for (const options of [{ room: 1400 }, { room: 390, stacked: true }])
    test(`${name}, ${options.room} wide: at every step the head says the state, and all of the run is there`, () => {
      const document = make();
      const { opened, plan } = drawn(document, 0, options);
      for (let i = 0; i < opened.count; i++) {
        const { head, body } = drawn(document, i, options);
        for (const [uid, e] of opened.state(i)) {
          const shelf = shelfOfStep(plan, i);
          if (
            e.kind !== "storage" ||
            !plan.columns.columnsOfStorage(uid).some(({ from, to }) => from <= shelf && shelf <= to)
          )
            continue;
          assert.equal(having(head, "data-loom-storage", uid).length, 1);
          const [row] = /** @type {any[][]} */ (Object.values(e.cells ?? {}));
          if (!plan.columns.get(uid)?.heat)
            row?.forEach((value, k) =>
              assert.equal(having(head, "data-loom-cell", `${uid}:${k}`)[0].attrs["data-value"], wireText(value)),
            );
        }
        for (const badge of having(head, "data-loom-badge"))
          assert.equal(badge.attrs["data-version"], String(opened.state(i).get(badge.attrs["data-loom-badge"])?.value));
        assert.equal(having(body, "data-loom-now")[0].attrs["data-loom-now"], String(plan.run.rowOfStep[i]));
        assert.doesNotMatch([...head, ...body].map(render).join(""), /NaN|undefined|Infinity/);
      }
      const { body } = drawn(document, undefined, options);
      for (const [uid, life] of plan.run.storages)
        if ((life.death > life.birth || !life.freed) && plan.run.storageNames.has(uid))
          assert.equal(having(body, "data-loom-column", uid).length, plan.columns.columnsOfStorage(uid).length);
      for (const key of plan.run.pins.keys())
        if (plan.columns.has(plan.run.pins.get(key)?.storage ?? ""))
          assert.equal(having(body, "data-loom-pin", key).length, 1);
      plan.run.rows.forEach((row, r) => {
        for (const { uid, entity } of row.readers)
          if (plan.columns.at(entity.storage, r)) assert.ok(having(body, "data-loom-handle", uid).length);
          else
            assert.ok(
              !plan.run.storageNames.has(entity.storage) || plan.columns.hidden.get(r)?.includes(entity.storage),
            );
      });
    });

test("a row is a statement, with the visits of its backward", () => {
  const run = runRows(openTrace(backward()));
  assert.deepEqual(
    run.rows.map((row) => [row.first, row.last, row.visits.length]),
    [
      [0, 0, 0],
      [1, 1, 0],
      [2, 2, 0],
      [3, 8, 5],
      [9, 9, 0],
    ],
  );
  assert.deepEqual(run.rowOfStep, [0, 1, 2, 3, 3, 3, 3, 3, 3, 4]);
});

test("windows stand under the cells that the handle reads, a line for each logical row", () => {
  const { plan, body, opened } = drawn(views());
  for (const [uid, e] of opened.state(3)) {
    if (e.kind !== "tensor") continue;
    const mark = having(body, "data-loom-handle", uid)[0];
    const windows = having(flat([mark]), "data-loom-reads");
    assert.deepEqual(
      windows.map((v) => [v.attrs["data-index"], v.attrs["data-loom-reads"]]).sort(),
      reads(e)
        .map((r) => [r.index.join(","), `${e.storage}:${r.cell}`])
        .sort(),
    );
    const column = plan.columns.get(e.storage);
    for (const w of windows) {
      const cell = Number(w.attrs["data-loom-reads"].split(":")[1]);
      const box = w.children[0].attrs;
      assert.ok(
        Math.abs(Number(box.x) + Number(box.width) / 2 - ((column?.x ?? 0) + (cell + 0.5) * (column?.cell ?? 0))) < 0.1,
      );
    }
    assert.equal(new Set(windows.map((v) => v.children[0].attrs.y)).size, e.shape[0]);
  }
});

test("what shares memory shares columns, what has its own stands beside them", () => {
  const { plan } = drawn(sharing());
  const at = Object.fromEntries(plan.handles.flat().map((block) => [block.reader.uid, block.column.uid]));
  assert.deepEqual(at, { t1: "s1", t2: "s2", t3: "s1", t4: "s1" });
  assert.ok((plan.columns.get("s2")?.x ?? 0) >= (plan.columns.get("s1")?.right ?? 0));
});

test("a write is yellow windows with the new value, the old one struck, and a tick on its counter", () => {
  const { body } = drawn(saved("stale"));
  const writes = having(body, "data-loom-write");
  assert.deepEqual(
    writes.map((v) => [v.attrs["data-loom-write"], v.attrs["data-value"]]),
    [
      ["s2:0", "0"],
      ["s2:1", "0"],
      ["s2:2", "0"],
    ],
  );
  assert.deepEqual(
    writes.map((v) => [texts(v, /loom-new/)[0], texts(v, /loom-old/)[0]]),
    [
      ["0", ".731059"],
      ["0", ".880797"],
      ["0", ".952574"],
    ],
  );
  const bump = having(body, "data-loom-bump", "c2")[0];
  assert.deepEqual([bump.attrs["data-from"], bump.attrs["data-to"], bump.children[1].text], ["0", "1", "0→1"]);
});

test("a pin holds its rail until its write, and tells apart what raises from what is silent", () => {
  const state = (/** @type {any} */ document, /** @type {number} */ i) =>
    having(drawn(document, i).body, "data-loom-pin", "n2:result")[0];
  assert.equal(state(saved("stale"), 1).attrs["data-state"], "held");
  assert.equal(state(saved("stale"), 4).attrs["data-state"], "broken");
  assert.equal(state(saved("changed"), 4).attrs["data-state"], "silent");
  assert.ok(state(saved("stale"), 4).children.some((c) => c.attrs.class === "loom-snap"));
  assert.ok(state(saved("changed"), 4).children.some((c) => c.attrs.class === "loom-warn"));
  const { plan } = drawn(saved("changed"));
  assert.equal(plan.columns.get("s2")?.rails.size, 2);
  assert.equal(plan.pinLines[0].rail, plan.columns.get("s2")?.rails.get("c2"));
});

test("a slot is released at the step at which the trace releases it, not with the row", () => {
  for (const [name, document] of [...Object.entries(ALL).map(([name, make]) => [name, make()]), ...goldens]) {
    const { opened } = drawn(document, 0);
    for (let i = 0; i < opened.count; i++) {
      const { body } = drawn(document, i);
      for (const mark of having(body, "data-loom-pin")) {
        const [uid, slot] = mark.attrs["data-loom-pin"].split(/:(.*)/);
        const node = opened.state(i).get(uid);
        const saved = node?.kind === "node" && !node.released ? node.saved?.[slot] : undefined;
        const kept = Boolean(saved?.storage) && saved?.state !== "freed";
        const born = (opened.index.slots.get(`${uid}:${slot}`)?.birth ?? 0) <= i;
        if (!born || /broken|silent/.test(mark.attrs["data-state"])) continue;
        assert.equal(mark.attrs["data-state"], kept ? "held" : "released", `${name} ${i} ${uid}:${slot}`);
      }
    }
  }
});

test("gradients stand at the nodes that they reached, and the edges that carry them are lit", () => {
  const { body, plan } = drawn(backward(), 6);
  assert.deepEqual(
    having(body, "data-loom-grad")
      .map((v) => [v.attrs["data-loom-grad"], v.attrs["data-value"]])
      .sort(),
    [
      ["n2", "[1,2,3]"],
      ["n3", "[-3,-2,-1]"],
      ["n4", "[1,1,1]"],
      ["n5", "[1]"],
    ],
  );
  assert.match(having(body, "data-loom-edge", "n4:1")[0].attrs.class, /flows/);
  assert.equal(plan.dots.get("n1")?.row, 0);
  const { plan: later } = drawn(backward());
  assert.equal(later.columns.get("s5")?.x, later.columns.get("s1")?.right);
});

test("nothing moves between steps", () => {
  const positions = (/** @type {number} */ i) =>
    new Map(
      drawn(backward(), i)
        .body.filter((v) => v.attrs["data-loom-handle"] || v.attrs["data-loom-column"])
        .map((v) => [v.key, render(v).replace(/ class="[^"]*"/g, "")]),
    );
  assert.deepEqual(positions(0), positions(9));
});

test("of a tall picture only the rows in sight are drawn", () => {
  const steps = Array.from({ length: 1000 }, (_, i) => ({
    set: i
      ? { s1: { cells_at: { float32: { 0: i } } } }
      : {
          f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: { a: { ref: "t1" } } },
          s1: storage([1, 2]),
          c1: { kind: "counter", value: 0 },
          t1: tensor({ shape: [2] }),
        },
  }));
  const { plan, body, code } = drawn(trace("", steps), 500, { band: { top: 30000, bottom: 31000 } });
  assert.equal(plan.rows.length, 1000);
  assert.ok(having(body, "data-loom-write").length < 20);
  assert.ok(having(code, "data-loom-row").length < 20);
});

/** Straight lines `xN = x * N`, each with memory of its own that stays. @param {number} count */
const straight = (count) =>
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

for (const [name, document] of /** @type {[string, any][]} */ ([
  ["crowd", crowd(30)],
  ["straight", straight(100)],
]))
  test(`${name}: columns never stand in each other's way, nor wider than the room`, () => {
    const { plan } = drawn(document, undefined, { room: 1040 });
    for (const a of plan.columns.list)
      for (const b of plan.columns.list) {
        if (a === b || a.to < b.from || b.to < a.from) continue;
        assert.ok(a.right <= b.x + 0.01 || b.right <= a.x + 0.01, `${a.uid} ${b.uid}`);
      }
    assert.ok(plan.width <= 1040, String(plan.width));
  });

test("what a row makes has a column in that row, however many there are", () => {
  const { plan } = drawn(straight(100), undefined, { room: 1040 });
  plan.run.rows.forEach((_, r) => assert.ok(plan.columns.at(`s${r}`, r)));
});

test("a lane is free again below its last edge, and goes on where it was asked for", () => {
  const lanes = new Lanes();
  assert.deepEqual(
    [lanes.allocate(0, 50), lanes.allocate(10, 20), lanes.allocate(30, 40), lanes.allocate(50, 60, 0)],
    [0, 1, 1, 0],
  );
});

test("the whole picture is one list of marks, cut to the rows around the step where that is asked", () => {
  const opened = openTrace(backward());
  const complete = loomPicture(opened, opened.count - 1);
  const part = loomPicture(opened, opened.count - 1, {}, { rows: 2 });
  assert.ok(complete.height > part.height && complete.width === part.width);
  const rows = having(flat(part.nodes), "data-loom-row");
  assert.deepEqual(
    rows.map((row) => row.attrs["data-loom-row"]),
    ["3", "4"],
  );
  assert.ok(loomPicture(opened, 0, {}, { tallest: 300 }).height <= 300);
});

test("what a row is still to do stands back until its step", () => {
  const mark = (/** @type {number} */ i) => having(drawn(backward(), i).body, "data-loom-handle", "t5")[0].attrs.class;
  assert.match(mark(4), /coming/);
  assert.doesNotMatch(mark(7), /coming/);
  assert.doesNotMatch(mark(1), /coming/);
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
  const column = /** @type {any} */ (plan.columns.get("s1"));
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

/** One statement that makes many tensors, each with memory and a node of its own. @param {number} count */
function manyAtOnce(count) {
  const set = /** @type {Record<string, any>} */ ({
    f1: { kind: "frame", name: "<module>", line: 1, state: "running" },
  });
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
  assert.ok(few.plan.columns.depth(0) > 1);
  for (let k = 0; k < 12; k++) assert.equal(having(few.body, "data-loom-handle", `t${k}`).length, 1);
  const many = drawn(manyAtOnce(200), 0, { room: 1040 });
  const shown = having(many.body, "data-loom-handle").length;
  assert.equal(shown + many.plan.rows[0].hidden.length, 200);
  assert.ok(many.plan.height < 2500, String(many.plan.height));
  assert.match(many.code.map((v) => v.text ?? "").join(" "), new RegExp(`and ${200 - shown} more: `));
});

test("nodes that share a line are one dot; the one that backward visits is named", () => {
  const set = /** @type {Record<string, any>} */ ({
    f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: {} },
  });
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
  const plan = loomLayout(opened, { room: 1040 });
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
  assert.equal(shortPath("net.0.weight.grad", 14), "…0.weight.grad");
  assert.equal(shortPath("net.0.weight.grad", 6), "…grad");
  assert.equal(shortPath("embedding", 6), "embed…");
  assert.equal(fitNames("a b c", 5), "a b c");
  assert.equal(fitNames("net.weight opt.param_groups[0]", 13), "net.weight +1");
});
