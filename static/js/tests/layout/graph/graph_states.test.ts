/** What the graph pane says of a node: its saved slots, its turn, how graphs share the room. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildGraphModel, layoutGraphPane, graphHeightForFixedPlaces } from "../../../layout/graph/graph_pane.ts";
import { DEFAULT_PANE_OPTIONS } from "../../../layout/pane.ts";
import { openTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace } from "../../entities.ts";
import { ROOMS, grad, visit, chain, draw, having } from "./graph_drawing.ts";

test("what a node saved is drawn with its state: whole, broken with the version of now, let go", () => {
  const slot = { storage: "s1", dtype: "float32", offset: 0, shape: [3], stride: [1], counter: "c1", expected: 0 };
  const saved = (state: string) => ({ saved: { self: { ...slot, state } } });
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
    ["n1:self", "ok", "keeps y"],
    ["n1:self", "stale", "y: kept version 0; now 1"],
    ["n1:self", "freed", "y"],
  ]);
});

test("where there is no room, a broken slot is in words and the others are dots with a title", () => {
  const recorded = chain(40).trace;
  const slot = { storage: "s1", dtype: "float32", offset: 0, shape: [1], stride: [1], counter: "c1", expected: 0 };
  for (const [uid, state] of [
    ["n10", "stale"],
    ["n11", "ok"],
    ["n12", "ok"],
  ])
    recorded.steps[0].set[uid].saved = { self: { ...slot, state } };
  const { body } = draw(openTrace(recorded), 0, { w: 140, h: 1000 });
  const slots = having(body, "data-slot").map((mark) => ({
    key: mark.attrs["data-slot"],
    text: mark.children.find((child) => child.tag === "text")?.text,
    title: mark.title,
  }));
  assert.deepEqual(
    slots.map(({ key, text }) => [key, text !== undefined]),
    [
      ["n10:self", true],
      ["n11:self", false],
      ["n12:self", false],
    ],
  );
  assert.equal(slots[1].title, "self: x · kept at version 0");
});

/** A loop of which each turn makes a graph; the one before lives on until it is there. */
function loop(turns: number) {
  const steps: any[] = [];
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
  const model = buildGraphModel(opened);
  const tops = new Map();
  for (let i = 0; i < opened.count; i++)
    for (const row of layoutGraphPane(
      model,
      i,
      { w: 400, h: graphHeightForFixedPlaces(model, 400) },
      DEFAULT_PANE_OPTIONS,
    ).rows) {
      if (row.block.line === 0) tops.set(row.block.component.key, row.y);
      const later = layoutGraphPane(model, i, { w: 400, h: 90 }, DEFAULT_PANE_OPTIONS).rows.map(({ uid }) =>
        Number(uid.slice(1)),
      );
      assert.deepEqual(
        later,
        [...later].sort((a, b) => a - b),
        `step ${i}`,
      );
    }
  const [a, b, c, d] = tops.values();
  assert.ok(a < b);
  assert.deepEqual([c, d], [a, b]);
  const titles = layoutGraphPane(model, 3, { w: 400, h: Infinity }, DEFAULT_PANE_OPTIONS).titles;
  assert.deepEqual(
    titles.map(({ backward }) => backward),
    ["done", ""],
  );
});

test("what waits for gradients, has them, or failed says so by its turn", () => {
  const opened = chain(3);
  const steps = opened.trace.steps as any[];
  steps[2].visit.failed = true;
  const states = [0, 1, 2].map((i) =>
    having(draw(opened, i, ROOMS[0]).body, "data-node").map((mark) => `${mark.attrs["data-node"]} ${mark.attrs.class}`),
  );
  assert.deepEqual(states[0], ["n1 node accumulate fresh", "n2 node fresh", "n3 node fresh", "n4 node fresh"]);
  assert.deepEqual(states[1], ["n1 node accumulate waiting", "n2 node waiting", "n3 node waiting", "n4 node running"]);
  assert.deepEqual(states[2], ["n1 node accumulate waiting", "n2 node waiting", "n3 node failed", "n4 node done"]);
});
