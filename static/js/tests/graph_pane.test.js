/** The graph pane: what backward does is in sight, nothing lies over anything, nothing moves at rest, edges end at their nodes. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { graphModel, graphPane, graphStill, graphWidth, nodeLabels } from "../layout/graph_pane.js";
import { PLAIN } from "../layout/pane.js";
import { WHOLE_BAND } from "../layout/view.js";
import { graphMarks } from "../marks/graph_marks.js";
import { LABELS } from "../marks/labels.js";
import { stepFacts } from "../marks/step_facts.js";
import { openTrace } from "../state.js";
import { counter, frame, node, ref, storage, tensor, trace, vars } from "./entities.js";
import { faults, places } from "./graph_places.js";

/** @typedef {import("../svg.js").VNode} VNode */

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({ name, recorded: JSON.parse(readFileSync(`tests/golden/${name}`, "utf8")) }));
const ROOMS = [
  { w: 410, h: 660 },
  { w: 358, h: 300 },
  { w: 270, h: 220 },
];

/** @param {number[]} cells */
const grad = (cells) => ({ shape: [cells.length], dtype: "float32", layout: "strided", cells });

/** @param {string} uid @param {any[]} ins @param {any} [rest] */
const visit = (uid, ins, rest = {}) => ({
  kind: "visit",
  visit: { backward: "b1", node: uid, grad_outputs: [grad([1])], grad_inputs: ins, ...rest },
});

/** x -> `length` nodes one after the other, then a backward through all of them. @param {number} length */
function chain(length) {
  /** @type {Record<string, any>} */
  const set = {
    f1: frame({ x: ref("t1"), y: ref("t2") }),
    s1: storage([1]),
    c1: counter(),
    t1: tensor({ requires_grad: true }),
    t2: tensor({ requires_grad: true, leaf: false, grad_fn: `n${length + 1}` }),
    n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
  };
  for (let k = 2; k <= length + 1; k++)
    set[`n${k}`] = node(k % 2 ? "MulBackward0" : "SinBackward0", [[`n${k - 1}`, 0]]);
  const visits = [...Array(length).keys()].map((k) => visit(`n${length + 1 - k}`, [grad([k])]));
  return openTrace(trace("", [{ set }, ...visits, visit("n1", [], { accumulates: "t1" })]));
}

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
  const [graph] = graphModel(openTrace(trace("", [{ set: made }, { set: joined }]))).components;
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

/** @param {import("../state.js").OpenTrace} opened @param {number} i @param {import("../layout/pane.js").Room} room
 * @param {import("../layout/pane.js").PaneOptions} [options] */
function draw(opened, i, room, options = PLAIN) {
  const pane = graphPane(graphModel(opened), i, room, options);
  return { pane, ...graphMarks(stepFacts(opened, opened.at(i), LABELS), pane, WHOLE_BAND) };
}

/** @param {VNode[]} list @returns {VNode[]} */
const flat = (list) => list.flatMap((mark) => [mark, ...flat(mark.children)]);
/** @param {VNode[]} list @param {string} name */
const having = (list, name) => flat(list).filter((mark) => name in mark.attrs);

