/** The arithmetic under the pictures: packing, reads, names, numbers, paths. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { roundedPath } from "../../marks/loom/loom_graph.ts";
import { fullNumberText, shortNumberText, encodedValueJson } from "../../trace/format.ts";
import { cellExtentOfHandle, splitReadsIntoLines, cellReads } from "../../trace/reads.ts";
import { IntervalPacker, LaneAllocator } from "../../layout/packing.ts";
import { openTrace } from "../../trace/state.ts";
import { ALL } from "../traces.ts";
import { tensor } from "../entities.ts";

test("slots are first fit and respect lifetimes", () => {
  const slots = new IntervalPacker();
  assert.equal(slots.allocate(0, 5, 10), 0);
  assert.equal(slots.allocate(1, 2, 10), 10);
  assert.equal(slots.allocate(2, 9, 10), 20);
  assert.equal(slots.allocate(3, 9, 8), 10);
  assert.equal(slots.allocate(4, 9, 8), 30);
});

test("numbered places are the lowest that are free, as those of a packer are", () => {
  const numbered = new LaneAllocator();
  const packer = new IntervalPacker();
  let [births, seed] = [0, 7];
  const random = (n: number) => (seed = (seed * 16807) % 2147483647) % n;
  for (let k = 0; k < 500; k++) {
    births += random(3);
    const death = births + random(20);
    assert.equal(numbered.allocateLane(births, death), packer.allocate(births, death, 1));
  }
});

test("reads of a transposed, an offset, an expanded, a scalar and an empty handle", () => {
  const cells = (over: any) => cellReads(tensor(over)).map((r) => r.cell);
  assert.deepEqual(cells({ shape: [4, 3], stride: [1, 4] }), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
  assert.deepEqual(cells({ shape: [3, 2], stride: [4, 1], offset: 1 }), [1, 2, 5, 6, 9, 10]);
  assert.deepEqual(cells({ shape: [2, 3], stride: [1, 0] }), [0, 0, 0, 1, 1, 1]);
  assert.deepEqual(cells({ shape: [], stride: [], offset: 2 }), [2]);
  assert.deepEqual(cells({ shape: [0, 3], stride: [3, 1] }), []);
  assert.deepEqual(
    cellReads({ kind: "array", dtype: "float32", storage: "s1", shape: [3], at: 8, steps: [-4] }).map((r) => r.cell),
    [2, 1, 0],
  );
  assert.deepEqual(
    cellExtentOfHandle({ kind: "array", dtype: "float32", storage: "s1", shape: [3], at: 8, steps: [-4] }),
    [0, 2],
  );
});

test("memory read forwards is one line, anything else a line for each logical row", () => {
  assert.equal(splitReadsIntoLines(cellReads(tensor({ shape: [3, 4], stride: [4, 1] }))).length, 1);
  assert.equal(splitReadsIntoLines(cellReads(tensor({ shape: [4, 3], stride: [1, 4] }))).length, 4);
  assert.equal(splitReadsIntoLines(cellReads(tensor({ shape: [3, 4], stride: [0, 1] }))).length, 3);
});

test("names reach tensors through variables, containers and .grad", () => {
  const { tags } = openTrace(ALL.objects()).names(2);
  assert.deepEqual(
    (tags.get("t1") ?? []).map((t) => [t.kind, t.text, t.scope]),
    [
      ["var", "a", ""],
      ["var", "constructor", ""],
      ["var", "x", "f"],
      ["item", "xs[0]", ""],
    ],
  );
  const later = openTrace(ALL.backward()).names(7).tags;
  assert.deepEqual(
    (later.get("t5") ?? []).map((t) => t.text),
    ["a.grad"],
  );
});

test("numbers are exact where they fit and look rounded where they are", () => {
  assert.equal(shortNumberText(1), "1");
  assert.equal(shortNumberText(0.5), "0.5");
  assert.equal(shortNumberText(0.7310585975646973), ".7311");
  assert.equal(shortNumberText(0.9999999), "1.000");
  assert.equal(shortNumberText(-1.5), "−1.5");
  assert.equal(shortNumberText(-0), "−0");
  assert.equal(shortNumberText(123456789), "1.2e8");
  assert.equal(shortNumberText({ $f: "-inf" }), "−inf");
  assert.equal(shortNumberText(true), "True");
  assert.equal(fullNumberText({ $c: [1, -2] }), "1−2j");
  assert.equal(fullNumberText({ $i: "-12345678901234567890" }), "−12345678901234567890");
  assert.equal(encodedValueJson(-0), "-0.0");
  assert.equal(encodedValueJson({ $f: "nan" }), '{"$f":"nan"}');
});

test("a rounded number never looks like an integer", () => {
  for (let k = 1; k < 400; k++) {
    const value = Math.fround(Math.tan(k) * 10 ** ((k % 9) - 4));
    const text = shortNumberText(value).replace("−", "-");
    if (Number(text) !== value) assert.ok(/[.e]/.test(text), `${value} as ${text}`);
  }
});

test("round corners keep both ends", () => {
  assert.match(
    roundedPath(
      [
        [0, 0],
        [10, 0],
        [10, 20],
        [30, 20],
      ],
      9,
    ),
    /^M0 0.*L30 20$/,
  );
});
