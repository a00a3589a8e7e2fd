/** What a recording found when it began is no cause, and no link of a chain. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { explainTrace } from "../findings/explain.js";

const read = () => JSON.parse(readFileSync("tests/golden/saved_then_written.json", "utf8"));

test("a finding whose cause is there at the beginning is not given", () => {
  const [finding] = explainTrace(read());
  assert.equal(finding.kind, "saved_overwritten");
  const trace = read();
  trace.steps[finding.cause.step].kind = "begin";
  assert.ok(explainTrace(trace).every(({ kind }) => kind !== finding.kind));
});

test("a chain has no link to the beginning", () => {
  const [finding] = explainTrace(read());
  const first = finding.chain.find(({ step }) => step !== finding.cause.step);
  const trace = read();
  trace.steps[first.step].kind = "begin";
  const [again] = explainTrace(trace);
  assert.equal(again.kind, finding.kind);
  assert.ok(again.chain.length && again.chain.every(({ step }) => step !== first.step));
});