for (const { name, recorded } of goldens)
  test(`${name}: nothing lies over anything, every node is drawn or in a fold, the visit and its gradients are in sight`, () => {
    const opened = openTrace(recorded);
    const model = graphModel(opened);
    for (const room of ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const pane = graphPane(model, i, room, PLAIN);
        const at = `step ${i} in ${room.w} × ${room.h}`;
        assert.deepEqual(faults(pane), [], at);
        const { entities, step } = opened.at(i);
        for (const [uid, entity] of entities)
          if (entity.kind === "node") assert.ok(pane.anchors.has(uid) || pane.folds.has(uid), `${uid}, ${at}`);
        if (!step?.visit) continue;
        const box = /** @type {import("../layout/pane.js").Rect} */ (pane.anchors.get(step.visit.node));
        assert.ok(box.y + box.h <= room.h, at);
        const next = /** @type {any} */ (entities.get(step.visit.node)).next;
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
    const model = graphModel(opened);
    const still = { w: 400, h: graphStill(model, 400) };
    /** @type {Map<string, string>} */
    const before = new Map();
    /** @type {Map<string, number>} */
    const ranks = new Map();
    for (let i = 0; i < opened.count; i++) {
      const pane = graphPane(model, i, still, PLAIN);
      assert.ok(pane.height <= still.h, `step ${i}`);
      for (const row of pane.rows) {
        const now = `${row.x} ${row.y} ${row.w} ${row.docks.map((dock) => `${dock.x} ${dock.y} ${dock.w}`)}`;
        assert.equal(now, before.get(row.uid) ?? now, `${row.uid} at step ${i}`);
        before.set(row.uid, now);
      }
      const order = graphPane(model, i, { w: 300, h: 150 }, PLAIN).rows.map((row) => row.uid);
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
    const model = graphModel(opened);
    for (const room of ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const pane = graphPane(model, i, room, PLAIN);
        const boxes = places(pane);
        const entities = opened.state(i);
        for (const { key, from, to, d } of pane.edges) {
          const next = /** @type {any} */ (entities.get(from)).next;
          assert.equal(next[Number(key.split(":")[1])]?.[0], to, `${key} at step ${i}`);
          const numbers = (d.match(/-?[\d.]+/g) ?? []).map(Number);
          const end = /** @type {RegExpMatchArray} */ (d.match(/([HV])([-\d.]+)$/));
          for (const [uid, x, y] of /** @type {[string, number, number][]} */ ([
            [to, numbers[0], numbers[1]],
            [from, end[1] === "H" ? Number(end[2]) : NaN, end[1] === "V" ? Number(end[2]) : NaN],
          ]))
            assert.ok(touches(boxes, pane, uid, x, y), `${key} at ${uid}, step ${i}`);
        }
      }
  });

/** @param {import("./graph_places.js").Place[]} boxes @param {import("../layout/graph_pane.js").GraphPane} pane
 * @param {string} uid @param {number} x @param {number} y one of them may be unknown */
function touches(boxes, pane, uid, x, y) {
  const own = boxes.filter(
    ({ name }) => name === `node ${uid}` || name.startsWith(`leaf ${uid} `) || name === `fold ${pane.folds.get(uid)}`,
  );
  return own.some(
    (box) =>
      (Number.isNaN(x) || (x >= box.x - 0.01 && x <= box.x + box.w + 0.01)) &&
      (Number.isNaN(y) || (y >= box.y - 0.01 && y <= box.y + box.h + 0.01)),
  );
}

test("a long chain folds around the visit; a fold says how many nodes it stands for, and opens", () => {
  const opened = chain(120);
  const room = { w: 360, h: 400 };
  const { pane, body } = draw(opened, 60, room);
  assert.ok(pane.height <= room.h);
  const closed = having(body, "data-fold");
  const members = closed.flatMap((mark) => mark.attrs["data-members"].split(" "));
  const drawn = [...pane.anchors.keys()].filter((key) => /^n\d+$/.test(key));
  assert.equal(new Set([...members, ...drawn]).size, 121);
  assert.equal(members.length + drawn.length, 121);
  for (const mark of closed) {
    assert.equal(mark.attrs["aria-expanded"], "false");
    const [, nodes, leaves] = /** @type {RegExpMatchArray} */ (
      mark.attrs["aria-label"].match(/^(\d+) nodes?(?:, (\d+) lea)?/)
    );
    assert.equal(Number(nodes) + Number(leaves ?? 0), mark.attrs["data-members"].split(" ").length);
  }
  const open = draw(opened, 60, room, { ...PLAIN, toggled: new Set([closed[0].attrs["data-fold"]]) });
  assert.ok(open.pane.height > room.h);
  for (const uid of closed[0].attrs["data-members"].split(" ")) assert.ok(open.pane.anchors.has(uid), uid);
  assert.equal(having(open.body, "data-fold")[0].attrs["aria-expanded"], "true");
});

test("nodes of one name are numbered as the program made them, and say so before the later ones are there", () => {
  const opened = openTrace(
    trace("", [
      { set: { n1: node("MulBackward0", []) } },
      { set: { n2: node("SinBackward0", [["n1", 0]]) } },
      { set: { n3: node("MulBackward0", [["n2", 0]]), n4: node("MulBackward0", []) } },
    ]),
  );
  const model = graphModel(opened);
  assert.deepEqual(Object.fromEntries(nodeLabels(model)), { n1: "Mul ₁", n2: "Sin", n3: "Mul ₂", n4: "Mul" });
  assert.equal(graphPane(model, 0, ROOMS[0], PLAIN).rows[0].label, "Mul ₁");
});

test("gradients that reach one output add up, those of different outputs do not", () => {
  const make = (/** @type {number} */ nr) =>
    openTrace(
      trace("", [
        {
          set: {
            n1: node("UnbindBackward0", []),
            n2: node("SinBackward0", [["n1", 0]]),
            n3: node("CosBackward0", [["n1", nr]]),
            n4: node("AddBackward0", [
              ["n2", 0],
              ["n3", 0],
            ]),
          },
        },
        visit("n4", [grad([1]), grad([1])]),
        visit("n2", [grad([2])]),
        visit("n3", [grad([3])]),
      ]),
    );
  const meets = (/** @type {number} */ nr) =>
    flat(draw(make(nr), 3, ROOMS[0]).body).filter((mark) => mark.attrs.class === "meet");
  assert.equal(meets(0).length, 1);
  assert.equal(meets(1).length, 0);
});

test("a leaf that a node reads twice has two edges, which meet when gradients came along both", () => {
  const leaf = node("torch::autograd::AccumulateGrad", [], { variable: "t1" });
  const opened = openTrace(
    trace("", [
      {
        set: {
          ...{
            f1: frame({ x: ref("t1") }),
            s1: storage([3]),
            c1: counter(),
            t1: tensor({ requires_grad: true }),
            n1: leaf,
          },
          n2: node("MulBackward0", [
            ["n1", 0],
            ["n1", 0],
          ]),
        },
      },
      visit("n2", [grad([3]), grad([3])]),
      visit("n1", [], { accumulates: "t1" }),
    ]),
  );
  const { pane, body } = draw(opened, 2, ROOMS[0]);
  assert.deepEqual(
    pane.edges.map((edge) => edge.key),
    ["n2:0", "n2:1"],
  );
  assert.notEqual(pane.edges[0].d, pane.edges[1].d);
  assert.equal(flat(body).filter((mark) => mark.attrs.class === "meet").length, 1);
  assert.deepEqual(
    having(body, "data-node").map((mark) => mark.attrs["data-node"]),
    ["n1", "n2"],
  );
});

test("a shared leaf stands for itself once, at the reader that the visit is about", () => {
  const leaf = node("torch::autograd::AccumulateGrad", [], { variable: "t1" });
  const opened = openTrace(
    trace("", [
      {
        set: {
          ...{
            f1: frame({ w: ref("t1") }),
            s1: storage([3]),
            c1: counter(),
            t1: tensor({ requires_grad: true }),
            n1: leaf,
          },
          n2: node("SinBackward0", [["n1", 0]]),
          n3: node("MulBackward0", [
            ["n2", 0],
            ["n1", 0],
          ]),
        },
      },
      visit("n3", [grad([3]), grad([3])]),
      visit("n2", [grad([3])]),
    ]),
  );
  const homes = [0, 1, 2].map((i) =>
    graphPane(graphModel(opened), i, ROOMS[0], PLAIN).rows.flatMap((row) =>
      row.docks.flatMap((dock) => (dock.again ? [] : [row.uid])),
    ),
  );
  assert.deepEqual(homes, [["n2"], ["n3"], ["n2"]]);
});

test("a leaf that two nodes read is called the same beside both, however little room one of them has", () => {
  const opened = openTrace(
    trace("", [
      {
        set: {
          f1: frame({ model: ref("o1") }),
          o1: { kind: "object", type: "Tied", attrs: { embedding: ref("o2") } },
          o2: { kind: "object", type: "Embedding", attrs: { weight: ref("t1") } },
          s1: storage([3]),
          c1: counter(),
          t1: tensor({ requires_grad: true }),
          n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
          n2: node("TBackward0", [["n1", 0]]),
          n3: node("SinBackward0", [["n1", 0]]),
          n4: node("AddmmBackward0", [
            ["n3", 0],
            ["n2", 0],
          ]),
        },
      },
      visit("n4", [grad([3]), grad([3])]),
    ]),
  );
  const shortened = [300, 340, 380, 420].filter((w) => {
    const pane = graphPane(graphModel(opened), 1, { w, h: 660 }, PLAIN);
    const { body } = graphMarks(stepFacts(opened, opened.at(1), LABELS), pane, WHOLE_BAND);
    const leaves = flat(body).filter(({ attrs }) => attrs["data-node"] === "n1" || attrs["data-again"] === "n1");
    const texts = leaves.map((leaf) =>
      flat([leaf])
        .find((mark) => mark.attrs.class === "node-name")
        ?.text?.replace("+=", "+"),
    );
    assert.equal(texts.length, 2);
    assert.equal(texts[0], texts[1]);
    return texts[0] !== "+ model.embedding.weight";
  });
  assert.ok(shortened.length > 0);
});

test("what a node saved is drawn with its state: whole, broken with the version of now, let go", () => {
  const slot = { storage: "s1", dtype: "float32", offset: 0, shape: [3], stride: [1], counter: "c1", expected: 0 };
  const saved = (/** @type {string} */ state) => ({ saved: { self: { ...slot, state } } });
  const opened = openTrace(
    trace("", [
      {
        set: {
          ...{ f1: frame({ y: ref("t1") }), s1: storage([3]), c1: counter(), t1: tensor() },
          n1: node("ExpBackward0", [], saved("ok")),
        },
      },
      { set: { c1: counter(1), n1: saved("stale") } },
      { set: { n1: { saved: { self: { dtype: "float32", expected: 0, state: "freed" } }, released: true } } },
    ]),
  );
  const said = [0, 1, 2].map((i) => {
    const [mark] = having(draw(opened, i, ROOMS[0]).body, "data-slot");
    return [
      mark.attrs["data-slot"],
      mark.attrs["data-saved-state"],
      mark.children.find((child) => child.tag === "text")?.text,
    ];
  });
  assert.deepEqual(said, [
    ["n1:self", "ok", "self y@v0"],
    ["n1:self", "stale", "self y@v0, now v1"],
    ["n1:self", "freed", "self"],
  ]);
});

test("where there is no room, a broken slot is in words and the others are dots with a title", () => {
  const recorded = chain(40).trace;
  const slot = { storage: "s1", dtype: "float32", offset: 0, shape: [1], stride: [1], counter: "c1", expected: 0 };
  /** @type {any} */ for (const [uid, state] of [
    ["n10", "stale"],
    ["n11", "ok"],
    ["n12", "ok"],
  ])
    recorded.steps[0].set[uid].saved = { self: { ...slot, state } };
  const { body } = draw(openTrace(recorded), 0, { w: 360, h: 1000 });
  const slots = having(body, "data-slot").map((mark) => ({
    key: mark.attrs["data-slot"],
    text: mark.children.find((child) => child.tag === "text")?.text,
    title: mark.title,
  }));
  assert.deepEqual(
    slots.map(({ key, text }) => [key, text?.split(",")[0]]),
    [
      ["n10:self", "self x@v0"],
      ["n11:self", undefined],
      ["n12:self", undefined],
    ],
  );
  assert.equal(slots[1].title, "self x@v0");
});

/** A loop of which each turn makes a graph; the one before lives on until it is there. @param {number} turns */
function loop(turns) {
  /** @type {any[]} */
  const steps = [];
  for (let k = 0; k < turns; k++) {
    const last = 3 * k;
    steps.push({
      set: {
        [`n${last + 1}`]: node("SinBackward0", []),
        [`n${last + 2}`]: node("MulBackward0", [[`n${last + 1}`, 0]]),
      },
    });
    steps.push({
      set: { [`n${last + 3}`]: node("SumBackward0", [[`n${last + 2}`, 0]]) },
      gone: k ? [`n${last - 2}`, `n${last - 1}`, `n${last}`] : [],
    });
    steps.push({
      ...visit(`n${last + 3}`, [grad([1])]),
      visit: { ...visit(`n${last + 3}`, [grad([1])]).visit, backward: `b${k + 1}` },
    });
  }
  return openTrace(trace("", steps));
}

test("a loop's graphs take turns at two places at rest, and stand in the order of the program where there is no room", () => {
  const opened = loop(4);
  const model = graphModel(opened);
  const tops = new Map();
  for (let i = 0; i < opened.count; i++)
    for (const row of graphPane(model, i, { w: 400, h: graphStill(model, 400) }, PLAIN).rows) {
      if (row.block.line === 0) tops.set(row.block.component.key, row.y);
      const later = graphPane(model, i, { w: 400, h: 90 }, PLAIN).rows.map(({ uid }) => Number(uid.slice(1)));
      assert.deepEqual(
        later,
        [...later].sort((a, b) => a - b),
        `step ${i}`,
      );
    }
  const [a, b, c, d] = tops.values();
  assert.ok(a < b);
  assert.deepEqual([c, d], [a, b]);
  const titles = graphPane(model, 3, { w: 400, h: Infinity }, PLAIN).titles;
  assert.deepEqual(
    titles.map(({ backward }) => backward),
    ["done", ""],
  );
});

test("two graphs that fold beside each other are two folds, and no node is lost", () => {
  const opened = loop(2);
  const model = graphModel(opened);
  const pane = graphPane(model, 3, { w: 400, h: 60 }, PLAIN);
  for (const uid of opened.state(3).keys()) assert.ok(pane.anchors.has(uid) || pane.folds.has(uid), uid);
  for (const fold of pane.foldLines)
    assert.equal(new Set(fold.uids.map((uid) => model.blocks.get(uid)?.component)).size, 1);
});

test("what waits for gradients, has them, or failed says so by its turn", () => {
  const opened = chain(3);
  const steps = /** @type {any[]} */ (opened.trace.steps);
  steps[2].visit.failed = true;
  const states = [0, 1, 2].map((i) =>
    having(draw(opened, i, ROOMS[0]).body, "data-node").map((mark) => `${mark.attrs["data-node"]} ${mark.attrs.class}`),
  );
  assert.deepEqual(states[0], ["n1 node accumulate fresh", "n2 node fresh", "n3 node fresh", "n4 node fresh"]);
  assert.deepEqual(states[1], ["n1 node accumulate waiting", "n2 node waiting", "n3 node waiting", "n4 node running"]);
  assert.deepEqual(states[2], ["n1 node accumulate waiting", "n2 node waiting", "n3 node failed", "n4 node done"]);
});

test("a graph recedes once backward is over and has let go of it, not before", () => {
  const { recorded } = /** @type {any} */ (goldens.find(({ name }) => name.startsWith("a_module_learns")));
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
  const { recorded } = /** @type {any} */ (goldens.find(({ name }) => name.startsWith("backward_twice")));
  const opened = openTrace(recorded);
  const last = opened.count - 1;
  const { body } = draw(opened, last, ROOMS[0]);
  assert.equal(having(body, "data-node").filter(({ attrs }) => /\bfailed\b/.test(attrs.class)).length, 1);
  assert.ok(!body.some(({ attrs }) => /\bpast\b/.test(attrs.class ?? "")));
});

test("leaves that no node reads wait in a line below, and come out of it when touched or opened", () => {
  const leaf = (/** @type {string} */ of) => node("torch::autograd::AccumulateGrad", [], { variable: of });
  const made = { s1: storage([1]), c1: counter(), t1: tensor(), t2: tensor() };
  const opened = openTrace(
    trace("", [{ set: { f1: frame({ a: ref("t1"), b: ref("t2") }), ...made, n1: leaf("t1"), n2: leaf("t2") } }, {}]),
  );
  assert.equal(draw(opened, 0, ROOMS[0]).pane.idle.leaves.length, 2);
  const later = draw(opened, 1, ROOMS[0]);
  assert.deepEqual(
    [...later.pane.folds],
    [
      ["n1", "graph idle"],
      ["n2", "graph idle"],
    ],
  );
  assert.match(
    flat(later.body)
      .map((mark) => mark.text)
      .join("\n"),
    /2 waiting for the next graph: a, b/,
  );
  const open = draw(opened, 1, ROOMS[0], { ...PLAIN, toggled: new Set(["graph idle"]) });
  assert.equal(having(open.body, "data-node").length, 2);
});

test("the graph's share of the stage grows with its rails, and is nothing without a graph", () => {
  assert.equal(graphWidth(graphModel(openTrace(trace("", [{ set: { f1: vars({}) } }]))), 1000), 0);
  assert.equal(graphWidth(graphModel(chain(3)), 1000), 385);
  assert.equal(graphWidth(graphModel(chain(3)), 700), 308);
});
