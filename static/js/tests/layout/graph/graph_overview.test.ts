/** The graph of a long run: a map whose places never change, and beside it all that a step touched. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { hasGraphFocus } from "../../../layout/graph/graph_focus.ts";
import { buildGraphModel, layoutGraphPane } from "../../../layout/graph/graph_pane.ts";
import { GraphStep } from "../../../layout/graph/graph_step.ts";
import { MIN_LABELLED_PITCH, graphMapPlaces } from "../../../layout/graph/graph_map.ts";
import { DEFAULT_PANE_OPTIONS, type PaneRoom, type Rect } from "../../../layout/pane.ts";
import { WHOLE_BAND } from "../../../layout/view.ts";
import { graphMarks } from "../../../marks/graph/graph_marks.ts";
import { STAGE_LABELS } from "../../../marks/labels.ts";
import { collectStepFacts } from "../../../marks/step_facts.ts";
import { openTrace, type OpenTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace } from "../../entities.ts";
import { chain, flat, grad, having, visit } from "./graph_drawing.ts";
import type { GraphOverview } from "../../../layout/graph/graph_overview.ts";

const LIST_ROOMS: PaneRoom[] = [
  { w: 418, h: 690, overview: { w: 136, top: 88 } },
  { w: 362, h: 540, overview: { w: 124, top: 88 } },
];

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({
    name,
    opened: openTrace(JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))),
  }));

/** `count` losses of one parameter, all kept; then, if it is asked for, backward through each. */
function losses(count: number, eachBackward: boolean) {
  const steps: any[] = [
    {
      set: {
        f1: frame({ w: ref("t1") }),
        s1: storage([1]),
        c1: counter(),
        t1: tensor({ requires_grad: true }),
        n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
      },
    },
  ];
  for (let k = 0; k < count; k++) {
    const [product, sum] = [`n${2 + 2 * k}`, `n${3 + 2 * k}`];
    const made = {
      [product]: node("MulBackward0", [["n1", 0]]),
      [sum]: node("SumBackward0", [[product, 0]]),
      [`t${2 + k}`]: tensor({ requires_grad: true, leaf: false, grad_fn: sum }),
    };
    steps.push({ set: { ...made, f1: { vars: { loss: ref(`t${2 + k}`), [`l${k}`]: ref(`t${2 + k}`) } } } });
    if (!eachBackward) continue;
    const of = (uid: string, ins: any[], rest: any = {}) => ({
      kind: "visit",
      ...{ visit: { backward: `b${k}`, node: uid, grad_outputs: [grad([1])], grad_inputs: ins, ...rest } },
    });
    steps.push(of(sum, [grad([1])]), of(product, [grad([2])]), of("n1", [], { accumulates: "t1" }));
  }
  return openTrace(trace("", steps));
}

/** A net of `blocks` residual blocks, made in one step, and a backward through it. */
function residual(blocks: number) {
  const set: Record<string, any> = {
    ...{ f1: frame({ y: ref("t2") }), s1: storage([1]), c1: counter(), t1: tensor({ requires_grad: true }) },
    n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
    n2: node("SinBackward0", [["n1", 0]]),
  };
  let last = "n2";
  const visits: any[] = [];
  for (let k = 0; k < blocks; k++) {
    const [inner, sum] = [`n${3 + 2 * k}`, `n${4 + 2 * k}`];
    set[inner] = node("TanhBackward0", [[last, 0]]);
    set[sum] = node("AddBackward0", [
      [last, 0],
      [inner, 0],
    ]);
    visits.unshift(visit(sum, [grad([1]), grad([2])]), visit(inner, [grad([0.5])]));
    last = sum;
  }
  set.t2 = tensor({ requires_grad: true, leaf: false, grad_fn: last });
  return openTrace(trace("", [{ set }, ...visits, visit("n2", [grad([3])])]));
}

/** A state that goes from each of `count` steps to the next, detached every fourth. */
function recurrent(count: number) {
  const steps: any[] = [
    {
      set: {
        ...{ f1: frame({ w: ref("t1") }), s1: storage([1]), c1: counter(), t1: tensor({ requires_grad: true }) },
        n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
      },
    },
  ];
  for (let k = 0; k < count; k++) {
    const [product, next] = [`n${2 + 2 * k}`, `n${3 + 2 * k}`];
    const edges: [string, number][] =
      k % 4
        ? [
            ["n1", 0],
            [`n${1 + 2 * k}`, 0],
          ]
        : [["n1", 0]];
    const gone = k % 4 || !k ? [] : [2, 3, 4, 5, 6, 7, 8, 9].map((n) => `n${n + 2 * (k - 4)}`);
    const set = { [product]: node("MulBackward0", edges), [next]: node("TanhBackward0", [[product, 0]]) };
    steps.push({ set: { ...set, [`t${2 + k}`]: tensor({ requires_grad: true, leaf: false, grad_fn: next }) }, gone });
  }
  return openTrace(trace("", steps));
}

