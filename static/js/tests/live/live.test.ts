import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonLanguage } from "@codemirror/lang-python";
import { firstSyntaxErrorPosition } from "../../editor/unfinished_line.ts";
import { commonLines, stepAfterEdit, lineAfterEdit } from "../../trace/steps/step_after_edit.ts";
import { resultHandling } from "../../live/result_handling.ts";
import { firstChangedStep, entitiesChangedBetweenSteps } from "../../live/outdated_parts.ts";
import {
  advanceSchedule,
  DEBOUNCE_MS,
  initialLiveSchedule,
  timeOfNextTick,
  READER_RESTS_AFTER_MS,
  type ScheduleEvent,
  type LiveSchedule,
  type ResultHandling,
} from "../../live/schedule.ts";
import { openTrace } from "../../trace/state.ts";
import { after, edited, ran, trace } from "../page_states.ts";

/** A page that types, a server that answers when it likes, and what the schedule makes of it. */
class World {
  schedule: LiveSchedule;
  now = 0;
  seed: number;
  text = 0;
  shown = 0;
  flying: { id: number; at: number; text: number; event: "answered" | "failed"; verdict: ResultHandling }[] = [];
  held: { text: number; verdict: string } | null = null;
  log: string[] = [];

  constructor(seed = 1) {
    this.schedule = initialLiveSchedule(true);
    this.seed = seed;
  }

  random() {
    this.seed = (this.seed * 48271) % 2147483647;
    return this.seed / 2147483647;
  }

  happen(event: ScheduleEvent) {
    const { state, effects } = advanceSchedule(this.schedule, event, this.now);
    this.schedule = state;
    for (const effect of effects) {
      this.log.push(`${effect} ${this.text}`);
      if (effect === "send") this.answerLater(state.asked?.id ?? 0);
      if (effect === "show") {
        assert.ok((this.held?.text ?? 0) >= this.shown, "nothing older comes after");
        this.shown = this.held?.text ?? 0;
      }
    }
  }

  /** An aborted request may be answered all the same. */
  answerLater(id: number) {
    const event = this.random() < 0.1 ? "failed" : "answered";
    const verdict = this.random() < 0.2 ? "rest" : "show";
    this.flying.push({ id, at: this.now + this.random() * 900, text: this.text, event, verdict });
  }

  type(isUnfinished = false) {
    this.text += 1;
    this.happen({ type: "edited", isCurrent: false, isUnfinished });
  }

  /** Let time pass. */
  wait(ms: number) {
    const until = this.now + ms;
    for (let guard = 0; guard < 10_000; guard++) {
      const tick = timeOfNextTick(this.schedule) ?? Number.POSITIVE_INFINITY;
      const answer = [...this.flying].sort((a, b) => a.at - b.at)[0];
      const next = Math.max(this.now, Math.min(tick, answer?.at ?? Number.POSITIVE_INFINITY));
      if (next > until) break;
      this.now = next;
      if (answer && answer.at <= tick) this.receive(answer);
      else this.happen({ type: "ticked" });
    }
    this.now = until;
  }

  receive(answer: World["flying"][0]) {
    this.flying.splice(this.flying.indexOf(answer), 1);
    const { id, text, verdict } = answer;
    if (id === this.schedule.asked?.id) this.held = { text, verdict };
    if (answer.event === "answered") this.happen({ type: "answered", id, verdict });
    else this.happen({ type: "failed", id, problem: { key: "error_limited" }, retryAfter: 400 });
  }
}

test("however answers are delayed, the last text is the one that is shown in the end, and never an older one later", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const world = new World(seed);
    const keys = 1 + Math.floor(world.random() * 25);
    for (let k = 0; k < keys; k++) {
      world.type(world.random() < 0.3);
      world.wait(world.random() * 400);
    }
    world.wait(20_000);
    assert.equal(world.shown, world.text, `seed ${seed}: ${world.log.join(", ")}`);
    assert.equal(timeOfNextTick(world.schedule), null, "and then nothing is asked any more");
  }
});

test("a text is sent after a pause between keys, and one that is superseded is given up", () => {
  const world = new World();
  world.type();
  world.wait(DEBOUNCE_MS - 1);
  world.type();
  world.wait(DEBOUNCE_MS - 1);
  assert.deepEqual(world.log, []);
  world.wait(2);
  world.type();
  assert.deepEqual(world.log, ["send 2", "abort 3"]);
});

test("a text that looks unfinished waits until its reader rests, and is tried then", () => {
  const world = new World();
  world.type(true);
  world.wait(READER_RESTS_AFTER_MS - 1);
  assert.deepEqual(world.log, []);
  world.wait(2);
  assert.deepEqual(world.log, ["send 1"]);
});

