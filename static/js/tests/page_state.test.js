import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressStep,
  isCurrent,
  isPageProgram,
  isRunning,
  isSavedProgram,
  isUpToDate,
  shownFocus,
} from "../page_selectors.js";
import { initial, reduce } from "../page_state.js";
import { createStore } from "../store.js";
import { storage } from "./entities.js";

/** @typedef {import("../page_state.js").Action} Action */
/** @typedef {import("../page_state.js").PageState} PageState */

const ADDRESS = {
  source: null,
  step: null,
  selection: null,
  view: null,
  seed: null,
  device: null,
  focus: null,
  broken: false,
};

/** A trace of so many steps, a line each. @param {string} source @param {any} [rest] @returns {any} */
function trace(source, { steps = 3, seed = 0, pasted = null, printed = "", ...rest } = {}) {
  return {
    program: { source, pasted, statements: [{ kind: "For" }], notices: [] },
    runtime: { seed, device: "cpu" },
    steps: Array.from({ length: steps }, (_, i) => ({
      i,
      kind: "statement",
      stmt: 0,
      line: i + 1,
      frame: "f1",
      set: i === 0 ? { s1: storage([1, 2]) } : {},
      gone: [],
      log: printed && i === steps - 1 ? [{ kind: "out", stream: "stdout", text: printed }] : [],
    })),
    outcome: { status: "finished" },
    ...rest,
  };
}

const SAVED = {
  id: "abc",
  url: "/s/abc",
  title: "T",
  description: "",
  note: "",
  parent: null,
  settings: { seed: 7, device: "cpu", focus: null },
};

/** A page that is open, as far as the actions lead. @param {any} [page] @param {Action[]} actions */
function opened(page = {}, ...actions) {
  const start = initial(
    { source: "a\nb\nc", traceUrl: null, trace: null, saved: null, devices: ["cpu"], ...page },
    "stage",
  );
  return after(start, { type: "pageOpened", address: ADDRESS }, ...actions);
}

/** @param {PageState} state @param {...Action} actions */
function after(state, ...actions) {
  for (const action of actions) {
    const before = structuredClone({ ...state, opened: null });
    const next = reduce(state, action);
    assert.deepEqual({ ...state, opened: null }, before, `${action.type} changed the state that it was given`);
    invariants(next);
    state = next;
  }
  return state;
}

/** What holds in every state. @param {PageState} state */
function invariants(state) {
  const { opened, step, pending, ahead, requests, waiting } = state;
  assert.ok(Number.isInteger(step) && step >= 0 && step < Math.max(1, opened?.count ?? 1), `step ${step}`);
  assert.ok(!pending || pending.id <= requests);
  assert.ok(ahead === null || pending !== null, "who waits has asked for something");
  assert.ok(!waiting || opened === null, "a program that waits to be run has no trace");
  assert.ok(isUpToDate(state) || opened !== null);
  assert.ok(addressStep(state) === null || opened === null || isCurrent(state));
  assert.deepEqual(Object.keys(state).sort(), KEYS);
}
const KEYS = Object.keys(
  initial({ source: "", traceUrl: null, trace: null, saved: null, devices: [] }, "stage"),
).sort();

/** The page's program after its run. */
const ran = () => after(opened(), arrived(1, trace("a\nb\nc")));
/** @param {number} id @param {any} trace @returns {Action} */
const arrived = (id, trace) => ({ type: "traceArrived", id, trace });
/** @param {string} text @returns {Action} */
const edited = (text) => ({ type: "programEdited", text });
/** @type {Action} */
const RUN = { type: "runRequested" };
/** @param {any} address @returns {Action} */
const link = (address) => ({ type: "linkOpened", address: { ...ADDRESS, ...address } });

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
  assert.ok(isSavedProgram(shown) && isUpToDate(shown));
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
  const open = (/** @type {any} */ address) =>
    after(initial(page, "stage"), { type: "pageOpened", address: { ...ADDRESS, source: "a", ...address } });
  assert.equal(open({}).pending?.reason, "page");
  assert.equal(open({ seed: "5" }).pending?.reason, "lookup");
  assert.equal(open({ source: "b" }).pending?.reason, "lookup");
});

