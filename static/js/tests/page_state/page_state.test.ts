import assert from "node:assert/strict";
import { test } from "node:test";
import { reduce } from "../../page_state/page_state.ts";
import { createStore } from "../../browser/store.ts";
import { RUN, SAVED, after, arrived, edited, grown, link, looped, opened, ran, trace } from "../page_states.ts";
import { createRandom } from "../random.ts";
import type { Action } from "../../page_state/actions.ts";
import type { PageState } from "../../page_state/state.ts";

test("steps stay within the trace, and the same step is the same state", () => {
  const state = after(ran(), { type: "stepChosen", step: 2 });
  assert.equal(after(state, { type: "stepChosen", step: -5 }).step, 0);
  assert.equal(after(state, { type: "stepChosen", step: 99 }).step, 2);
  assert.equal(reduce(state, { type: "stepChosen", step: 2 }), state);
  assert.equal(after(opened(), { type: "stepChosen", step: 1 }).step, 0, "no trace, no step");
  assert.equal(after(opened(), arrived(1, trace("a", { steps: 0 })), { type: "stepChosen", step: 1 }).step, 0);
});

test("who goes to the step where the page landed stays there when something is found", () => {
  const landed = ran();
  assert.ok(landed.opened && landed.landing !== null);
  const found: Action = { type: "findingMade", trace: landed.opened.trace, step: 0 };
  assert.equal(after(landed, found).step, 0);
  assert.equal(after(landed, { type: "stepChosen", step: landed.step }, found).step, landed.step);
  assert.equal(after(landed, { type: "pictureUsed" }, found).step, landed.step);
});

test("a training opens as a whole run, unless it raised, a finding leads on, or its reader or a link chose otherwise", () => {
  const training = (rest = {}) => trace("a\nb\nc", { rounds: { count: 2, losses: [] }, ...rest });
  const landed = after(opened(), arrived(1, training()));
  assert.equal(landed.view, "run");
  const found = after(landed, { type: "findingMade", trace: landed.opened?.trace as any, step: 0 });
  assert.deepEqual([found.view, found.step], ["step", 0]);
  const chosen = after(landed, { type: "viewChosen", view: "step" }, RUN, arrived(2, training()));
  assert.equal(chosen.view, "step");
  const raised = training({ outcome: { status: "raised", error: { step: 1, line: 2 } } });
  const again = after(landed, { type: "viewChosen", view: "run" }, RUN, arrived(2, raised));
  assert.deepEqual([again.view, again.step], ["step", 1]);
  assert.equal(after(ran(), link({ source: "d", view: "run" }), arrived(2, raised)).view, "run");
  assert.equal(after(ran(), link({ source: "d", step: 1, view: "step" }), arrived(2, training())).view, "step");
});

test("the view of an address holds for its program, and another program lands by itself", () => {
  const training = () => trace("a\nb\nc", { rounds: { count: 2, losses: [] } });
  const linked = after(ran(), link({ source: "d", step: 1, view: "step" }), arrived(2, trace("d")));
  assert.equal(linked.view, "step");
  assert.equal(after(linked, edited("a\nb\nc"), RUN, arrived(3, training())).view, "run");
  const chosen = after(linked, { type: "viewChosen", view: "run" }, { type: "viewChosen", view: "step" });
  assert.equal(after(chosen, edited("a\nb\nc"), RUN, arrived(3, training())).view, "step", "its reader chose it");
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
    { type: "viewChosen", view: "run" },
    RUN,
    arrived(2, trace("a\nb\nc")),
  );
  assert.deepEqual([state.selection, state.view], ["node:n1", "run"]);
  assert.equal(reduce(state, { type: "selectionChanged", key: "node:n1" }), state);
  assert.equal(reduce(state, { type: "viewChosen", view: "run" }), state);
  assert.equal(after(state, { type: "selectionChanged", key: null }).selection, null);
});

