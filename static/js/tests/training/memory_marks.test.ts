import assert from "node:assert/strict";
import test from "node:test";
import { axisMarks, memoryMarks } from "../../training/axis_marks.ts";
import { textWidth } from "../../layout/text/metrics.ts";

const say = (key: string, args?: Record<string, unknown>) => `${key} ${JSON.stringify(args ?? {})}`;
const phases = [
  { phase: "forward" as const, from: 2, to: 3 },
  { phase: "backward" as const, from: 4, to: 5 },
];

test("the memory of a round is drawn over its own steps, from zero to its most", () => {
  const facts = { phases, width: 496, inside: 42, step: 2 };
  const [curve, most] = memoryMarks([9000, 9000, 100, 400, 400, 0, 8000], facts, say);
  // 82 pixels at the left, four steps of 100: a quarter of the most, the most twice, nothing
  assert.equal(curve.attrs.d, "M82 19V15.0H182.0V3.0H282.0H382.0V19.0H482.0V19Z");
  assert.match(JSON.stringify(most), /400 B/);
});

test("the longest number of bytes has room left of the curve", () => {
  const [, most] = memoryMarks([0, 0, 1048473, 0, 0, 0], { phases, width: 496, inside: 42, step: 2 }, say);
  assert.equal(most.text, "1023.9 KiB");
  assert.ok(Number(most.attrs.x) - textWidth("1023.9 KiB", 12) >= 0, "it is cut");
});

test("without room, without a round and without memory there is no curve", () => {
  const facts = { phases, width: 472, inside: 22, step: 2 };
  assert.deepEqual(memoryMarks([1, 1, 1, 1, 1, 1], facts, say), []);
  assert.deepEqual(memoryMarks([1, 1], { ...facts, inside: 42, phases: [] }, say), []);
  assert.deepEqual(memoryMarks([5, 5, 0, 0, 0, 0], { ...facts, inside: 42 }, say), []);
});

test("the ends of the curve have as many digits as tell them apart", () => {
  const labels = (values: number[]) => {
    const points = values.map((value, n) => ({ n, value }));
    const series = { name: "loss", points, valueAt: (n: number) => values[n] } as any;
    const run = { rounds: { count: values.length, losses: [] }, steps: [], program: {} } as any;
    const marks = axisMarks(run, { width: 496, height: 58, series, chosen: 0, news: [] } as any, say);
    return marks.flatMap(({ text, attrs }) => (text && Number(attrs.x) < 82 ? [text] : []));
  };
  assert.deepEqual(labels([0.7036, 0.7037]), ["0.7037", "0.7036"]);
  assert.deepEqual(labels([2.32, 0.9]), ["2.32", "0.9"]);
  assert.deepEqual(labels([0.5, 0.5]), ["0.5", "0.5"]);
});
