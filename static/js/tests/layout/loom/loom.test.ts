/** The loom tells the whole trace: every storage, handle, write, tick, pin, node and gradient, each in its row. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { encodedValueJson } from "../../../trace/format.ts";
import { cellReads } from "../../../trace/reads.ts";
import { buildLoomRows } from "../../../layout/loom/run_rows.ts";
import { loomPicture } from "../../../marks/loom/loom.ts";
import { shelfOfStep } from "../../../marks/loom/loom_scene.ts";
import { openTrace } from "../../../trace/state.ts";
import { vnodeToSvg } from "../../../browser/svg.ts";
import { ALL, backward, saved, sharing, views } from "../../traces.ts";
import { storage, tensor, trace } from "../../entities.ts";
import { flat, drawn, having, texts } from "./loom_drawing.ts";

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))]);

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
          const [row] = Object.values(e.cells ?? {}) as any[][];
          if (!plan.columns.columnsOfStorage(uid)[0]?.heat)
            row?.forEach((value, k) =>
              assert.equal(
                having(head, "data-loom-cell", `${uid}:${k}`)[0].attrs["data-value"],
                encodedValueJson(value),
              ),
            );
        }
        for (const badge of having(head, "data-loom-badge"))
          assert.equal(badge.attrs["data-version"], String(opened.state(i).get(badge.attrs["data-loom-badge"])?.value));
        assert.equal(having(body, "data-loom-now")[0].attrs["data-loom-now"], String(plan.run.rowOfStep[i]));
        assert.doesNotMatch([...head, ...body].map(vnodeToSvg).join(""), /NaN|undefined|Infinity/);
      }
      const { body } = drawn(document, undefined, options);
      for (const [uid, life] of plan.run.storages)
        if ((life.death > life.birth || !life.freed) && plan.run.storageNames.has(uid))
          assert.equal(having(body, "data-loom-column", uid).length, plan.columns.columnsOfStorage(uid).length);
      for (const key of plan.run.pins.keys())
        if (plan.columns.columnsOfStorage(plan.run.pins.get(key)?.storage ?? "").length)
          assert.equal(having(body, "data-loom-pin", key).length, 1);
      plan.run.rows.forEach((row, r) => {
        for (const { uid, entity } of row.readers)
          if (plan.columns.columnAt(entity.storage, r)) assert.ok(having(body, "data-loom-handle", uid).length);
          else
            assert.ok(
              !plan.run.storageNames.has(entity.storage) || plan.columns.hidden.get(r)?.includes(entity.storage),
            );
      });
    });

test("a row is a statement, with the visits of its backward", () => {
  const run = buildLoomRows(openTrace(backward()));
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
      cellReads(e)
        .map((r) => [r.index.join(","), `${e.storage}:${r.cell}`])
        .sort(),
    );
    const column = plan.columns.columnsOfStorage(e.storage ?? "")[0];
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
  assert.ok((plan.columns.columnsOfStorage("s2")[0]?.x ?? 0) >= (plan.columns.columnsOfStorage("s1")[0]?.right ?? 0));
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
  const state = (document: any, i: number) => having(drawn(document, i).body, "data-loom-pin", "n2:result")[0];
  assert.equal(state(saved("stale"), 1).attrs["data-state"], "held");
  assert.equal(state(saved("stale"), 4).attrs["data-state"], "broken");
  assert.equal(state(saved("changed"), 4).attrs["data-state"], "silent");
  assert.ok(state(saved("stale"), 4).children.some((c) => c.attrs.class === "loom-snap"));
  assert.ok(state(saved("changed"), 4).children.some((c) => c.attrs.class === "loom-warn"));
  const { plan } = drawn(saved("changed"));
  assert.equal(plan.columns.columnsOfStorage("s2")[0]?.rails.size, 2);
  assert.equal(plan.pinLines[0].rail, plan.columns.columnsOfStorage("s2")[0]?.rails.get("c2"));
});

test("a write that changes the bytes of two saved values in silence has one warning", () => {
  const document = saved("changed") as any;
  for (const step of document.steps) {
    const slots = step.set?.n2?.saved;
    if (slots?.result) slots.other = slots.result;
    const events = (step.log ?? []).filter(({ slot }: any) => slot === "result");
    step.log?.push(...events.map((event: any) => ({ ...event, slot: "other" })));
  }
  const { body } = drawn(document, 4);
  assert.equal(having(body, "data-loom-pin").length, 2);
  assert.equal(having(body, "class", "loom-warn").length, 1);
});

test("the head calls a gradient by its name from the step on at which it has it, by its uid before", () => {
  const document = backward() as any;
  const { opened, plan } = drawn(document, 0, { room: 1400 });
  let early = 0;
  for (let i = 0; i < opened.count; i++) {
    const { tags } = opened.names(i);
    for (const mark of having(drawn(document, i, { room: 1400 }).head, "data-loom-storage")) {
      const uid = mark.attrs["data-loom-storage"];
      const [title] = texts(mark, /^loom-uid$/);
      const now = opened.index.handlesOfStorage(uid, i).flatMap((handle) => tags.get(handle) ?? []);
      const named = plan.run.storages.get(uid)?.named ?? Infinity;
      if (now.length || named < plan.run.rowOfStep[i]) continue;
      early += 1;
      assert.equal(title, uid);
    }
  }
  assert.ok(early);
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
  assert.equal(later.columns.columnsOfStorage("s5")[0]?.x, later.columns.columnsOfStorage("s1")[0]?.right);
});

test("nothing moves between steps", () => {
  const positions = (i: number) =>
    new Map(
      drawn(backward(), i)
        .body.filter((v) => v.attrs["data-loom-handle"] || v.attrs["data-loom-column"])
        .map((v) => [v.key, vnodeToSvg(v).replace(/ class="[^"]*"/g, "")]),
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
  const mark = (i: number) => having(drawn(backward(), i).body, "data-loom-handle", "t5")[0].attrs.class;
  assert.match(mark(4), /coming/);
  assert.doesNotMatch(mark(7), /coming/);
  assert.doesNotMatch(mark(1), /coming/);
});
