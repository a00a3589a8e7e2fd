/** The state after a step is the same however one gets there, and follows the trace's own rules. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { collectNamesAndPaths } from "../../trace/names.ts";
import { openTrace, iterateStates } from "../../trace/state.ts";
import { createRandom } from "../random.ts";
import { ALL, crowd, saved, sharing } from "../traces.ts";
import { frame, ref, storage, tensor, trace } from "../entities.ts";

const plain = (entities: Map<string, any>) =>
  [...entities].map(([uid, e]) => [uid, { ...e, vars: e.vars && [...e.vars] }]).sort((a, b) => (a[0] < b[0] ? -1 : 1));

test("before the first step nothing exists", () => {
  assert.equal(openTrace(sharing()).at(-1).entities.size, 0);
});

for (const [name, make] of Object.entries({ ...ALL, long: () => crowd(150) }))
  test(`${name}: jumping anywhere equals stepping there`, () => {
    const document = make();
    const opened = openTrace(document);
    const truth = Array.from(iterateStates(document), plain);
    const next = createRandom(7);
    for (let k = 0; k < 60; k++) {
      const i = Math.floor(next() * opened.count);
      assert.deepEqual(plain(opened.at(i).entities), truth[i]);
    }
  });

for (const [name, document] of [
  ...Object.entries({ ...ALL, long: () => crowd(150) }).map(([name, make]) => [name, make()] as const),
  ...readdirSync("tests/golden")
    .filter((name) => name.endsWith(".json"))
    .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))] as const),
])
  test(`${name}: names followed from step to step are those that a state has`, () => {
    const opened = openTrace(document);
    for (let i = 0; i < opened.count; i++) {
      const entities = opened.state(i);
      assert.deepEqual(opened.names(i), collectNamesAndPaths(entities, entities), `step ${i}`);
    }
  });

test("names that led to nothing lead to what comes later", () => {
  const opened = openTrace(
    trace("", [
      { set: { f1: frame({ a: ref("t1") }), s1: storage([1]) } },
      { set: { s1: { cells_at: { float32: [[0, 2]] } } } },
      { set: { t1: tensor("s1") } },
    ]),
  );
  const names = [0, 1, 2].map((i) => opened.names(i));
  assert.equal(names[1], names[0]);
  assert.deepEqual([...names[2].paths], [["t1", "a"]]);
});

test("a later step leaves an earlier state as it was", () => {
  const opened = openTrace(saved());
  const before = opened.at(2).entities;
  opened.at(3);
  assert.equal(before.get("s2")?.cells.float32[0], 0.7310585975646973);
});

test("cells_at patches one dtype and tells what was there", () => {
  const snap = openTrace(saved()).at(3);
  assert.deepEqual(snap.entities.get("s2")?.cells, { float32: [0, 0, 0] });
  assert.deepEqual([...(snap.written.get("s2") ?? [])], ["float32:0", "float32:1", "float32:2"]);
  assert.equal(snap.oldValues.get("s2:float32:1"), 0.8807970285415649);
});

test("null takes a field away, unset takes a name away, gone takes an entity away", () => {
  const opened = openTrace(
    trace("", [
      {
        set: {
          f1: { kind: "frame", name: "m", vars: { a: { ref: "t1" }, b: null } },
          t1: tensor({ grad: "t2" }),
          s1: storage([1]),
        },
      },
      { set: { t1: { grad: null }, f1: { unset: ["a"] } } },
      { gone: ["t1", "s1"] },
    ]),
  );
  const middle = opened.at(1);
  assert.equal("grad" in (middle.entities.get("t1") ?? {}), false);
  assert.deepEqual([...middle.entities.get("f1")?.vars], [["b", null]]);
  assert.deepEqual([...middle.changed].sort(), ["t1"]);
  const last = opened.at(2);
  assert.equal(last.entities.has("t1"), false);
  assert.deepEqual(last.freed.get("s1")?.cells, { float32: [1] });
});

test("splice edits items in order", () => {
  const opened = openTrace(
    trace("", [
      { set: { o1: { kind: "object", type: "list", len: 3, items: [1, 2, 3] } } },
      {
        set: {
          o1: {
            splice: [
              [0, 1, []],
              [1, 0, [9, 8]],
            ],
            len: 4,
          },
        },
      },
    ]),
  );
  assert.deepEqual(opened.at(1).entities.get("o1")?.items, [2, 9, 8, 3]);
});

test("names that are also properties of objects are names", () => {
  const vars = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}');
  const opened = openTrace(
    trace("", [{ set: { f1: { kind: "frame", name: "m", vars } } }, { set: { f1: { unset: ["constructor"] } } }]),
  );
  assert.deepEqual(
    [...opened.at(0).entities.get("f1")?.vars],
    [
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 3],
    ],
  );
  assert.deepEqual([...opened.at(1).entities.get("f1")?.vars.keys()], ["__proto__", "toString"]);
});

test("unknown kinds, fields and events are ignored", () => {
  const opened = openTrace(
    trace("", [
      {
        set: { z9: { kind: "zebra", a: 1 }, s1: { ...storage([1]), stripes: 4 } },
        log: [{ kind: "event", event: "sneeze" }],
      },
      { set: { z9: { a: 2 } } },
    ]),
  );
  assert.deepEqual([...opened.at(1).entities.keys()], ["s1"]);
});

test("a dtype that is read for the first time is not a write", () => {
  const opened = openTrace(
    trace("", [
      { set: { s1: storage([1, 2]) } },
      { set: { s1: { cells: { float32: [1, 2], int32: [5, 6] } } } },
      { set: { s1: { cells: { float32: [1, { $f: "nan" }], int32: [5, 7] } } } },
    ]),
  );
  assert.equal(opened.at(1).written.size, 0);
  assert.deepEqual([...(opened.at(2).written.get("s1") ?? [])], ["float32:1", "int32:1"]);
});
