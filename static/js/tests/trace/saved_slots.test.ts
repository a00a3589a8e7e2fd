/** A click on a pin leads to what broke it; an exception of backward to the statement that caused it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { stepThatMadeBackwardFail, stepOfPinClick } from "../../trace/saved_slots.ts";
import { openTrace } from "../../trace/state.ts";
import { nearestMarkedStep } from "../../timeline/timeline.ts";
import { opened, arrived, after } from "../page_states.ts";
import { saved } from "../traces.ts";

for (const state of ["stale", "changed"] as const)
  test(`a pin that is ${state} leads to the write; from there to where it was saved`, () => {
    const { index, count } = openTrace(saved(state));
    const [slot] = index.slots.values();
    const broken = slot.stale ?? slot.changed ?? -1;
    assert.ok(slot.birth < broken);
    for (let i = 0; i < count; i++)
      assert.equal(stepOfPinClick(index, slot.node, slot.slot, i), i === broken ? slot.birth : broken);
    assert.equal(stepOfPinClick(index, slot.node, "nothing", 0), -1);
  });

test("the page goes where a pin leads", () => {
  const trace = saved("stale");
  const [slot] = openTrace(trace).index.slots.values();
  const state = after(
    opened({ source: trace.program.source }),
    arrived(1, { ...trace, runtime: { seed: 0, device: "cpu" } }),
  );
  const chosen = after({ ...state, step: 0 }, { type: "pinChosen", node: slot.node, slot: slot.slot });
  assert.equal(chosen.step, slot.stale);
  assert.equal(after(chosen, { type: "pinChosen", node: "n99", slot: "self" }), chosen);
});

test("an exception of backward is caused by the write that broke what its node saved", () => {
  const trace = saved("stale");
  const [slot] = openTrace(trace).index.slots.values();
  const step = trace.steps.length;
  trace.steps.push(
    {
      i: step,
      kind: "visit",
      stmt: 9,
      line: 9,
      set: {},
      gone: [],
      log: [],
      visit: { backward: "b1", node: slot.node, grad_outputs: [], grad_inputs: [], failed: true },
    },
    { i: step + 1, kind: "raise", stmt: 9, line: 9, set: {}, gone: [], log: [] },
  );
  assert.equal(stepThatMadeBackwardFail(openTrace(trace)), null, "it ran to its end");
  trace.outcome = {
    status: "raised",
    error: { type: "RuntimeError", message: "", line: 9, step: step + 1, stack: [] },
  };
  assert.equal(stepThatMadeBackwardFail(openTrace(trace)), slot.stale);
  delete trace.steps[step].visit.failed;
  assert.equal(stepThatMadeBackwardFail(openTrace(trace)), null, "no node failed");
});

test("a click on the timeline's marks goes to the gravest near it, else to the step under it", () => {
  const step = (kind: string) => ({ kind, log: [] });
  const steps = ["statement", "visit", "visit", "raise", "statement"].map(step) as any;
  assert.equal(nearestMarkedStep(steps, 0.5, 0.3), 3);
  assert.equal(nearestMarkedStep(steps, 0.45, 0.06), 2);
  assert.equal(nearestMarkedStep(steps, 1, 0.1), 4);
  assert.equal(nearestMarkedStep([], 0.5, 0.1), -1);
});