test("what raises is shown once its reader rests, what is refused is told then", () => {
  for (const verdict of ["rest", "tell"] as const) {
    let schedule = initialLiveSchedule(true);
    const step = (event: ScheduleEvent, now: number) => {
      const { state, effects } = advanceSchedule(schedule, event, now);
      schedule = state;
      return effects;
    };
    step({ type: "edited", isCurrent: false, isUnfinished: false }, 0);
    assert.deepEqual(step({ type: "ticked" }, DEBOUNCE_MS), ["send"]);
    assert.deepEqual(step({ type: "answered", id: 1, verdict }, 100), []);
    assert.equal(schedule.isTold, false, "quiet while typing");
    assert.deepEqual(step({ type: "ticked" }, READER_RESTS_AFTER_MS), verdict === "rest" ? ["show"] : []);
    assert.equal(schedule.isTold, verdict === "tell");
    assert.equal(timeOfNextTick(schedule), null);
  }
});

test("a slow program is run less often, and a server that is busy is asked when it says", () => {
  let { state } = advanceSchedule(
    initialLiveSchedule(true),
    { type: "edited", isCurrent: false, isUnfinished: false },
    0,
  );
  ({ state } = advanceSchedule(state, { type: "ticked" }, 50));
  ({ state } = advanceSchedule(state, { type: "answered", id: 1, verdict: "show" }, 1050));
  ({ state } = advanceSchedule(state, { type: "edited", isCurrent: false, isUnfinished: false }, 2000));
  assert.equal(state.due, 2000 + 1000 - 120);
  ({ state } = advanceSchedule(state, { type: "ticked" }, 3000));
  ({ state } = advanceSchedule(state, { type: "failed", id: 2, problem: { key: "x" }, retryAfter: 5000 }, 3100));
  assert.equal(state.due, 8100);
  ({ state } = advanceSchedule(state, { type: "edited", isCurrent: false, isUnfinished: false }, 3200));
  const { effects } = advanceSchedule(state, { type: "ticked" }, 5000);
  assert.deepEqual(effects, [], "a key does not make it ask sooner");
});

test("off, nothing is sent; switched on, a text that differs is; back at the picture's text, nothing is", () => {
  const typed = { type: "edited", isCurrent: false, isUnfinished: false } as const;
  const off = advanceSchedule(initialLiveSchedule(false), typed, 0).state;
  assert.equal(timeOfNextTick(off), null);
  const on = advanceSchedule(off, { type: "switched", on: true }, 10).state;
  assert.deepEqual(advanceSchedule(on, { type: "ticked" }, 10).effects, ["send"]);
  const back = advanceSchedule(on, { ...typed, isCurrent: true }, 20).state;
  assert.equal(timeOfNextTick(back), null);
  const asked = advanceSchedule(on, { type: "ticked" }, 10).state;
  assert.deepEqual(
    advanceSchedule(asked, { type: "replaced" }, 20).effects,
    ["abort"],
    "a run by its button comes before",
  );
});

test("lines keep their place around what was edited", () => {
  const common = commonLines("a\nb\nc\nd", "a\nx\ny\nc\nd");
  assert.deepEqual(common, { head: 1, tail: 2, before: 4, after: 5 });
  assert.deepEqual(
    [1, 2, 3, 4].map((line) => lineAfterEdit(common, line)),
    [1, 2, 4, 5],
  );
  assert.equal(lineAfterEdit(commonLines("a", ""), 1), 1);
});

function at(source: string, lines: number[], rest: any = {}) {
  const made = trace(source, { steps: lines.length, ...rest });
  made.steps.forEach((step: any, i: number) => {
    step.line = lines[i];
  });
  return made;
}

test("the step stays at its statement, in its iteration, and the end stays the end", () => {
  const loop = at("for k in x:\n    a\n    b\nc", [1, 2, 3, 1, 2, 3, 4]);
  const longer = at("new\nfor k in x:\n    a\n    b\nc", [1, 2, 3, 4, 2, 3, 4, 5]);
  assert.equal(stepAfterEdit(loop, longer, 4), 5, "the second time at `a`");
  assert.equal(stepAfterEdit(loop, longer, 6), 7);
  assert.equal(
    stepAfterEdit(at("a\nb\nc", [1, 2, 3]), at("a\nc", [1, 2]), 1),
    0,
    "of what was taken out, at the one before",
  );
  assert.equal(stepAfterEdit(at("a\nb\nc", [1, 2, 3]), at("a\nb\nif 0:\n    z\nc", [1, 2, 3, 5]), 0), 0);
  assert.equal(stepAfterEdit(null, loop, 0), null);
  assert.equal(
    stepAfterEdit(loop, at("a", [1], { outcome: { status: "raised" } }), 0),
    null,
    "an error is opened at its step",
  );
});

