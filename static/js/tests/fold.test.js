/** Folds: what repeats becomes one card, every node is in one place, an opened fold shows its parts, nothing else moves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { folded, folds, frontier } from "../layout/fold.js";
import { foldTitle } from "../layout/fold_names.js";
import { lifetimes } from "../layout/lifetimes.js";
import { plan, toggleFold } from "../layout/plan.js";
import { scene } from "../marks/scene.js";
import { openTrace } from "../state.js";
import { trace } from "./entities.js";

/** @typedef {import("../svg.js").VNode} VNode */

/** @param {string} name @param {(string | null)[]} next @param {any} [rest] */
const node = (name, next, rest = {}) => ({
  kind: "node",
  name,
  next: next.map((uid) => uid && [uid, 0]),
  saved: {},
  attrs: {},
  ...rest,
});

/** Layers of Linear and ReLU, as torch records them, then what no layer is: born in one step, gone in another, visited in between.
 * @param {number} layers @param {number} [times] the same graph over and over, with the same leaves */
function deep(layers, times = 1) {
  /** @type {Record<string, any>} */
  const leaves = {};
  /** @type {any[]} */
  const steps = [];
  for (let k = 0; k < layers; k++) {
    leaves[`o${k + 2}`] = {
      kind: "object",
      type: "Linear",
      attrs: { weight: { ref: `t${2 * k + 1}` }, bias: { ref: `t${2 * k + 2}` } },
    };
    for (const i of [1, 2])
      leaves[`n${2 * k + i}`] = node("torch::autograd::AccumulateGrad", [], { variable: `t${2 * k + i}` });
  }
  leaves.o1 = {
    kind: "object",
    type: "Sequential",
    attrs: Object.fromEntries([...Array(layers).keys()].map((k) => [String(k), { ref: `o${k + 2}` }])),
  };
  steps.push({ set: { f1: { kind: "frame", name: "<module>", line: 1, state: "running", vars: {} }, ...leaves } });
  let uid = 2 * layers;
  for (let turn = 0; turn < times; turn++) {
    /** @type {Record<string, any>} */
    const set = {};
    /** @type {string | null} */
    let last = null;
    const add = (/** @type {any} */ made) => {
      last = `n${++uid}`;
      set[last] = made;
      return last;
    };
    for (let k = 0; k < layers; k++) {
      const before = last;
      const turned = add(node("TBackward0", [`n${2 * k + 1}`]));
      add(node("AddmmBackward0", [`n${2 * k + 2}`, before, turned]));
      add(node("ReluBackward0", [last]));
    }
    add(node("SumBackward0", [last]));
    const order = Object.keys(set).reverse();
    steps.push({ set });
    for (const uid of order)
      steps.push({ kind: "visit", visit: { backward: `b${turn + 1}`, node: uid, grad_outputs: [], grad_inputs: [] } });
    steps.push({ gone: order });
  }
  return trace("", steps);
}

/** @param {VNode[]} list @param {string} name */
const having = (list, name) => list.filter((v) => name in v.attrs);
const all = (/** @type {import("../layout/fold.js").Part[]} */ parts) =>
  parts.flatMap((part) => (typeof part === "string" ? [part] : part.members));

test("layers that come again are one fold, named after their module, and what follows stands by itself", () => {
  const [parts] = folds(lifetimes(openTrace(deep(8))));
  assert.deepEqual(
    parts.map((part) => (typeof part === "string" ? part : foldTitle(part))),
    ["Linear · Relu × 8", "n41"],
  );
});

test("every node is in exactly one part, at every depth", () => {
  const lives = lifetimes(openTrace(deep(30)));
  const [parts] = folds(lives);
  assert.deepEqual(all(parts).sort(), [...lives.nodes.keys()].sort());
  const check = (/** @type {import("../layout/fold.js").Fold} */ fold) => {
    assert.deepEqual(all(fold.parts).sort(), [...fold.members].sort());
    assert.ok(fold.parts.length <= 8);
    for (const part of fold.parts) if (typeof part !== "string") check(part);
  };
  for (const part of parts) if (typeof part !== "string") check(part);
});

