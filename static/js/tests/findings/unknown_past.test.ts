/** What a recording found when it began is no cause, and no link of a chain. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { explainTrace } from "../../findings/explain.ts";
import { findingText } from "../../findings/finding_text.ts";
import { findingLocale } from "../../findings/locale.ts";
import { captionNotesOfStep } from "../../captions/notes.ts";
import { openTrace } from "../../trace/state.ts";
import { bare } from "../bare.ts";

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

test("no line is named for what was saved before the recording", () => {
  const [finding] = explainTrace(read());
  const why = (trace, language) => findingText(explainTrace(trace)[0], findingLocale(language).say).why;
  assert.match(why(read(), "en"), /as it was on line 4\./);
  const trace = read();
  trace.steps[finding.chain[0].step].kind = "begin";
  assert.match(why(trace, "en"), /as it was before the recording\./);
  assert.match(why(trace, "zh"), /在记录开始之前的值/);
});

test("what is there at the beginning is neither new nor changed", () => {
  const trace = read();
  const made = trace.steps.findIndex(({ set }) => Object.keys(set).some((uid) => uid[0] === "t"));
  assert.ok(openTrace(trace).at(made).fresh.size);
  trace.steps[made].kind = "begin";
  const opened = openTrace(trace);
  assert.deepEqual([...opened.at(made).fresh], []);
  assert.deepEqual([...opened.at(made).changed], []);
  const tensors = Object.keys(trace.steps[made].set).filter((uid) => uid[0] === "t").length;
  assert.deepEqual(captionNotesOfStep(opened, made), [{ key: "begun", args: { n: tensors } }]);
});

test("no statement is named for a slot that was stale at the beginning", async () => {
  const pictureOf = await bare();
  const [finding] = explainTrace(read());
  const draw = (trace) => pictureOf(trace, finding.cause.step, { theme: "light", language: "en" });
  assert.match(draw(read()), /class="cause"/);
  const trace = read();
  trace.steps[finding.cause.step].kind = "begin";
  assert.doesNotMatch(draw(trace), /class="cause"/);
});