test("an answer is shown where its text is still the one, and nothing else was asked for", () => {
  const state = after(ran(), edited("z\ny"));
  const answer = { source: "z\ny", settings: state.settings, trace: trace("z\ny", { steps: 2 }) };
  const shown = after(state, { type: "liveAnswered", ...answer });
  assert.equal(shown.opened?.trace, answer.trace);
  assert.equal(after(state, edited("other"), { type: "liveAnswered", ...answer }).opened, state.opened);
  const asked = after(state, { type: "runRequested" });
  assert.equal(after(asked, { type: "liveAnswered", ...answer }).opened, state.opened);
  assert.equal(
    after(state, { type: "settingsChanged", settings: { seed: 9 } }, { type: "liveAnswered", ...answer }).opened,
    state.opened,
  );
});

test("with Live a changed card asks for no run of its own, and the answer to its text is opened at it", () => {
  const live = after(ran(), { type: "liveSwitched", on: true }, { type: "stepChosen", step: 1 });
  const changed = after(live, edited("a\nb\nx\nc"), { type: "cardChanged", line: 3 });
  assert.equal(changed.pending, null);
  const { settings } = changed;
  const answer = { source: "a\nb\nx\nc", settings, trace: trace("a\nb\nx\nc", { steps: 4 }) };
  const shown = after(changed, { type: "liveAnswered", ...answer });
  assert.equal(shown.step, 2);
  assert.equal(shown.cardLine, null);
  assert.equal(after(changed, edited("a\nb\nx\nc")).cardLine, null, "who types on stays where he is");
  const running = after(live, edited("z"), { type: "runRequested" }, { type: "cardChanged", line: 1 });
  assert.equal(running.pending?.reason, "card", "a run that goes on would keep it waiting");
  assert.equal(after(ran(), edited("z"), { type: "cardChanged", line: 1 }).pending?.reason, "card");
});

test("a picture gives way to what finished at once, to what raised later, to a refusal never", () => {
  const good = trace("a");
  const of = (status: string) => trace("b", { outcome: { status } });
  assert.equal(resultHandling(of("finished"), "b", good), "show");
  assert.equal(resultHandling(of("finished"), "b\n>>>", good), "rest", "a text that was tidied");
  assert.deepEqual(
    ["raised", "refused", "stopped", "crashed", "lost"].map((status) => resultHandling(of(status), "b", good)),
    ["rest", "tell", "tell", "tell", "tell"],
  );
  assert.equal(resultHandling(of("refused"), "b", null), "rest", "there is no picture to keep");
  assert.equal(resultHandling(of("stopped"), "b", of("stopped")), "rest");
});

test("older is what the line that differs or a later one made; a block counts as a whole", () => {
  const made = at("a\nb\nfor k in x:\n    c\n    d\ne", [1, 2, 3, 4, 5, 6]);
  made.program.statements = [
    { line: 1, end_line: 1, parent: null },
    { line: 2, end_line: 2, parent: null },
    { line: 3, end_line: 5, parent: null },
    { line: 4, end_line: 4, parent: 2 },
    { line: 6, end_line: 6, parent: null },
  ];
  const text = (line: number, to: string) =>
    made.program.source
      .split("\n")
      .map((old: string, k: number) => (k === line - 1 ? to : old))
      .join("\n");
  assert.deepEqual(firstChangedStep(made, text(2, "bb")), { line: 2, step: 1 });
  assert.deepEqual(firstChangedStep(made, text(5, "    dd")), { line: 5, step: 2 }, "the loop from its head");
  assert.deepEqual(firstChangedStep(made, `${made.program.source}\nf`), { line: 7, step: 6 });
  made.steps[1].set = { t1: { kind: "tensor" }, s1: { held_by: ["t1"] }, f1: { vars: { b: { ref: "t1" } } } };
  made.steps[0].set.f1 = { kind: "frame", vars: {} };
  const { uids, names } = entitiesChangedBetweenSteps(openTrace(made), 1, 3);
  assert.deepEqual([[...uids], [...names]], [["t1"], ["f1/b"]], "a name more changes no memory");
});

test("the grammar's errors that are none of Python's are not unfinished", () => {
  const first = (text: string) =>
    firstSyntaxErrorPosition(pythonLanguage.parser.parse(text), (from, to) => text.slice(from, to));
  for (const text of ["x = [1., 2.]\n", "f(1., a=3.)\n", "def f():\n    yield\n", "y = x @ w\n"])
    assert.equal(first(text), null, text);
  assert.equal(first("y = 1.\nz = y.\n"), 13);
  assert.equal(first("x = (1,\n"), 8);
  assert.equal(first("z = y1.\n"), 7);
});