test("the address of a page says step, selection and view", () => {
  const start = initial({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] }, "stage");
  const address = { ...ADDRESS, step: 1, selection: "handle:t1", view: /** @type {const} */ ("loom") };
  const state = after(start, { type: "pageOpened", address });
  assert.deepEqual([state.step, state.selection, state.view], [1, "handle:t1", "loom"]);
  assert.equal(after(start, { type: "pageOpened", address: { ...address, step: 99 } }).step, 2);
});

test("an address with a program shows that, and asks for the trace that the server may have", () => {
  const start = initial({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] }, "stage");
  const state = after(start, {
    type: "pageOpened",
    address: { ...ADDRESS, source: "other\r\nlines", step: 1, seed: "5" },
  });
  assert.equal(state.text, "other\nlines");
  assert.deepEqual(state.settings, { seed: 5 });
  assert.equal(state.opened, null);
  assert.ok(state.waiting && !isRunning(state));
  assert.equal(state.pending?.reason, "lookup");
  const there = after(state, arrived(1, trace("other\nlines", { seed: 5 })));
  assert.equal(there.step, 1);
  assert.ok(!there.waiting);
  const missing = after(state, { type: "traceMissing", id: 1 });
  assert.ok(missing.waiting && missing.pending === null);
  const run = after(missing, RUN, arrived(2, trace("other\nlines", { seed: 5 })));
  assert.equal(run.step, 1, "the step of the link waits for the run");
  assert.equal(run.requestedStep, null);
});

test("an address with the page's own program needs no other trace, unless its settings differ", () => {
  const start = initial({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] }, "stage");
  const own = after(start, { type: "pageOpened", address: { ...ADDRESS, source: "a", step: 0 } });
  assert.equal(own.pending, null);
  assert.equal(own.step, 0);
  const seeded = after(start, { type: "pageOpened", address: { ...ADDRESS, source: "a", seed: "3" } });
  assert.equal(seeded.pending?.reason, "lookup");
});

test("a broken address says so and shows the page's program", () => {
  const start = initial({ source: "a", traceUrl: null, trace: trace("a"), saved: null, devices: [] }, "stage");
  const state = after(start, { type: "pageOpened", address: { ...ADDRESS, broken: true } });
  assert.equal(state.problem?.key, "broken_link");
  assert.equal(state.opened?.count, 3);
  const later = after(ran(), link({ broken: true, step: null }));
  assert.equal(later.problem?.key, "broken_link");
  assert.equal(later.step, 2);
});

test("a trace replaces the text that it was asked for, and no other", () => {
  const clean = after(opened(), arrived(1, trace("a\nb")));
  assert.equal(clean.text, "a\nb");
  assert.ok(isCurrent(clean));
  const typed = after(opened(), edited("a\nb\nc # more"), arrived(1, trace("a\nb\nc")));
  assert.equal(typed.text, "a\nb\nc # more");
  assert.equal(typed.opened?.count, 3);
  assert.ok(!isCurrent(typed) && !isUpToDate(typed));
  assert.equal(addressStep(typed), null);
});

