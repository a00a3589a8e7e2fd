/** The index against the states: what it says of any step is what a walk over all entities finds there. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { lastWriteStep } from "../../trace/cell_writers.ts";
import { isHandle } from "../../trace/entities.ts";
import { captionNotesOfStep } from "../../captions/notes.ts";
import { openTrace, iterateStates, type Entities } from "../../trace/state.ts";
import { placementKey } from "../../trace/trace_index.ts";
import { ALL, crowd } from "../traces.ts";
import { tensor, trace } from "../entities.ts";
import type { Trace } from "../../trace/wire.ts";

const GOLDEN = "tests/golden";
const stored = readdirSync(GOLDEN).filter((name) => name.endsWith(".json"));
const TRACES: [string, Trace][] = [
  ...stored.map((name) => [name, JSON.parse(readFileSync(`${GOLDEN}/${name}`, "utf8"))] as [string, any]),
  ...Object.entries(ALL).map(([name, make]) => [name, make()] as [string, any]),
  ["a long crowd", crowd(90)],
];

const those = (entities: Entities, test: (entity: any, uid: string) => boolean) =>
  [...entities].filter(([uid, entity]) => test(entity, uid)).map(([uid]) => uid);

for (const [name, made] of TRACES)
  test(`${name}: at every step the relations are those of the state`, () => {
    const { index, state, count } = openTrace(made);
    for (let i = 0; i < count; i++) {
      const entities = state(i);
      for (const [uid, entity] of entities) {
        assert.ok(index.isAlive(uid, i), `${uid} is there after step ${i}`);
        const handles = (test: (handle: any) => boolean) => those(entities, (other) => isHandle(other) && test(other));
        if (entity.kind === "storage") {
          assert.deepEqual(
            index.handlesOfStorage(uid, i),
            handles((h) => h.storage === uid),
          );
          const slots = those(entities, (node) => node.kind === "node").flatMap((node) =>
            Object.entries((entities.get(node) as any).saved ?? {})
              .filter(
                ([, slot]) => slot.storage === uid && slot.state !== "freed" && !(entities.get(node) as any).released,
              )
              .map(([slot]) => `${node}:${slot}`),
          );
          assert.deepEqual(index.slotsKeepingStorage(uid, i).sort(), slots.sort());
        } else if (entity.kind === "counter")
          assert.deepEqual(
            index.handlesSharingCounter(uid, i),
            handles((h) => h.counter === uid),
          );
        else if (entity.kind === "node") {
          assert.deepEqual(
            index.outputsOfNode(uid, i),
            handles((h) => h.grad_fn === uid),
          );
          const edges = those(entities, (node) => node.kind === "node").flatMap((node) =>
            ((entities.get(node).next ?? []) as any).flatMap((end: any, edge: number) =>
              end?.[0] === uid ? [`${node}:${edge}`] : [],
            ),
          );
          assert.deepEqual(
            index
              .edgesLeadingTo(uid, i)
              .map(({ node, edge }) => `${node}:${edge}`)
              .sort(),
            edges.sort(),
          );
        } else if (isHandle(entity)) {
          const placement = index.placements.get(placementKey(uid, entity));
          assert.ok(placement && placement.birth <= i && i <= placement.death, `${uid} is placed`);
          assert.deepEqual(
            index.tensorsWithGrad(uid, i),
            handles((h) => h.grad === uid),
          );
          assert.deepEqual(
            index.accumulatorsOfTensor(uid, i),
            those(entities, (node) => node.kind === "node" && node.variable === uid),
          );
        }
      }
      for (const uid of index.lifetimes.keys())
        if (!entities.has(uid)) assert.ok(!index.isAlive(uid, i), `${uid} at ${i}`);
    }
  });

for (const [name, made] of TRACES)
  test(`${name}: bytes, writes, visits and events are those of the steps`, () => {
    const opened = openTrace(made);
    const { index } = opened;
    let i = -1;
    for (const entities of iterateStates(opened.trace)) {
      i++;
      const sizes = [...entities.values()].map((e) => (e.kind === "storage" && !e.within ? (e.nbytes ?? 0) : 0));
      assert.equal(
        index.liveBytesByStep[i],
        sizes.reduce((a, b) => a + b, 0),
        `step ${i}`,
      );
      for (const uid of opened.at(i).written.keys())
        assert.ok(index.writeStepsByStorage.get(uid)?.includes(i), `${uid} at ${i}`);
      const { visit, log } = opened.trace.steps[i];
      if (visit) {
        assert.ok(index.visitStepsByNode.get(visit.node)?.includes(i));
        assert.ok(index.visitsByBackward.get(visit.backward)?.some((v) => v.node === visit.node && v.step === i));
      }
      for (const entry of log)
        if (entry.kind === "event") assert.ok(index.eventPlacesByName.get(entry.event)?.some(({ step }) => step === i));
    }
  });

test("a handle that moves, and comes back, has a placement for each storage it was on", () => {
  const storage = () => ({ kind: "storage", nbytes: 12, cells: { float32: [1, 2, 3] } });
  const { index } = openTrace(
    trace("", [
      { set: { s1: storage(), s2: storage(), t1: tensor() } },
      { set: { t1: { storage: "s2" } } },
      { set: {} },
      { set: { t1: { storage: "s1" } } },
      { gone: ["t1"] },
    ]),
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => [index.handlesOfStorage("s1", i), index.handlesOfStorage("s2", i)]),
    [
      [["t1"], []],
      [[], ["t1"]],
      [[], ["t1"]],
      [["t1"], []],
      [[], []],
    ],
  );
  const spans = [...index.placements.values()].map(({ storage, birth, death }) => [storage, birth, death]);
  assert.deepEqual(spans, [
    ["s1", 0, 3],
    ["s2", 1, 2],
  ]);
});

test("the last write of a cell is found by the steps that wrote its storage alone", () => {
  const opened = openTrace(ALL.sharing());
  const states = [...Array(opened.count).keys()].map((i) => (opened.state(i).get("s1") as any)?.cells?.float32[0]);
  const last = states.findLastIndex((value, i) => value !== states[i - 1]);
  assert.equal(lastWriteStep(opened, "s1", 0, "float32", opened.count - 1), last);
});

test("tensors without a storage share none", () => {
  const sparse = () => tensor({ storage: undefined, counter: undefined, layout: "sparse_coo" });
  const opened = openTrace(
    trace("a = x.to_sparse()\nb = y.to_sparse()\n", [
      { set: { f1: { kind: "frame", name: "<module>", vars: { a: { ref: "t1" } } }, t1: sparse() } },
      { set: { f1: { vars: { b: { ref: "t2" } } }, t2: sparse() } },
    ]),
  );
  assert.deepEqual(captionNotesOfStep(opened, 1), [{ key: "new_bare", args: { name: { name: "b", of: "t2" } } }]);
});
