// Predict mode: what it asks is true of the trace, and the page's state knows nothing of what is hidden.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { stepHeading } from "../../captions/captions.ts";
import { bundledLocale } from "../../words/locale.ts";
import { initialState, reduce } from "../../page_state/page_state.ts";
import { hasHiddenSteps, truncateTrace } from "../../trace/steps/truncated_trace.ts";
import { questionBeforeNextStep, areStepsHidden, scoreOfAnswers } from "../../page_state/predict_mode.ts";
import { isTypedAnswerRight } from "../../page_state/predict_question.ts";
import { questionsOf } from "../../predict/questions.ts";
import { openTrace } from "../../trace/state.ts";
import { ADDRESS } from "../page_states.ts";
import { assertTrue } from "./predict_truth.ts";

const golden = (name: string) => JSON.parse(readFileSync(`tests/golden/${name}.json`, "utf8"));
const names = readdirSync("tests/golden").flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? []);

for (const name of names)
  test(`the answers to what is asked of ${name} are right`, () => {
    const trace = golden(name);
    const questions = questionsOf(openTrace(trace));
    for (const question of questions) assertTrue(trace, question);
    assert.ok(
      questions.length >= 2 || ["calls_and_frames", "lists_and_copies", "own_function_and_hook"].includes(name),
    );
    assert.deepEqual(
      [...questions].sort((a, b) => a.at - b.at),
      questions,
      "in the order of the run",
    );
    assert.equal(new Set(questions.map(({ at }) => at)).size, questions.length, "one at a time");
  });

test("all kinds of questions are asked, each where it is about the statement", () => {
  const asked = (name: string) =>
    questionsOf(openTrace(golden(name))).map(({ line, kind, what, choices, right }) => [
      line,
      kind,
      what,
      choices[right].text,
    ]);
  assert.deepEqual(asked("clone_and_detach"), [
    [4, "shares", "b", "no"],
    [5, "shares", "c", "yes"],
    [6, "value", "a[0]", "8"],
    [7, "grad", "b.grad", "None"],
  ]);
  assert.deepEqual(asked("accumulate_twice"), [
    [5, "grad", "w.grad", "1"],
    [5, "grad", "w.grad", "3"],
    [7, "grad", "w.grad", "None"],
  ]);
  assert.deepEqual(asked("saved_then_written").at(-1), [6, "raises", "", "yes"]);
  assert.deepEqual(asked("paths_that_end")[0], [5, "leaf", "a", "yes"]);
  assert.ok(
    asked("silently_wrong").some(([, kind, what, text]) => kind === "version" && what === "x" && text === "v0"),
  );
});

test("a number that is typed counts however it is written", () => {
  const question = { number: -0.5 } as any;
  for (const text of ["-0.5", " −0,5 ", "-.5", "-5e-1"]) assert.ok(isTypedAnswerRight(question, text), text);
  for (const text of ["", "0.5", "x", "-0.51"]) assert.ok(!isTypedAnswerRight(question, text), text);
});

test("a trace up to a step has nothing of the steps after it", () => {
  const trace = golden("saved_then_written");
  const part = truncateTrace(trace, 3);
  assert.ok(hasHiddenSteps(part) && !hasHiddenSteps(trace));
  assert.deepEqual([part.steps.length, part.outcome], [4, { status: "finished" }]);
  assert.ok(!JSON.stringify(part).includes("inplace operation"));
  assert.equal(truncateTrace(trace, trace.steps.length - 1), trace);
  assert.equal(truncateTrace(trace, 7).outcome.error?.step, 7, "once it has raised, that is known");
  assert.match(stepHeading(part, 3, bundledLocale("en").say).at, /^Step 4 of \? /);
});

/** A page that predicts a golden trace. */
function predicting(name: string, ...actions: any[]) {
  const trace = golden(name);
  const page = {
    source: trace.program.source,
    traceUrl: null,
    trace,
    saved: null,
    devices: [],
    draft: null,
    predicts: true,
  };
  let state = reduce(initialState(page), { type: "pageOpened", address: ADDRESS });
  const whole = (state.predict as any).whole;
  state = reduce(state, { type: "questionsMade", whole, questions: questionsOf(whole), kept: null });
  for (const action of actions) state = reduce(state, action);
  return { state, whole };
}

const next = (state: any) => reduce(state, { type: "stepChosen", step: state.step + 1 });

