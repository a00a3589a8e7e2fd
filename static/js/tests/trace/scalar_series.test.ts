/** The scalars of a loop become series: values as they were, by iteration, each once; nothing without a loop. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesCurveMarks } from "../../marks/series_curve.ts";
import { nearestPointIndex, lastPassedPointIndex } from "../../timeline/curves.ts";
import { findScalarSeries } from "../../trace/scalar_series.ts";
import { counter, frame, ref, storage, tensor, trace, vars } from "../entities.ts";
import type { Number as WireNumber } from "../../trace/wire.ts";

/** `for k in range(n)`: `loss` is a new tensor, `total` a number, and a line is printed. */
function loop(losses: WireNumber[], print: (k: number) => string = () => ""): any {
  const steps: any[] = [{ set: { f1: frame({}) }, stmt: 0 }];
  losses.forEach((loss, k) => {
    const [s, c, t] = [`s${k + 1}`, `c${k + 1}`, `t${k + 1}`];
    const fresh = {
      [s]: storage([loss]),
      [c]: counter(),
      [t]: tensor({ shape: [], stride: [], storage: s, counter: c }),
    };
    const iter = [k];
    steps.push({ kind: "head", stmt: 1, iter, line: 2, set: { f1: vars({ k }) } });
    steps.push({ stmt: 2, iter, line: 3, set: { ...fresh, f1: vars({ loss: ref(t) }) } });
    steps.push({ stmt: 3, iter, line: 4, set: { f1: vars({ total: k * k, count: k + 1 }) } });
    const text = print(k);
    steps.push({ stmt: 4, iter, line: 5, log: text ? [{ kind: "out", stream: "stdout", text }] : [] });
  });
  return trace("n = 4\nfor k in range(n):\n    loss = f()\n    total += k\n    print(k, loss)\n", steps);
}

test("a tensor with one element and a number that a loop binds are series; its variable and counters are none", () => {
  const [loss, total, ...more] = findScalarSeries(loop([4, 2, { $f: "nan" }, 0.5]));
  assert.deepEqual(more, []);
  assert.deepEqual([loss.name, loss.line, loss.source], ["loss", 3, "tensor"]);
  assert.deepEqual(loss.points, [
    { step: 2, x: 0, value: 4, text: "4" },
    { step: 6, x: 1, value: 2, text: "2" },
    { step: 10, x: 2, value: Number.NaN, text: "nan" },
    { step: 14, x: 3, value: 0.5, text: "0.5" },
  ]);
  assert.deepEqual([total.name, total.points.map(({ value }) => value)], ["total", [0, 1, 4, 9]]);
});

test("a loss that stays the same is shown: something is wrong with it", () => {
  assert.equal(findScalarSeries(loop([2, 2, 2]))[0].name, "loss");
});

test("printed numbers are series by their words, unless they say what a name says, rounded", () => {
  const report = (k: number) => `epoch ${k}: loss ${[4, 2, 1.23456, 0.5][k].toFixed(2)} acc=${0.9 - k / 7}\n`;
  const list = findScalarSeries(loop([4, 2, 1.23456, 0.5], report));
  assert.deepEqual(
    list.map(({ name, source }) => [name, source]),
    [
      ["loss", "tensor"],
      ["acc", "printed"],
      ["total", "number"],
    ],
  );
  assert.deepEqual(
    list[1].points.map(({ step }) => step),
    [4, 8, 12, 16],
  );
});

test("numbers within names and tensors are no report", () => {
  const print = (k: number) => `tensor(${k * k}., grad_fn=<MulBackward0>)\n`;
  const list = findScalarSeries(loop([1, 2, 4, 3], print)).filter(({ source }) => source === "printed");
  assert.deepEqual(list, [], "it says what `total` says");
  const many = (k: number) => `[${[1, 2, 3, 4, 5].map((n) => n * k * k).join(", ")}]\n`;
  assert.ok(findScalarSeries(loop([1, 2, 4, 3], many)).every(({ source }) => source !== "printed"));
});

test("there is nothing for a program without a loop, or with too few iterations", () => {
  assert.deepEqual(findScalarSeries(trace("a = 1\n", [{ set: { f1: frame({ a: 1 }) }, stmt: 0 }])), []);
  assert.deepEqual(findScalarSeries(loop([1, 2])), []);
});

test("skipped iterations leave room in the curve", () => {
  const run = loop([4, 3, 2, 1]);
  for (const step of run.steps) if (step.iter?.[0] === 3) step.iter = [100];
  const { points } = findScalarSeries(run)[0];
  assert.deepEqual(
    points.map(({ x }) => x),
    [0, 1, 2, 100],
  );
  assert.equal(nearestPointIndex(points, 0.4), 2);
  assert.equal(nearestPointIndex(points, 0.9), 3);
});

test("a curve is drawn to the point that the step has reached; what is not finite is a tick", () => {
  const { points } = findScalarSeries(loop([4, 2, { $f: "nan" }, 0.5]))[0];
  assert.deepEqual(
    [1, 2, 9, 99].map((step) => lastPassedPointIndex(points, step)),
    [-1, 0, 1, 3],
  );
  const classes = (at: number) => seriesCurveMarks(points, at).map(({ attrs }) => attrs.class);
  assert.deepEqual(classes(-1), ["curve-later", "curve-tick"]);
  assert.deepEqual(classes(1), ["curve-later", "curve-past", "curve-tick", "curve-dot"]);
  assert.deepEqual(classes(3), ["curve-past", "curve-tick", "curve-dot"]);
  for (const { attrs } of seriesCurveMarks(points, 3)) assert.doesNotMatch(attrs.d, /NaN|Infinity/);
});
