/**
 * The graph pane: what backward does is in sight, nothing lies over anything, nothing moves at rest, edges end at their
 * nodes.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  buildGraphModel,
  layoutGraphPane,
  graphHeightForFixedPlaces,
  graphPaneWidth,
  nodeLabelsByUid,
  type GraphPane,
} from "../../../layout/graph/graph_pane.ts";
import { DEFAULT_PANE_OPTIONS, type Rect } from "../../../layout/pane.ts";
import { openTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace, vars } from "../../entities.ts";
import { faults, places, type Place } from "./graph_places.ts";
import { ROOMS, chain, draw, having } from "./graph_drawing.ts";
import { foldedInGraph } from "../folded.ts";

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({ name, recorded: JSON.parse(readFileSync(`tests/golden/${name}`, "utf8")) }));

test("nodes of one statement stand in the order in which they were made, however the trace lists them", () => {
  const made = {
    f1: frame({ a: ref("t2"), b: ref("t3") }),
    t2: tensor({ requires_grad: true, leaf: false, grad_fn: "n9" }),
    t3: tensor({ requires_grad: true, leaf: false, grad_fn: "n10" }),
    n10: node("CosBackward0", []),
    n9: node("SinBackward0", []),
  };
  const joined = {
    n12: node("AddBackward0", [
      ["n9", 0],
      ["n10", 0],
    ]),
  };
  const [graph] = buildGraphModel(openTrace(trace("", [{ set: made }, { set: joined }]))).components;
  assert.deepEqual(
    graph.order.map(({ uid }) => uid),
    ["n9", "n10", "n12"],
  );
});

test("a circle of nodes, which no program makes but anybody can write, is drawn", () => {
  const set = {
    f1: frame({ y: ref("t2") }),
    t2: tensor({ requires_grad: true, leaf: false, grad_fn: "n3" }),
    n1: node("ViewBackward0", [["n2", 0]]),
    n2: node("ViewBackward0", [["n1", 0]]),
    n3: node("SinBackward0", [["n3", 0]]),
  };
  const { pane } = draw(openTrace(trace("", [{ set }])), 0, ROOMS[0]);
  assert.ok(pane);
});

for (const { name, recorded } of goldens)
  test(`${name}: nothing lies over anything, every node is drawn, the visit with its gradients comes into sight first`, () => {
    const opened = openTrace(recorded);
    const model = buildGraphModel(opened);
    for (const room of ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const pane = layoutGraphPane(model, i, room, DEFAULT_PANE_OPTIONS);
        const at = `step ${i} in ${room.w} × ${room.h}`;
        assert.deepEqual(faults(pane), [], at);
        const { entities, step } = opened.at(i);
        for (const [uid, entity] of entities)
          if (entity.kind === "node") assert.ok(pane.anchors.has(uid) || foldedInGraph(pane).has(uid), `${uid}, ${at}`);
        if (!step?.visit) continue;
        const box = pane.anchors.get(step.visit.node) as Rect;
        assert.equal(pane.focus[0], box, at);
        const next = (entities.get(step.visit.node) as any).next;
        const sent = (step.visit.grad_inputs ?? []).flatMap((g, k) =>
          g && next[k] ? [`${step.visit?.node}:${k}`] : [],
        );
        const shown = pane.rows.flatMap((row) => row.grads.filter((place) => place.now).map((place) => place.key));
        for (const key of sent) assert.ok(shown.includes(key), `${key}, ${at}`);
      }
  });

for (const { name, recorded } of goldens)
  test(`${name}: at rest a node never moves, and in a small pane the order never changes`, () => {
    const opened = openTrace(recorded);
    const model = buildGraphModel(opened);
    const still = { w: 400, h: graphHeightForFixedPlaces(model, 400) };
    const before = new Map<string, string>();
    const ranks = new Map<string, number>();
    for (let i = 0; i < opened.count; i++) {
      const pane = layoutGraphPane(model, i, still, DEFAULT_PANE_OPTIONS);
      assert.ok(pane.height <= still.h, `step ${i}`);
      for (const row of pane.rows) {
        const now = `${row.x} ${row.y} ${row.w} ${row.docks.map((dock) => `${dock.x} ${dock.y} ${dock.w}`)}`;
        assert.equal(now, before.get(row.uid) ?? now, `${row.uid} at step ${i}`);
        before.set(row.uid, now);
      }
      const order = layoutGraphPane(model, i, { w: 300, h: 150 }, DEFAULT_PANE_OPTIONS).rows.map((row) => row.uid);
      order.forEach((uid, k) => {
        if (!ranks.has(uid)) ranks.set(uid, model.blocks.get(uid)?.line ?? 0);
        const above = model.blocks.get(order[k - 1]);
        if (above?.component === model.blocks.get(uid)?.component)
          assert.ok((ranks.get(order[k - 1]) ?? 0) < (ranks.get(uid) ?? 0), `step ${i}`);
      });
    }
  });

for (const { name, recorded } of goldens)
  test(`${name}: every edge that is drawn is one of the trace, and goes from its input's box to its reader's`, () => {
    const opened = openTrace(recorded);
    const model = buildGraphModel(opened);
    for (const room of ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const pane = layoutGraphPane(model, i, room, DEFAULT_PANE_OPTIONS);
        const boxes = places(pane);
        const entities = opened.state(i);
        for (const { key, from, to, d } of pane.edges) {
          const next = (entities.get(from) as any).next;
          assert.equal(next[Number(key.split(":")[1])]?.[0], to, `${key} at step ${i}`);
          const numbers = (d.match(/-?[\d.]+/g) ?? []).map(Number);
          const end = d.match(/([HV])([-\d.]+)$/) as RegExpMatchArray;
          for (const [uid, x, y] of [
            [to, numbers[0], numbers[1]],
            [from, end[1] === "H" ? Number(end[2]) : NaN, end[1] === "V" ? Number(end[2]) : NaN],
          ] as [string, number, number][])
            assert.ok(touches(boxes, pane, uid, x, y), `${key} at ${uid}, step ${i}`);
        }
      }
  });

/** One of `x` and `y` may be unknown. */
function touches(boxes: Place[], _pane: GraphPane, uid: string, x: number, y: number) {
  const own = boxes.filter(({ name }) => name === `node ${uid}` || name.startsWith(`leaf ${uid} `));
  return own.some(
    (box) =>
      (Number.isNaN(x) || (x >= box.x - 0.01 && x <= box.x + box.w + 0.01)) &&
      (Number.isNaN(y) || (y >= box.y - 0.01 && y <= box.y + box.h + 0.01)),
  );
}

