import assert from "node:assert/strict";
import { test } from "node:test";
import { isPageProgram, isRunning, isSavedProgram, isTraceUpToDate, shownFocus } from "../../page_state/selectors.ts";
import { initialState, reduce } from "../../page_state/page_state.ts";
import { ADDRESS, RUN, SAVED, after, arrived, edited, link, opened, ran, trace } from "../page_states.ts";

test("a page without a trace runs its program, one with a trace shows it, an empty one waits", () => {
  const asked = opened();
  assert.equal(asked.pending?.reason, "run");
  assert.equal(asked.pending?.source, "a\nb\nc");
  const shown = opened({ trace: trace("a\nb\nc") });
  assert.equal(shown.pending, null);
  assert.equal(shown.opened?.count, 3);
  assert.equal(shown.step, 2);
  assert.equal(opened({ source: "" }).pending, null);
});

test("a page's own trace is fetched, and kept for the way back", () => {
  const fetched = { traceUrl: "/s/abc.trace.json", saved: SAVED };
  const asked = opened(fetched);
  assert.equal(asked.pending?.reason, "page");
  assert.ok(!isRunning(asked), "nothing is run");
  const shown = after(asked, arrived(1, trace("a\nb\nc", { seed: 7 })));
  assert.ok(isSavedProgram(shown) && isTraceUpToDate(shown));
  assert.equal(shown.step, 2);
  const forked = after(shown, edited("fork"), RUN, arrived(2, trace("fork", { seed: 7 })));
  const back = after(forked, link({ step: 1 }));
  assert.equal(back.pending, null, "it is here already");
  assert.deepEqual([back.text, back.step], ["a\nb\nc", 1]);
});

test("whoever runs another program meanwhile does not get the page's trace", () => {
  const state = after(opened({ traceUrl: "/t" }), edited("other"), RUN);
  assert.equal(reduce(state, arrived(1, trace("a\nb\nc"))), state);
  const back = after(opened({ traceUrl: "/t", saved: SAVED }), edited("other"), RUN, link({ step: 1 }));
  assert.equal(back.pending?.reason, "page");
  assert.equal(after(back, arrived(3, trace("a\nb\nc", { seed: 7 }))).step, 1);
});

test("a trace that can't be fetched leaves the program, to be run", () => {
  const failed = after(opened({ traceUrl: "/t" }), { type: "runFailed", id: 1, problem: { key: "error_network" } });
  assert.equal(failed.problem?.key, "error_network");
  assert.equal(after(failed, RUN).pending?.reason, "run");
});

test("an address of the page's own program asks for the page's trace where its settings are the page's", () => {
  const page = { source: "a", traceUrl: "/t", trace: null, saved: null, devices: [] };
  const open = (address: any) =>
    after(initialState(page), { type: "pageOpened", address: { ...ADDRESS, source: "a", ...address } });
  assert.equal(open({}).pending?.reason, "page");
  assert.equal(open({ seed: "5" }).pending?.reason, "lookup");
  assert.equal(open({ source: "b" }).pending?.reason, "lookup");
});

test("what was written while the address was read stays when the page's own trace comes", () => {
  const start = initialState({ source: "a", traceUrl: "/t", trace: null, saved: null, devices: [] });
  const edited = after(start, { type: "programEdited", text: "mine" }, { type: "pageOpened", address: ADDRESS });
  assert.deepEqual([edited.text, edited.pending?.source], ["mine", "a"]);
  const state = after(edited, { type: "traceArrived", id: 1, trace: trace("a") });
  assert.deepEqual([state.text, state.opened?.trace.program.source], ["mine", "a"]);
});

test("the address of a page says step, selection and view", () => {
  const start = initialState({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] });
  const address = { ...ADDRESS, step: 1, selection: "handle:t1", view: "run" as const };
  const state = after(start, { type: "pageOpened", address });
  assert.deepEqual([state.step, state.selection, state.view], [1, "handle:t1", "run"]);
  assert.equal(after(start, { type: "pageOpened", address: { ...address, step: 99 } }).step, 2);
});

