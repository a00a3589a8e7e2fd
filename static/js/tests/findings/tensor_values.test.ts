/** The numbers of a tensor whose memory a long trace stops to list. */

import { test } from "node:test";
import assert from "node:assert/strict";
import { counter, frame, ref, storage, tensor, trace } from "../entities.ts";
import { RunFacts } from "../../findings/facts/run_facts.ts";
import { openTrace } from "../../trace/state.ts";

const SUMMARY = { float32: { min: 4, max: 6, mean: 5, norm: 8.7 } };

test("what the trace does not list any more is not what it listed before", () => {
  const facts = new RunFacts(
    openTrace(
      trace("a = torch.tensor([1., 2., 3.])\na.add_(3)\n", [
        { set: { f1: frame({ a: ref("t1") }), s1: storage([1, 2, 3]), c1: counter(), t1: tensor({}) } },
        { set: { s1: { cells: null, summary: SUMMARY } } },
      ]),
    ),
  );
  assert.deepEqual(facts.numbersOf("t1", 0), [1, 2, 3]);
  assert.equal(facts.numbersOf("t1", 1), null);
  assert.deepEqual(facts.rangeOf("t1", 1), { min: 4, max: 6 });
});