test("folds make no circle: every edge still leads to what was born no later", () => {
  const lives = lifetimes(openTrace(deep(20)));
  const graphs = folds(lives, 2);
  for (const open of [() => false, (/** @type {any} */ fold) => fold.members.length > 20, () => true]) {
    const { nodes } = folded(lives, frontier(graphs, open));
    const seen = new Set();
    const busy = new Set();
    const visit = (/** @type {string} */ uid) => {
      assert.ok(!busy.has(uid), `${uid} leads to itself`);
      if (seen.has(uid)) return;
      busy.add(uid);
      for (const edge of nodes.get(uid)?.next ?? []) if (edge) visit(edge[0]);
      busy.delete(uid);
      seen.add(uid);
    };
    for (const uid of nodes.keys()) visit(uid);
  }
});

test("what has room is not folded, what has not is folded until it has", () => {
  const opened = openTrace(deep(12));
  assert.equal(plan(opened).open, null);
  assert.equal(plan(opened, { room: 100000 }).graph.cards.length, 0);
  const p = plan(opened, { room: 1200 });
  assert.ok(p.graph.cards.length > 0);
  assert.ok(p.memory.width + p.graph.width <= 1200, `${p.memory.width} + ${p.graph.width}`);
});

test("iterations with the same leaves are folded alike, and opened together", () => {
  const opened = openTrace(deep(12, 3));
  const p = plan(opened, { room: 1200 });
  assert.deepEqual(new Set(p.graph.cards.map((fold) => fold.key)).size, p.graph.cards.length / 3);
  const [fold] = p.graph.cards;
  const more = toggleFold(p, fold.key);
  assert.equal(more.graph.rims.length % 3, 0);
  assert.ok(more.graph.cards.length > p.graph.cards.length);
  assert.deepEqual(toggleFold(more, fold.key).graph, p.graph);
});

test("at every step a card stands for the living nodes of its fold, and says which one runs", () => {
  const opened = openTrace(deep(12, 2));
  const p = plan(opened, { room: 1200 });
  const before = JSON.stringify([...p.graph.boxes.values()]);
  for (let i = 0; i < opened.count; i++) {
    const { entities, step } = opened.at(i);
    const { graph } = scene(p, opened, i);
    const shown = [
      ...having(graph, "data-node").map((v) => v.attrs["data-node"]),
      ...having(graph, "data-members").flatMap((v) => v.attrs["data-members"].split(" ")),
    ];
    const alive = [...entities].filter(([, e]) => e.kind === "node").map(([uid]) => uid);
    if (alive.length > 24) assert.deepEqual(shown.sort(), alive.sort(), `step ${i}`);
    if (!step.visit) continue;
    const running = graph.filter((v) => /\brunning\b/.test(v.attrs.class ?? ""));
    assert.equal(running.length, 1, `step ${i}`);
    assert.equal(running[0].attrs["data-running"] ?? running[0].attrs["data-node"], step.visit.node);
  }
  assert.equal(JSON.stringify([...p.graph.boxes.values()]), before);
});

test("a broken slot is told by the fold that it is in", () => {
  const recorded = deep(12);
  const broken = { storage: "s1", dtype: "float32", expected: 0, state: "stale" };
  recorded.steps.splice(2, 0, {
    set: { s1: { kind: "storage", nbytes: 4, cells: { float32: [1] } }, n27: { saved: { result: broken } } },
    gone: [],
    log: [],
  });
  const { graph } = scene(plan(openTrace(recorded), { room: 1200 }), openTrace(recorded), 2);
  const card = having(graph, "data-members").filter((v) => /\bbroken\b/.test(v.attrs.class ?? ""));
  assert.equal(card.length, 1);
  assert.match(card[0].attrs["aria-label"], /result {2}s1 @ v0 stale/);
});

test("a long chain with nothing in common is folded by neighbours", () => {
  const set = Object.fromEntries(
    [...Array(200).keys()].map((k) => [`n${k + 1}`, node(`Op${k * k}Backward0`, k ? [`n${k}`] : [null])]),
  );
  const p = plan(openTrace(trace("", [{ set }])), { room: 1200 });
  assert.ok(p.graph.boxes.size <= 6, String(p.graph.boxes.size));
});
