// The states of the page that its tests begin with, and the actions that lead on from them.

import assert from "node:assert/strict";
import { stepForAddress, doesTraceMatchText, isTraceUpToDate } from "../page_state/selectors.ts";
import { initialState, reduce } from "../page_state/page_state.ts";
import { storage } from "./entities.ts";
import type { Action } from "../page_state/actions.ts";
import type { PageState } from "../page_state/state.ts";

export const ADDRESS = {
  source: null,
  step: null,
  selection: null,
  view: null,
  seed: null,
  device: null,
  input: null,
  focus: null,
  broken: false,
};

/** A trace of so many steps, a line each; the last leaves a tensor. */
export function trace(
  source: string,
  { steps = 3, seed = 0, pasted = null, lines = [], printed = "", ...rest }: any = {},
): any {
  return {
    program: { source, pasted, lines, statements: [{ kind: "For" }], notices: [] },
    runtime: { seed, device: "cpu" },
    steps: Array.from({ length: steps }, (_, i) => ({
      i,
      kind: "statement",
      stmt: 0,
      line: i + 1,
      frame: "f1",
      set: i === 0 ? { s1: storage([1, 2]) } : i === steps - 1 ? { s2: storage([3]) } : {},
      gone: [],
      log: printed && i === steps - 1 ? [{ kind: "out", stream: "stdout", text: printed }] : [],
    })),
    outcome: { status: "finished" },
    ...rest,
  };
}

export const SAVED = {
  id: "abc",
  url: "/s/abc",
  title: "T",
  description: "",
  note: "",
  parent: null,
  settings: { seed: 7, device: "cpu", focus: null, input: "" },
};

/** A page that is open, as far as the actions lead. */
export function opened(page: any = {}, ...actions: Action[]) {
  const start = initialState({
    source: "a\nb\nc",
    traceUrl: null,
    trace: null,
    saved: null,
    devices: ["cpu"],
    draft: null,
    ...page,
  });
  return after(start, { type: "pageOpened", address: ADDRESS }, ...actions);
}

export function after(state: PageState, ...actions: Action[]) {
  for (const action of actions) {
    const before = structuredClone(withoutTraces(state));
    const next = reduce(state, action);
    assert.deepEqual(withoutTraces(state), before, `${action.type} changed the state that it was given`);
    invariants(next);
    state = next;
  }
  return state;
}

function withoutTraces(state: PageState) {
  const { growing } = state;
  return { ...state, opened: null, growing: growing && { ...growing, before: null } };
}

/** What holds in every state. */
function invariants(state: PageState) {
  const { opened, step, pending, ahead, requests, waiting } = state;
  assert.ok(Number.isInteger(step) && step >= 0 && step < Math.max(1, opened?.count ?? 1), `step ${step}`);
  assert.ok(!pending || pending.id <= requests);
  assert.ok(ahead === null || pending !== null, "who waits has asked for something");
  assert.equal(state.growing !== null, opened?.trace.outcome.status === "running", "only a pending run grows");
  assert.ok(!state.growing || pending !== null);
  assert.ok(!waiting || opened === null, "a program that waits to be run has no trace");
  assert.ok(isTraceUpToDate(state) || opened !== null);
  assert.ok(stepForAddress(state) === null || opened === null || doesTraceMatchText(state));
  assert.deepEqual(Object.keys(state).sort(), KEYS);
}

const KEYS = Object.keys(
  initialState({ source: "", traceUrl: null, trace: null, saved: null, devices: [], draft: null }),
).sort();

/** The page's program after its run. */
export const ran = () => after(opened(), arrived(1, trace("a\nb\nc")));
export const arrived = (id: number, trace: any): Action => ({ type: "traceArrived", id, trace });
export const grown = (id: number, trace: any): Action => ({
  type: "stepsArrived",
  id,
  trace: { ...trace, outcome: { status: "running" } },
});
export const edited = (text: string): Action => ({ type: "programEdited", text });
export const RUN: Action = { type: "runRequested" };
export const link = (address: any): Action => ({ type: "linkOpened", address: { ...ADDRESS, ...address } });

/** A loop whose second head comes after skipped iterations. */
export function looped(rest: any = {}) {
  const result = trace("for", { steps: 2, ...rest });
  result.steps[0] = { ...result.steps[0], kind: "head", iter: [1] };
  result.steps[1] = { ...result.steps[1], kind: "head", iter: [6], skipped: 9 };
  return result;
}