const made = [
  { name: "forty losses in a list", opened: losses(40, false) },
  { name: "forty losses, each with its backward", opened: losses(40, true) },
  { name: "a residual net", opened: residual(30) },
  { name: "a recurrent net", opened: recurrent(24) },
  { name: "a chain of three hundred", opened: chain(300) },
];

const overviewAt = (opened: OpenTrace, i: number, room: PaneRoom, options = DEFAULT_PANE_OPTIONS) =>
  layoutGraphPane(buildGraphModelOnce(opened), i, room, options).overview as GraphOverview;

const models = new Map<OpenTrace, ReturnType<typeof buildGraphModel>>();
function buildGraphModelOnce(opened: OpenTrace) {
  const model = models.get(opened) ?? buildGraphModel(opened);
  models.set(opened, model);
  return model;
}

for (const { name, opened } of [...goldens, ...made]) {
  test(`${name}: a dot never moves, and no two nodes of a step have one place`, () => {
    for (const room of LIST_ROOMS) {
      const before = new Map<string, string>();
      for (let i = 0; i < opened.count; i++) {
        const { map } = overviewAt(opened, i, room);
        const seen = new Set<string>();
        for (const { uid, kind, x, y, w, h } of map.dots) {
          const place = `${Math.round((x + w / 2) * 100)} ${Math.round((y + h / 2) * 100)}`;
          if (kind !== "leaf") assert.equal(place, before.get(uid) ?? place, `${uid} at step ${i}`);
          before.set(uid, place);
          assert.ok(!seen.has(place), `two at ${place}, step ${i}`);
          seen.add(place);
          const over = map.dots.find(
            (one) => one.x < x + w - 0.01 && x < one.x + one.w - 0.01 && one.y < y && y < one.y + one.h - 0.01,
          );
          assert.ok(!over, `${uid} lies over ${over?.uid}, step ${i}`);
          assert.ok(y >= 0 && y + h <= room.h && x >= map.left && x + w <= room.w, `${uid} at step ${i} sticks out`);
        }
      }
    }
  });

  test(`${name}: every node is in the focus, a dot, or counted, and what backward visits is in full with its gradients`, () => {
    for (const room of LIST_ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const overview = overviewAt(opened, i, room);
        const { entities, step } = opened.at(i);
        const inFocus = new Set(overview.focus.nodes.map(({ uid }) => uid));
        const touchedDots = new Set(overview.map.dots.filter(({ touched }) => touched).map(({ uid }) => uid));
        const at = `step ${i} in ${room.w} × ${room.h}`;
        for (const [uid, entity] of entities)
          if (entity.kind === "node") assert.ok(overview.anchors.has(uid) || overview.folds.has(uid), `${uid}, ${at}`);
        for (const uid of Object.keys(step?.set ?? {}))
          if (entities.get(uid)?.kind === "node")
            assert.ok(inFocus.has(uid) || touchedDots.has(uid) || overview.folds.has(uid), `${uid} is touched, ${at}`);
        if (!step?.visit) continue;
        assert.ok(inFocus.has(step.visit.node), `${step.visit.node}, ${at}`);
        const next = (entities.get(step.visit.node) as any).next;
        const shown = overview.focus.grads.filter(({ now }) => now).map(({ key }) => key);
        const drawn = overview.focus.edges.map(({ key }) => key);
        (step.visit.grad_inputs ?? []).forEach((sent, k) => {
          if (!sent || !next[k]) return;
          assert.ok(shown.includes(`${step.visit?.node}:${k}`), `gradient ${k}, ${at}`);
          assert.ok(drawn.includes(`${step.visit?.node}:${k}`), `edge ${k}, ${at}`);
          assert.ok(inFocus.has(next[k][0]), `${next[k][0]}, ${at}`);
        });
      }
  });

  test(`${name}: nothing in the focus lies over anything, and each edge of the trace is drawn once, box to box`, () => {
    for (const room of LIST_ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const overview = overviewAt(opened, i, room);
        assert.deepEqual(overlaps(overview, room), [], `step ${i} in ${room.w}`);
        const entities = opened.state(i);
        const keys = [...overview.focus.edges, ...overview.map.edges].filter(({ key }) => key).map(({ key }) => key);
        assert.equal(new Set(keys).size, keys.length, `step ${i}`);
        for (const { key, from, to } of [...overview.focus.edges, ...overview.map.edges])
          if (key) assert.equal((entities.get(from) as any).next[Number(key.split(":")[1])]?.[0], to, `${key}, ${i}`);
        for (const { key, from, to, d } of overview.focus.edges) {
          const [, x, top, bottom] = (d.match(/^M([-\d.]+) ([-\d.]+)V([-\d.]+)$/) ?? []).map(Number);
          if (!key) continue;
          const [reader, input] = [from, to].map((uid) => overview.anchors.get(uid) as Rect);
          assert.ok(x > reader.x && x < reader.x + reader.w && x > input.x && x < input.x + input.w, `${key}, ${i}`);
          assert.ok(Math.abs(top - input.y - input.h) < 0.01 && Math.abs(bottom - reader.y) < 0.01, `${key}, ${i}`);
        }
      }
  });
}

