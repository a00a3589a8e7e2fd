/** Rounds by what is typed, the focus that asks for one, the curves and the news of a training. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { focusOfRound, roundOfIteration } from "../../trace/steps/training_rounds.ts";
import { lastIterations, parseRoundInput } from "../../training/round_input.ts";
import { notableRounds } from "../../training/notable_rounds.ts";
import { roundSeries } from "../../training/round_series.ts";
import type { Trace, TrainingRounds } from "../../trace/wire.ts";

/** Two epochs of three batches, of which each second one ends a round, then rounds of a loop of one function. */
const NESTED: Partial<TrainingRounds> = {
  count: 5,
  stretches: [
    { first: 0, loops: [1, 2], inner: 1, iteration: [0, 1], total: [1, 2], by: 2 },
    { first: 2, loops: [1, 2], inner: 1, iteration: [1, 1], total: [2, 6], by: 2 },
    { first: 4, loops: [], inner: 0, iteration: [], total: [], by: 0 },
  ],
};

function traceWith(rounds: Partial<TrainingRounds>): Trace {
  const all = {
    stretches: [],
    losses: [],
    printed: [],
    recorded: [],
    rounds: [],
    rows: [],
    new_rates: [],
    every: 1,
    optimizers: 1,
  };
  const program = { source: "for e in r:\n    loss.backward()\n", statements: [{ line: 1 }, { line: 2 }] };
  return { rounds: { ...all, printed_every: 1, ...rounds }, program, steps: [] } as unknown as Trace;
}

test("a round has its number, or the counts of its loops", () => {
  const trace = traceWith(NESTED);
  const found = Object.entries({
    "0": 0,
    " 4 ": 4,
    "0·1": 0,
    "0·3": 1,
    "1.1": 2,
    "1, 3": 3,
    "1 2": 3,
    "5": null,
    "-1": null,
    "2·0": null,
    "0·4": null,
    "": null,
    "1.5e3": null,
    "1·1·1": null,
  });
  for (const [text, n] of found) assert.equal(parseRoundInput(trace, text), n, text);
  assert.equal(roundOfIteration(trace, [0, 0]), 0, "the round in which the iteration lies");
  assert.equal(lastIterations(traceWith({ ...NESTED, count: 4 })), "1·3");
  assert.equal(lastIterations(trace), null);
});

test("loops of several functions are asked for by their counts, and a round in no loop can't be", () => {
  const trace = traceWith(NESTED);
  assert.deepEqual(focusOfRound(trace, 3), { counts: { 1: 2, 2: 8 } });
  assert.equal(focusOfRound(trace, 4), null);
  const own = traceWith({
    count: 9,
    stretches: [{ first: 0, loops: [7], inner: 1, iteration: [3], total: [4], by: 4 }],
  });
  assert.deepEqual(focusOfRound(own, 2), { loop: 7, iteration: [11] });
  assert.equal(focusOfRound(own, 9), null);
});

test("losses and printed scalars are curves; counters and what says the same are none", () => {
  const values = [4, 2, { $f: "nan" }, 0.5];
  const texts = [
    "epoch 0 loss 4.00 acc 0.1",
    "epoch 1 loss 2.00 acc 0.3",
    "epoch 2 loss nan acc 0.2",
    "epoch 3 loss 0.50 acc 0.4",
  ];
  const list = roundSeries(
    traceWith({
      count: 4,
      losses: [{ stmt: 1, root: 0, every: 1, values }],
      printed: texts.map((text, n) => ({ n, text: `${text}\n` })),
    }),
    "loss",
  );
  assert.deepEqual(
    list.map(({ name }) => name),
    ["loss", "acc"],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((n) => list[0].valueAt(n)),
    [4, 2, Number.NaN, 0.5, null],
  );
});

test("news are the first loss that is not finite, and other rates; the gravest of a round", () => {
  const trace = traceWith({
    count: 9,
    losses: [{ stmt: 1, root: 0, every: 4, values: [1, 1, { $f: "inf" }] }],
    rounds: [{ n: 6, backwards: 1, losses: [{ $f: "nan" }], lr: [0.1] }],
    recorded: [{ n: 2, step: 5, end: 9 }],
    new_rates: [2, 6],
  });
  assert.deepEqual(notableRounds(trace, [7]), [
    { n: 2, why: "finding" },
    { n: 6, why: "broken" },
  ]);
});