test("a graph that is higher than its pane is open all the same, at the places that it has for the whole run", () => {
  const opened = chain(120);
  const room = { w: 360, h: 400, scrolls: true };
  const [before, after] = [60, 61].map((i) => draw(opened, i, room).pane);
  assert.ok(after.height > room.h);
  assert.equal([...after.anchors.keys()].filter((key) => /^n\d+$/.test(key)).length, 121);
  for (const row of after.rows) assert.equal(row.y, before.rows.find(({ uid }) => uid === row.uid)?.y);
});

test("nodes of one name are numbered as the program made them, and say so before the later ones are there", () => {
  const opened = openTrace(
    trace("", [
      { set: { n1: node("MulBackward0", []) } },
      { set: { n2: node("SinBackward0", [["n1", 0]]) } },
      { set: { n3: node("MulBackward0", [["n2", 0]]), n4: node("MulBackward0", []) } },
    ]),
  );
  const model = buildGraphModel(opened);
  assert.deepEqual(Object.fromEntries(nodeLabelsByUid(model)), { n1: "Mul 1", n2: "Sin", n3: "Mul 2", n4: "Mul" });
  assert.equal(layoutGraphPane(model, 0, ROOMS[0], DEFAULT_PANE_OPTIONS).rows[0].label, "Mul 1");
});

test("a graph recedes once backward is over and has let go of it, not before", () => {
  const { recorded } = goldens.find(({ name }) => name.startsWith("a_module_learns")) as any;
  const opened = openTrace(recorded);
  const seen = new Set();
  for (let i = 0; i < opened.count; i++) {
    const { body } = draw(opened, i, ROOMS[0]);
    const drawn = body.filter(({ attrs }) => /\b(graph-row|edge)\b/.test(attrs.class ?? ""));
    const past = drawn.filter(({ attrs }) => /\bpast\b/.test(attrs.class)).length;
    const running = Boolean(opened.trace.steps[i].visit);
    if (running) assert.equal(past, 0, `step ${i}`);
    if (past) seen.add(past === drawn.length ? "all" : "some");
  }
  assert.deepEqual([...seen], ["all"]);
});

test("a graph in which backward failed does not recede", () => {
  const { recorded } = goldens.find(({ name }) => name.startsWith("backward_twice")) as any;
  const opened = openTrace(recorded);
  const last = opened.count - 1;
  const { body } = draw(opened, last, ROOMS[0]);
  assert.equal(having(body, "data-node").filter(({ attrs }) => /\bfailed\b/.test(attrs.class)).length, 1);
  assert.ok(!body.some(({ attrs }) => /\bpast\b/.test(attrs.class ?? "")));
});

test("the graph's share of the stage grows with its rails, and is nothing without a graph", () => {
  assert.equal(graphPaneWidth(buildGraphModel(openTrace(trace("", [{ set: { f1: vars({}) } }]))), 1000), 0);
  assert.equal(graphPaneWidth(buildGraphModel(chain(3)), 1000), 360);
  assert.equal(graphPaneWidth(buildGraphModel(chain(3)), 700), 270);
});

test("the longest chain has the rail beside the nodes, and no line to it crosses another", () => {
  const set = { f1: frame({ x: ref("t1") }), s1: storage([1]), c1: counter(), t1: tensor({ requires_grad: true }) };
  const nodes = {
    n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
    n2: node("SinBackward0", [["n1", 0]]),
    n3: node("CosBackward0", [["n1", 0]]),
    n4: node("ExpBackward0", [["n3", 0]]),
    n5: node("MulBackward0", [
      ["n2", 0],
      ["n4", 0],
    ]),
  };
  const opened = openTrace(trace("", [{ set: { ...set, ...nodes } }]));
  const { rows, edges } = layoutGraphPane(buildGraphModel(opened), 0, ROOMS[0], DEFAULT_PANE_OPTIONS);
  const rails = new Map(rows.map((row) => [row.uid, row.rail]));
  const outer = Math.min(...rails.values());
  assert.deepEqual(
    rows.filter(({ rail }) => rail > outer).map(({ uid }) => uid),
    ["n3", "n4", "n5"],
  );
  assert.deepEqual(
    edges.filter(({ lane }) => lane).map(({ from, to }) => [from, to]),
    [["n5", "n2"]],
  );
});