test("stepping stops before what is asked, and an answer shows it", () => {
  let { state, whole } = predicting("clone_and_detach");
  assert.deepEqual([state.opened?.count, state.step, state.predict?.reached], [1, 0, 0]);
  state = next(state);
  assert.deepEqual([state.step, questionBeforeNextStep(state.predict)?.what], [1, "b"]);
  const stopped = next(state);
  assert.deepEqual([stopped.step, stopped.opened?.count, stopped.predict?.nudges], [1, 2, 1], "it has to be answered");
  state = reduce(stopped, { type: "predictionMade", given: { choice: 1 } });
  assert.deepEqual([state.step, state.opened?.count, state.selection], [2, 3, "handle:t2"]);
  assert.deepEqual(scoreOfAnswers(state.predict?.answers ?? []), { right: 0, asked: 1 });
  assert.equal(questionBeforeNextStep(state.predict), null, "the answer is read first");
  state = next(state);
  assert.deepEqual([state.step, questionBeforeNextStep(state.predict)?.what], [2, "c"]);
  state = reduce(state, { type: "predictionMade", given: { choice: 1 } });
  state = reduce(state, { type: "predictContinued" });
  state = reduce(state, { type: "predictionMade", given: null });
  assert.deepEqual(
    state.predict?.answers.map(({ isRight, isSkipped }) => [isRight, isSkipped]),
    [
      [false, false],
      [true, false],
      [false, true],
    ],
  );
  state = reduce(reduce(state, { type: "predictContinued" }), { type: "predictionMade", given: { choice: 0 } });
  assert.deepEqual([state.step, areStepsHidden(state.predict)], [whole.count - 1, false]);
  assert.equal(state.opened, whole, "at the end all is shown");
});

test("whoever leaves sees everything where he is; whoever comes back begins again or goes on", () => {
  const { state, whole } = predicting("clone_and_detach", { type: "predictContinued" });
  const left = reduce(state, { type: "predictSwitched", on: false });
  assert.deepEqual([left.opened === whole, left.step, left.predict], [true, 1, null]);
  const again = reduce(left, { type: "predictSwitched", on: true });
  assert.deepEqual([again.opened?.count, again.step], [1, 0]);
  const kept = { answers: [{ at: 1, text: "yes", isRight: false, isSkipped: false }], reached: 2 };
  const resumed = reduce(again, { type: "questionsMade", whole, questions: questionsOf(whole), kept });
  assert.deepEqual([resumed.step, resumed.opened?.count, questionBeforeNextStep(resumed.predict)?.what], [2, 3, "c"]);
  const restarted = reduce(resumed, { type: "predictRestarted" });
  assert.deepEqual([restarted.step, restarted.predict?.answers, restarted.opened?.count], [0, [], 1]);
});

test("in predict mode nothing else brings hidden steps, and Live rests", () => {
  const { state } = predicting("clone_and_detach");
  for (const action of [
    { type: "stepChosen", step: -1 },
    { type: "lineChosen", line: 7 },
    { type: "questionAsked", uid: "t1" },
    { type: "elementsRequested", storage: "s1", at: 0 },
    { type: "linkOpened", address: { ...ADDRESS, step: 5 } },
  ] as any[]) {
    const after = reduce(state, action);
    assert.ok((after.opened as any).count <= 2 && !after.question && !after.pending, action.type);
  }
  const live = reduce(reduce(state, { type: "predictSwitched", on: false }), { type: "liveSwitched", on: true });
  const on = reduce(live, { type: "predictSwitched", on: true });
  assert.deepEqual([on.isLive, reduce(on, { type: "predictSwitched", on: false }).isLive], [false, true]);
});

test("another run of a program in predict mode is hidden as well", () => {
  const { state } = predicting("clone_and_detach", { type: "runRequested" });
  const after = reduce(state, { type: "traceArrived", id: state.requests, trace: golden("saved_then_written") });
  assert.deepEqual([after.step, after.opened?.count, after.predict?.questions], [0, 1, null]);
});

test("a link leads into predict mode at its step", () => {
  const trace = golden("clone_and_detach");
  const page = { source: trace.program.source, traceUrl: null, trace, saved: null, devices: [], draft: null };
  const state = reduce(initialState(page), {
    type: "pageOpened",
    address: { ...ADDRESS, step: 3, predict: true },
  });
  assert.deepEqual([state.opened?.count, state.step, state.predict?.reached], [4, 3, 3]);
});