/** Pairs of things of the focus that lie over each other, and what isn't in its area. */
function overlaps({ focus, map }: GraphOverview, room: PaneRoom) {
  const all = [
    ...focus.nodes.map((place) => ({ name: `node ${place.uid}`, ...place })),
    ...focus.nodes.flatMap(({ uid, tag, slots }) => [
      ...(tag ? [{ name: `tag ${uid}`, ...tag }] : []),
      ...slots.map((slot) => ({ name: `slot ${slot.key}`, ...slot })),
    ]),
    ...focus.grads.map((place) => ({ name: `grad ${place.key}`, ...place })),
  ].sort((a, b) => a.y - b.y);
  const out: string[] = [];
  all.forEach((a, n) => {
    if (a.x < 0 || a.x + a.w > map.left || a.y < (room.overview?.top ?? 0) || a.y + a.h > room.h + 0.01)
      out.push(`${a.name} sticks out`);
    for (const b of all.slice(n + 1))
      if (a.x < b.x + b.w - 0.5 && b.x < a.x + a.w - 0.5 && a.y < b.y + b.h - 0.5 && b.y < a.y + a.h - 0.5)
        out.push(`${a.name} over ${b.name}`);
  });
  return out;
}

test("graphs whose backward is done give their places to the next, so that forty losses share those of one", () => {
  const [room] = LIST_ROOMS;
  const { pitch, lines } = graphMapPlaces(buildGraphModelOnce(made[1].opened), room.h);
  assert.ok(pitch >= MIN_LABELLED_PITCH);
  assert.equal(new Set(lines.values()).size, 2);
});

test("of many graphs that live at once, the one that a step made or visits has its label and is in the focus", () => {
  const opened = losses(120, false);
  const [room] = LIST_ROOMS;
  for (const i of [1, 60, 120]) {
    const { map, focus } = overviewAt(opened, i, room);
    const sum = `n${3 + 2 * (i - 1)}`;
    assert.ok(focus.nodes.some(({ uid }) => uid === sum));
    const dot = map.dots.find(({ uid }) => uid === sum || uid === `n${2 + 2 * (i - 1)}`);
    assert.ok(dot?.touched && map.dots.some(({ touched, label }) => touched && label), `step ${i}`);
  }
});

test("a sum says its parts, and says none where the parts aren't all of it", () => {
  const at = (sum: number) => {
    const set = {
      ...{ f1: frame({ x: ref("t1") }), s1: storage([1]), c1: counter(), t1: tensor({ requires_grad: true }) },
      n1: node("SinBackward0", []),
      n2: node("MulBackward0", [
        ["n1", 0],
        ["n1", 0],
      ]),
    };
    const end = { kind: "visit", visit: { backward: "b1", node: "n1", grad_outputs: [grad([sum])], grad_inputs: [] } };
    return overviewAt(openTrace(trace("", [{ set }, visit("n2", [grad([2]), grad([1.6])]), end])), 2, LIST_ROOMS[0]);
  };
  assert.deepEqual(
    at(3.6)
      .focus.texts.filter(({ label }) => !label)
      .map(({ text }) => text),
    ["2 + 1.6 = 3.6"],
  );
  assert.deepEqual(
    at(5).focus.texts.filter(({ label }) => !label),
    [],
  );
});

