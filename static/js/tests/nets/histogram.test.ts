import assert from "node:assert/strict";
import test from "node:test";
import { histogramOf } from "../../nets/histogram.ts";

test("a histogram counts each finite number once, the largest in the last bin", () => {
  const numbers = Array.from({ length: 100 }, (_, k) => (k * 37) % 100);
  const counted = histogramOf({ shape: [100], cells: [...numbers, { $f: "nan" }, { $f: "inf" }], summary: null });
  assert.ok(counted);
  assert.deepEqual([counted.low, counted.high], [0, 99]);
  const expected = Array<number>(16).fill(0);
  for (const value of numbers) expected[Math.min(15, Math.floor((value * 16) / 99))] += 1;
  assert.deepEqual(counted.bins, expected);
  assert.equal(
    counted.bins.reduce((a, b) => a + b),
    100,
  );
});

test("numbers that are all the same, or that the trace does not tell, have no histogram", () => {
  assert.equal(histogramOf({ shape: [90], cells: Array<number>(90).fill(2), summary: null }), null);
  assert.equal(histogramOf({ shape: [9000], cells: null, summary: null }), null);
  assert.equal(histogramOf({ shape: [9000], cells: null, summary: { min: -1, max: 1 } }), null);
  const summary = { min: -1, max: 3, bins: [4, 5] };
  assert.deepEqual(histogramOf({ shape: [9], cells: null, summary }), { low: -1, high: 3, bins: [4, 5] });
});
