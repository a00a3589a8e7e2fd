import assert from "node:assert/strict";
import { test } from "node:test";
import { stepForAddress, doesTraceMatchText, isTraceUpToDate } from "../../page_state/selectors.ts";
import { reduce } from "../../page_state/page_state.ts";
import { RUN, after, arrived, edited, looped, opened, ran, trace } from "../page_states.ts";
import type { Action } from "../../page_state/actions.ts";

test("a trace replaces the text that it was asked for, and no other", () => {
  const clean = after(opened(), arrived(1, trace("a\nb")));
  assert.equal(clean.text, "a\nb");
  assert.ok(doesTraceMatchText(clean));
  const typed = after(opened(), edited("a\nb\nc # more"), arrived(1, trace("a\nb\nc")));
  assert.equal(typed.text, "a\nb\nc # more");
  assert.equal(typed.opened?.count, 3);
  assert.ok(!doesTraceMatchText(typed) && !isTraceUpToDate(typed));
  assert.equal(stepForAddress(typed), null);
});

test("an answer to an older request changes nothing", () => {
  const state = after(opened(), edited("second"), RUN);
  assert.equal(state.pending?.id, 2);
  for (const late of [
    arrived(1, trace("a\nb\nc")),
    { type: "runFailed", id: 1, problem: { key: "error_network" } },
    { type: "runQueued", id: 1, ahead: 4 },
    { type: "runStarted", id: 1 },
    { type: "traceMissing", id: 1 },
    { type: "runCancelled", id: 1 },
  ] as Action[])
    assert.equal(reduce(state, late), state, late.type);
  const done = after(state, arrived(2, trace("second")));
  assert.equal(reduce(done, arrived(2, trace("again"))), done, "an answer comes once");
});

test("fast clicking ends in the last request", () => {
  const state = after(ran(), RUN, RUN, edited("last"), RUN);
  assert.equal(state.pending?.id, 4);
  const done = after(state, arrived(2, trace("a")), arrived(3, trace("b")), arrived(4, trace("last")));
  assert.equal(done.text, "last");
  assert.equal(done.opened?.trace.program.source, "last");
});

test("a request carries what was there when it was made", () => {
  const asked = after(
    opened({ devices: ["cpu", "cuda"] }),
    { type: "settingsChanged", settings: { seed: 3, device: "cuda" } },
    RUN,
  );
  const later = after(asked, edited("x"), { type: "settingsChanged", settings: { seed: 4, device: "cpu" } });
  assert.deepEqual(later.pending?.settings, { seed: 3, device: "cuda" });
  assert.equal(later.pending?.source, "a\nb\nc");
});

test("the place in the queue is known while something waits", () => {
  const waiting = after(opened(), { type: "runQueued", id: 1, ahead: 2 });
  assert.equal(waiting.ahead, 2);
  assert.equal(after(waiting, { type: "runStarted", id: 1 }).ahead, null);
  assert.equal(after(waiting, { type: "runFailed", id: 1, problem: { key: "error_network" } }).ahead, null);
  assert.equal(after(waiting, RUN).ahead, null);
});

test("a run that fails says why; the next one begins without it", () => {
  const failed = after(ran(), RUN, { type: "runFailed", id: 2, problem: { key: "error_network" } });
  assert.equal(failed.problem?.key, "error_network");
  assert.equal(failed.opened?.count, 3, "what was there stays");
  assert.equal(after(failed, RUN).problem, null);
});

test("a cancelled run leaves what was there", () => {
  const state = after(ran(), edited("x"), RUN, { type: "runCancelled", id: 2 });
  assert.equal(state.pending, null);
  assert.equal(state.text, "x");
  assert.equal(state.problem, null);
});

test("a repair runs the repaired text, which comes back with the trace", () => {
  const repair = { key: "k", edits: [{ line: 1, col: 0, end_line: 1, end_col: 1, text: "A" }] };
  const state = after(ran(), { type: "repairRequested", repair });
  assert.equal(state.text, "a\nb\nc");
  assert.equal(state.pending?.source, "A\nb\nc");
  assert.equal(after(state, arrived(2, trace("A\nb\nc"))).text, "A\nb\nc");
  const none = opened();
  assert.equal(reduce(none, { type: "repairRequested", repair }), none);
});