test("a leaf whose name means another tensor by now is called after it, in map, focus and the whole graph", () => {
  const made = {
    ...{ f1: frame({ w: ref("t1") }), s1: storage([1]), c1: counter(), t1: tensor({ requires_grad: true }) },
    n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
    n2: node("SinBackward0", [["n1", 0]]),
  };
  const rebound = { t2: tensor({ requires_grad: true }), f1: { vars: { w: ref("t2") } } };
  const opened = openTrace(trace("", [{ set: made }, { set: rebound }, visit("n2", [grad([1])])]));
  assert.deepEqual(
    overviewAt(opened, 2, LIST_ROOMS[0]).focus.nodes.map(({ label }) => label),
    ["old w.grad", "Sin"],
  );
  const { rows } = layoutGraphPane(buildGraphModelOnce(opened), 2, { w: 400, h: 600 }, DEFAULT_PANE_OPTIONS);
  assert.equal(rows[0].docks[0].label, "old w.grad");
});

test("two edges between the same nodes lie beside each other, each with its gradient", () => {
  const set = {
    n1: node("CloneBackward0", []),
    n2: node("MulBackward0", [
      ["n1", 0],
      ["n1", 0],
    ]),
  };
  const opened = openTrace(trace("", [{ set }, visit("n2", [grad([1]), grad([2])])]));
  const { focus } = overviewAt(opened, 1, LIST_ROOMS[0]);
  const lines = focus.edges.filter(({ key }) => key).map(({ d }) => d.split(" ")[0]);
  assert.equal(new Set(lines).size, 2);
  assert.deepEqual(
    focus.texts.map(({ label }) => label).filter((label) => label === "leftEdge" || label === "rightEdge"),
    ["leftEdge", "rightEdge"],
  );
});

test("a node in the focus says what it keeps under the program's name, torch's slot name stands in its title", () => {
  const slot = { storage: "s1", dtype: "float32", offset: 0, shape: [3], stride: [1], counter: "c1", expected: 0 };
  const set = {
    ...{ f1: frame({ a: ref("t1") }), s1: storage([3]), c1: counter(), t1: tensor() },
    n1: node("ExpBackward0", [], { saved: { self: { ...slot, tensor: "t1", state: "ok" } } }),
  };
  const opened = openTrace(
    trace("", [
      { set },
      { set: { c1: counter(1), n1: { saved: { self: { ...slot, tensor: "t1", state: "stale" } } } } },
    ]),
  );
  const said = [0, 1].map((i) => {
    const pane = layoutGraphPane(buildGraphModelOnce(opened), i, LIST_ROOMS[0], DEFAULT_PANE_OPTIONS);
    const { body } = graphMarks(collectStepFacts(opened, opened.at(i), STAGE_LABELS), pane, WHOLE_BAND);
    const [mark] = having(body, "data-slot");
    return [...flat([mark]).flatMap(({ tag, text }) => (tag === "text" ? [text] : [])), mark.title];
  });
  assert.deepEqual(said, [
    ["a", "self: a · kept at version 0"],
    ["a: kept version 0; now 1", "self: a: kept version 0; now 1"],
  ]);
});

test("every node is once a node of the picture, and can have the keyboard's focus", () => {
  for (const { opened } of made)
    for (const i of [0, Math.floor(opened.count / 2), opened.count - 1]) {
      const pane = layoutGraphPane(buildGraphModelOnce(opened), i, LIST_ROOMS[0], DEFAULT_PANE_OPTIONS);
      const { body } = graphMarks(collectStepFacts(opened, opened.at(i), STAGE_LABELS), pane, WHOLE_BAND);
      const nodes = having(body, "data-node").filter(({ attrs }) => attrs["data-node"]);
      assert.equal(new Set(nodes.map(({ attrs }) => attrs["data-node"])).size, nodes.length);
      for (const { attrs } of nodes)
        if (!/\b(accumulate|shaping)\b/.test(attrs.class)) assert.equal(attrs.tabindex, "0");
    }
});

test("whether a step has anything to show beside the map is known without a layout", () => {
  const { opened } = made[1];
  const has = (i: number) => hasGraphFocus(new GraphStep(buildGraphModelOnce(opened), i, DEFAULT_PANE_OPTIONS));
  for (let i = 0; i < opened.count; i++)
    assert.equal(has(i), overviewAt(opened, i, LIST_ROOMS[0]).focus.nodes.length > 0, `step ${i}`);
});