test("an answer to an older request changes nothing", () => {
  const state = after(opened(), edited("second"), RUN);
  assert.equal(state.pending?.id, 2);
  for (const late of /** @type {Action[]} */ ([
    arrived(1, trace("a\nb\nc")),
    { type: "runFailed", id: 1, problem: { key: "error_network" } },
    { type: "runQueued", id: 1, ahead: 4 },
    { type: "runStarted", id: 1 },
    { type: "traceMissing", id: 1 },
    { type: "runCancelled", id: 1 },
  ]))
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

test("steps stay within the trace, and the same step is the same state", () => {
  const state = ran();
  assert.equal(after(state, { type: "stepChosen", step: -5 }).step, 0);
  assert.equal(after(state, { type: "stepChosen", step: 99 }).step, 2);
  assert.equal(reduce(state, { type: "stepChosen", step: 2 }), state);
  assert.equal(after(opened(), { type: "stepChosen", step: 1 }).step, 0, "no trace, no step");
  assert.equal(after(opened(), arrived(1, trace("a", { steps: 0 })), { type: "stepChosen", step: 1 }).step, 0);
});

test("a line leads to where it next ran, while the editor shows that program", () => {
  const state = after(ran(), { type: "lineChosen", line: 1 });
  assert.equal(state.step, 0);
  assert.equal(reduce(state, { type: "lineChosen", line: 9 }), state);
  const other = after(state, edited("z"));
  assert.equal(reduce(other, { type: "lineChosen", line: 2 }), other);
});

test("a cell leads to the step that wrote it", () => {
  assert.equal(after(ran(), { type: "cellChosen", storage: "s1", index: 0, dtype: "float32" }).step, 0);
  const state = ran();
  assert.equal(reduce(state, { type: "cellChosen", storage: "s9", index: 0, dtype: "float32" }), state);
});

test("selection and view are kept through runs and steps", () => {
  const state = after(
    ran(),
    { type: "selectionChanged", key: "node:n1" },
    { type: "viewChosen", view: "loom" },
    RUN,
    arrived(2, trace("a\nb\nc")),
  );
  assert.deepEqual([state.selection, state.view], ["node:n1", "loom"]);
  assert.equal(reduce(state, { type: "selectionChanged", key: "node:n1" }), state);
  assert.equal(reduce(state, { type: "viewChosen", view: "loom" }), state);
  assert.equal(after(state, { type: "selectionChanged", key: null }).selection, null);
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

/** A loop whose second head comes after skipped iterations. @param {any} [rest] */
function looped(rest = {}) {
  const result = trace("for", { steps: 2, ...rest });
  result.steps[0] = { ...result.steps[0], kind: "head", iter: [1] };
  result.steps[1] = { ...result.steps[1], kind: "head", iter: [6], skipped: 9 };
  return result;
}

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

test("a plain run after one for an iteration is a plain run", () => {
  const state = after(opened({ source: "for" }), arrived(1, looped()), { type: "iterationRequested", index: 4 }, RUN);
  assert.equal(state.pending?.focus, null);
  assert.equal(state.pending?.reason, "run");
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

test("a program that is not repeatable says so", () => {
  const state = after(opened(), arrived(1, trace("a", { focus: { repeatable: false } })));
  assert.equal(state.problem?.key, "not_repeatable");
});

test("invariants hold whatever comes in whatever order", () => {
  let seed = 42;
  const random = (/** @type {number} */ n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const texts = ["a\nb\nc", "x", "for", "a\r\nb"];
  /** @type {((state: PageState) => Action)[]} */
  const some = [
    () => edited(texts[random(4)]),
    () => RUN,
    () => link({ source: texts[random(4)], step: random(5) }),
    () => link({ step: random(9), selection: "node:n1" }),
    () => link({ broken: true }),
    (state) => arrived(state.requests - random(2), random(3) ? trace(state.text, { steps: random(4) }) : looped()),
    (state) => ({ type: "runFailed", id: state.requests - random(2), problem: { key: "error_network" } }),
    (state) => ({ type: "runQueued", id: state.requests, ahead: random(3) }),
    (state) => ({ type: "traceMissing", id: state.requests }),
    (state) => ({ type: "runCancelled", id: state.requests }),
    () => ({ type: "stepChosen", step: random(7) - 2 }),
    () => ({ type: "lineChosen", line: random(5) }),
    () => ({ type: "settingsChanged", settings: { seed: random(3) } }),
    () => ({ type: "iterationRequested", index: random(6) }),
    () => ({ type: "elementsRequested", storage: "s1", at: random(900) }),
    () => ({ type: "viewChosen", view: random(2) ? "loom" : "stage" }),
  ];
  for (let round = 0; round < 60; round++) {
    let state = opened(random(2) ? { saved: SAVED, trace: trace("a\nb\nc", { seed: 7 }) } : {});
    for (let k = 0; k < 40; k++) state = after(state, some[random(some.length)](state));
  }
});

test("a store tells its listeners of changes alone, and keeps the order of what they dispatch", () => {
  const store = createStore((/** @type {number} */ state, /** @type {number} */ add) => state + add, 0);
  /** @type {[number, number][]} */
  const heard = [];
  store.subscribe((state) => state === 1 && store.dispatch(10));
  store.subscribe((state, before) => heard.push([before, state]));
  store.dispatch(0);
  store.dispatch(1);
  assert.deepEqual(heard, [
    [0, 1],
    [1, 11],
  ]);
  assert.equal(store.state(), 11);
});