test("an iteration that was skipped is asked for and shown", () => {
  const state = after(opened({ source: "for" }), arrived(1, looped()), { type: "iterationRequested", index: 4 });
  assert.deepEqual(state.pending?.focus, { loop: 0, iteration: [4] });
  const opening = looped();
  opening.steps[0].iter = [4];
  const shown = after(state, arrived(2, opening));
  assert.equal(shown.step, 0);
  assert.equal(shown.problem, null);
  const none = after(state, arrived(2, looped()));
  assert.deepEqual(none.problem, { key: "unseen_none", args: { turn: 4 } });
  const other = after(
    state,
    arrived(2, { ...opening, steps: [opening.steps[0], { ...opening.steps[1], log: [{ kind: "out", text: "x" }] }] }),
  );
  assert.equal(other.problem?.key, "not_repeatable");
  assert.equal(after(ran(), { type: "iterationRequested", index: 1 }).pending, null, "nothing was skipped there");
});

test("elements that were left out are asked for at the step that is shown", () => {
  const state = after(ran(), { type: "stepChosen", step: 1 }, { type: "elementsRequested", storage: "s1", at: 600 });
  assert.deepEqual(state.pending?.focus, { storage: "s1", step: 1, from: 472, to: 984 });
  const shown = after(state, arrived(2, trace("a\nb\nc")));
  assert.equal(shown.step, 1);
  assert.deepEqual(shown.revealed, { storage: "s1", at: 600 });
  assert.equal(after(shown, RUN, arrived(3, trace("a\nb\nc"))).revealed, null);
  const other = after(ran(), edited("x"));
  assert.equal(reduce(other, { type: "elementsRequested", storage: "s1", at: 0 }), other);
});

test("a run without a result leaves the run from before and the text", () => {
  const before = ran();
  for (const [status, key] of [
    ["lost", "lost_kept"],
    ["cancelled", undefined],
  ] as const) {
    const state = after(
      before,
      edited("fixed"),
      RUN,
      arrived(2, { ...trace("fixed"), steps: [], outcome: { status } }),
    );
    assert.deepEqual([state.opened, state.step, state.text], [before.opened, before.step, "fixed"]);
    assert.deepEqual([state.problem?.key, state.pending], [key, null]);
  }
  const first = after(opened({ source: "a" }), arrived(1, { ...trace("a"), steps: [], outcome: { status: "lost" } }));
  assert.equal(first.opened?.trace.outcome.status, "lost", "nothing else could be shown");
});

test("a run that ends before what it was to show leaves the run from before", () => {
  const stopped = (limit: "wall" | "trace") => ({ status: "stopped" as const, stopped: { limit, value: 10, line: 1 } });
  const asked = after(opened({ source: "for" }), arrived(1, looped()), { type: "iterationRequested", index: 4 });
  for (const outcome of [stopped("wall"), stopped("trace"), { status: "lost" as const }]) {
    const state = after(asked, arrived(2, { ...looped(), outcome }));
    assert.equal(state.opened, asked.opened);
    assert.deepEqual([state.step, state.pending], [asked.step, null]);
    const isClock = "stopped" in outcome && outcome.stopped.limit === "wall";
    assert.equal(state.problem?.key, isClock ? "focus_stopped" : "focus_ended");
  }
  const opening = looped();
  opening.steps[0].iter = [4];
  const reached = after(asked, arrived(2, { ...opening, outcome: stopped("wall") }));
  assert.equal(reached.opened?.trace.outcome.status, "stopped", "it is shown where it came that far");
  const elements = after(ran(), { type: "stepChosen", step: 2 }, { type: "elementsRequested", storage: "s1", at: 600 });
  const kept = after(elements, arrived(2, { ...trace("a\nb\nc"), steps: [], outcome: stopped("wall") }));
  assert.deepEqual([kept.opened, kept.revealed, kept.step], [elements.opened, null, 2]);
});

test("a plain run after one for an iteration is a plain run", () => {
  const state = after(opened({ source: "for" }), arrived(1, looped()), { type: "iterationRequested", index: 4 }, RUN);
  assert.equal(state.pending?.focus, null);
  assert.equal(state.pending?.reason, "run");
});

test("a program that is not repeatable says so", () => {
  const state = after(opened(), arrived(1, trace("a", { focus: { repeatable: false } })));
  assert.equal(state.problem?.key, "not_repeatable");
});