test("an address with a program shows that, and asks for the trace that the server may have", () => {
  const start = initialState({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] });
  const state = after(start, {
    type: "pageOpened",
    address: { ...ADDRESS, source: "other\r\nlines", step: 1, seed: "5" },
  });
  assert.equal(state.text, "other\nlines");
  assert.deepEqual(state.settings, { seed: 5 });
  assert.equal(state.opened, null);
  assert.ok(state.waiting && !isRunning(state));
  assert.equal(state.pending?.reason, "lookup");
  const shown = after(state, arrived(1, trace("other\nlines", { seed: 5 })));
  assert.equal(shown.step, 1);
  assert.ok(!shown.waiting);
  const missing = after(state, { type: "traceMissing", id: 1 });
  assert.ok(missing.waiting && missing.pending === null);
  const run = after(missing, RUN, arrived(2, trace("other\nlines", { seed: 5 })));
  assert.equal(run.step, 1, "the step of the link waits for the run");
  assert.equal(run.requestedStep, null);
});

test("an address with the page's own program needs no other trace, unless its settings differ", () => {
  const start = initialState({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] });
  const own = after(start, { type: "pageOpened", address: { ...ADDRESS, source: "a", step: 0 } });
  assert.equal(own.pending, null);
  assert.equal(own.step, 0);
  const seeded = after(start, { type: "pageOpened", address: { ...ADDRESS, source: "a", seed: "3" } });
  assert.equal(seeded.pending?.reason, "lookup");
});

test("a broken address says so and shows the page's program", () => {
  const start = initialState({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] });
  const state = after(start, { type: "pageOpened", address: { ...ADDRESS, broken: true } });
  assert.equal(state.problem?.key, "broken_link");
  assert.equal(state.opened?.count, 3);
  const later = after(ran(), link({ broken: true, step: null }));
  assert.equal(later.problem?.key, "broken_link");
  assert.equal(later.step, 2);
});

test("the focus of a link holds for its program alone", () => {
  const focus = { loop: 1, iteration: [9] };
  const state = after(ran(), link({ source: "loop", focus }));
  assert.deepEqual(state.pending?.focus, focus);
  assert.deepEqual(shownFocus(state), focus);
  assert.deepEqual(after(state, RUN).pending?.focus, focus);
  const other = after(state, edited("else"), RUN);
  assert.equal(other.pending?.focus, null);
});

test("a link that comes during a run replaces it", () => {
  const state = after(ran(), edited("slow"), RUN, link({ source: "linked", step: 1 }));
  assert.equal(state.pending?.reason, "lookup");
  assert.equal(state.text, "linked");
  const late = arrived(2, trace("slow"));
  assert.equal(reduce(state, late), state);
  assert.equal(after(state, late, arrived(3, trace("linked"))).text, "linked");
});

test("an answer that comes from the cache after the reader wrote on is not shown", () => {
  const state = after(ran(), link({ source: "linked" }), edited("linked, and on"), arrived(2, trace("linked")));
  assert.equal(state.opened, null);
  assert.equal(state.pending, null);
  assert.equal(state.text, "linked, and on");
});

test("going back to the program that is shown is a matter of the step", () => {
  const state = after(ran(), link({ source: "a\nb\nc", step: 0, selection: "node:n1" }));
  assert.equal(state.pending, null);
  assert.deepEqual([state.step, state.selection], [0, "node:n1"]);
  assert.equal(after(ran(), link({ step: 1 })).step, 1);
  assert.equal(after(ran(), link({})).step, 2);
});

test("what was pasted is what an address keeps", () => {
  const state = after(opened(), edited(">>> a"), RUN, arrived(2, trace("a", { pasted: ">>> a" })));
  assert.equal(state.text, "a");
  assert.equal(after(state, RUN).pending?.source, ">>> a");
  assert.equal(after(state, edited("a + 1"), RUN).pending?.source, "a + 1");
  const again = after(state, link({ source: ">>> a", step: 0 }));
  assert.equal(again.pending, null);
  assert.equal(again.step, 0);
});

test("a saved program is known by text, settings and focus, and comes back", () => {
  const stored = trace("a\nb\nc", { seed: 7 });
  const state = opened({ saved: SAVED, trace: stored });
  assert.deepEqual(state.settings, { seed: 7 });
  assert.ok(isSavedProgram(state) && isPageProgram(state));
  assert.ok(!isSavedProgram(after(state, { type: "settingsChanged", settings: { seed: 8 } })));
  const forked = after(state, edited("fork"), RUN);
  assert.ok(!isSavedProgram(forked) && !isPageProgram(forked));
  const back = after(forked, link({ step: 1 }));
  assert.ok(isSavedProgram(back));
  assert.equal(back.pending, null, "the fork's run is not waited for");
  assert.deepEqual([back.text, back.step], ["a\nb\nc", 1]);
  assert.equal(reduce(back, arrived(1, trace("fork"))), back);
});