test("the steps of a run that goes on are shown as they arrive, and its reader goes on with them", () => {
  const before = after(ran(), edited("p\nq"), RUN);
  const growing = after(before, grown(2, trace("p\nq", { steps: 2 })));
  assert.deepEqual([growing.opened?.count, growing.step, growing.view], [2, 1, "step"]);
  const more = after(growing, grown(2, trace("p\nq", { steps: 4 })));
  assert.deepEqual([more.opened?.count, more.step], [4, 3]);
  assert.equal(reduce(more, { type: "viewChosen", view: "run" }), more, "there is no whole run yet");
  assert.equal(reduce(more, grown(1, trace("p\nq"))), more, "steps of a run that was replaced");
  const ended = after(more, arrived(2, trace("p\nq", { steps: 5, rounds: { count: 2, losses: [] } })));
  assert.deepEqual([ended.opened?.count, ended.view, ended.growing], [5, "run", null], "it lands as any other");
});

test("who looks at an earlier step of a run that goes on stays there", () => {
  const growing = after(ran(), RUN, grown(2, trace("a\nb\nc", { steps: 3 })), { type: "stepChosen", step: 1 });
  const more = after(growing, grown(2, trace("a\nb\nc", { steps: 6 })));
  assert.deepEqual([more.opened?.count, more.step], [6, 1]);
  const ended = after(more, arrived(2, trace("a\nb\nc", { steps: 7, rounds: { count: 2, losses: [] } })));
  assert.deepEqual([ended.step, ended.view], [1, "step"]);
});

test("a run that comes to nothing leaves what was shown before its steps", () => {
  const before = after(ran(), { type: "stepChosen", step: 1 });
  const growing = after(before, RUN, grown(2, trace("a\nb\nc", { steps: 9 })));
  const ends: Action[] = [
    { type: "runFailed", id: 2, problem: { key: "error_network" } },
    { type: "runCancelled", id: 2 },
    arrived(2, trace("a\nb\nc", { steps: 0, outcome: { status: "lost" } })),
  ];
  for (const end of ends) {
    const ended = after(growing, end);
    assert.deepEqual([ended.opened, ended.step, ended.growing], [before.opened, 1, null], end.type);
  }
  assert.equal(after(growing, RUN).opened, before.opened, "another run is asked for");
});

test("invariants hold whatever comes in whatever order", () => {
  const next = createRandom(42);
  const random = (n: number) => Math.floor(next() * n);
  const texts = ["a\nb\nc", "x", "for", "a\r\nb"];
  const some: ((state: PageState) => Action)[] = [
    () => edited(texts[random(4)]),
    () => RUN,
    () => link({ source: texts[random(4)], step: random(5) }),
    () => link({ step: random(9), selection: "node:n1" }),
    () => link({ broken: true }),
    (state) => arrived(state.requests - random(2), random(3) ? trace(state.text, { steps: random(4) }) : looped()),
    (state) => ({ type: "runFailed", id: state.requests - random(2), problem: { key: "error_network" } }),
    (state) => grown(state.requests - random(2), trace(state.text, { steps: random(4) })),
    (state) => ({ type: "runQueued", id: state.requests, ahead: random(3) }),
    (state) => ({ type: "traceMissing", id: state.requests }),
    (state) => ({ type: "runCancelled", id: state.requests }),
    () => ({ type: "stepChosen", step: random(7) - 2 }),
    () => ({ type: "lineChosen", line: random(5) }),
    () => ({ type: "settingsChanged", settings: { seed: random(3) } }),
    () => ({ type: "iterationRequested", index: random(6) }),
    () => ({ type: "elementsRequested", storage: "s1", at: random(900) }),
    () => ({ type: "viewChosen", view: random(2) ? "run" : "step" }),
    () => ({ type: "pageProgramChosen", stopsBefore: "" }),
  ];
  for (let round = 0; round < 60; round++) {
    let state = opened(random(2) ? { saved: SAVED, trace: trace("a\nb\nc", { seed: 7 }) } : {});
    for (let k = 0; k < 40; k++) state = after(state, some[random(some.length)](state));
  }
});

test("a store tells its listeners of changes alone, and keeps the order of what they dispatch", () => {
  const store = createStore((state: number, add: number) => state + add, 0);
  const heard: [number, number][] = [];
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
