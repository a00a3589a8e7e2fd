/** What moves from a step to the next: told by both drawings, and nothing else moves. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { buildStageModel, PANE_HEADING_HEIGHT, planStage, type PaneSide } from "../../layout/stage_plan.ts";
import { stageMarks } from "../../marks/stage_marks.ts";
import { describeMotion, type Motion } from "../../stage/motion/describe.ts";
import type { StageDrawing } from "../../stage/motion/drawing.ts";
import { pathPoints, pathUpTo } from "../../stage/motion/path.ts";
import { changeOfStep } from "../../stage/motion/step_change.ts";
import { openTrace, type OpenTrace } from "../../trace/state.ts";
import { vnodeToSvg, type VNode } from "../../browser/svg.ts";
import { ref, storage, counter, frame, tensor, trace, vars } from "../entities.ts";

const SIZE = { w: 1100, h: 620 };

function golden(name: string): OpenTrace {
  return openTrace(JSON.parse(readFileSync(`tests/golden/${name}.json`, "utf8")));
}

function drawingOf(opened: OpenTrace, i: number): StageDrawing {
  const plan = planStage(buildStageModel(opened), i, SIZE);
  const marks = stageMarks(plan);
  const pane = (side: PaneSide, x: number) => {
    const body = marks[side]?.body;
    return body ? { body, x, y: PANE_HEADING_HEIGHT } : null;
  };
  return { memory: pane("memory", 0), graph: pane("graph", plan.widths.memory) };
}

function motionsTo(opened: OpenTrace, i: number, from = i - 1): Motion[] {
  return describeMotion(drawingOf(opened, from), drawingOf(opened, i), changeOfStep(opened, from, i));
}

function kindsOf(motions: Motion[]) {
  return [...new Set(motions.map(({ kind }) => kind))].sort();
}

/** The first step that does something. */
function stepThat(opened: OpenTrace, does: (i: number) => boolean): number {
  const i = [...Array(opened.count).keys()].find(does);
  assert.notEqual(i, undefined, "the run has such a step");
  return i as number;
}

function elementAt(drawing: StageDrawing, { pane, path }: { pane: PaneSide; path: number[] }): VNode {
  const [first, ...rest] = path;
  return rest.reduce((node, k) => node.children[k], drawing[pane]?.body[first] as VNode);
}

/** a = [1, 2, 4]; a[0] = 8; print(); b = [5]; a = b; del b's old tensor */
function written() {
  return openTrace(
    trace("a = torch.tensor([1., 2., 4.])\na[0] = 8\nprint()\nb = torch.tensor([5.])\na = b\n", [
      {
        set: {
          f1: frame({ a: ref("t1") }),
          s1: storage([1, 2, 4]),
          c1: counter(),
          t1: tensor({ shape: [3], stride: [1] }),
        },
      },
      { set: { s1: { cells_at: { float32: { 0: 8 } } } } },
      { set: {} },
      {
        set: {
          s2: storage([5]),
          c2: counter(),
          t2: tensor({ storage: "s2", counter: "c2", shape: [1], stride: [1] }),
          f1: vars({ b: ref("t2") }),
        },
      },
      { set: { f1: vars({ a: ref("t2") }) }, gone: ["t1", "c1", "s1"] },
    ] as any),
  );
}

test("a written cell turns: the old number shrinks to nothing, then the new one grows", () => {
  const opened = written();
  const motions = motionsTo(opened, 1);
  assert.deepEqual(kindsOf(motions), ["written"]);
  assert.deepEqual([...new Set(motions.map(({ of }) => of))], ["s1:0"], "no other cell turns");
  const copy = motions.find(({ mover }) => "copy" in mover);
  const [number] = motions.filter(({ mover }) => "drawn" in mover).slice(-1);
  assert.ok(copy && "copy" in copy.mover && "drawn" in number.mover);
  assert.match(vnodeToSvg(copy.mover.copy), />1</, "the old number");
  assert.doesNotMatch(vnodeToSvg(copy.mover.copy), /data-|role=|tabindex/, "nobody finds the copy");
  assert.equal(elementAt(drawingOf(opened, 1), number.mover.drawn).text, "8");
  const heights = (motion: Motion) => motion.frames.map(({ at, scale }) => [at, scale?.[1]]);
  assert.deepEqual(heights(copy), [
    [0, 1],
    [0.5, 0],
    [1, 0],
  ]);
  assert.deepEqual(heights(number), [
    [0, 0],
    [0.5, 0],
    [1, 1],
  ]);
  assert.ok(motions.every(({ duration }) => duration === 180));
});

test("a print moves nothing", () => {
  assert.deepEqual(motionsTo(written(), 2), []);
});

test("a rebound name slides to its new tensor, and what it meant fades", () => {
  const motions = motionsTo(written(), 4);
  const [name] = motions.filter(({ kind }) => kind === "rebound");
  assert.equal(name?.of, "a");
  assert.ok(Math.hypot(name.frames[0].x ?? 0, name.frames[0].y ?? 0) > 10, "from another row");
  assert.deepEqual([name.frames[1].x, name.frames[1].y], [0, 0]);
  const freed = motions.filter(({ kind }) => kind === "freed");
  assert.ok(freed.length > 0 && freed.every(({ of }) => /\b(s1|t1)\b/.test(of)));
  assert.ok(freed.every(({ easing, frames }) => easing === "linear" && frames[1].opacity === 0));
});

test("a gradient starts at its node, travels its edge and ends at its place", () => {
  const opened = golden("clone_and_detach");
  let travelled = 0;
  for (let i = 1; i < opened.count; i++) {
    const visit = opened.trace.steps[i].visit;
    const after = drawingOf(opened, i);
    for (const motion of motionsTo(opened, i)) {
      if (motion.kind !== "arrived") continue;
      assert.ok(visit && motion.of.startsWith(`${visit.node}:`));
      assert.ok("drawn" in motion.mover && elementAt(after, motion.mover.drawn).attrs["data-grad"] === motion.of);
      const [first, last] = [motion.frames[0], motion.frames[motion.frames.length - 1]];
      assert.ok((first.y ?? 0) > 10, "its node is below");
      assert.ok(Math.hypot(last.x ?? 1, last.y ?? 1) < 0.01 && last.opacity === 1);
      travelled += 1;
    }
  }
  assert.ok(travelled > 0);
});

test("the first gradient of a leaf grows out of the graph into its place, over both panes", () => {
  const opened = golden("accumulate_twice");
  const isArrival = (i: number) => Boolean(opened.trace.steps[i].visit?.accumulates);
  const first = stepThat(opened, isArrival);
  const landing = motionsTo(opened, first).filter(({ kind }) => kind === "landed");
  const flying = landing.find(({ mover }) => "copy" in mover && "over" in mover.into);
  assert.ok(flying, "it is seen over both panes");
  assert.ok((flying.frames[0].x ?? 0) > 50, "it comes from the right");
  assert.ok((flying.frames[0].scale?.[0] ?? 1) < 1, "and grows");
  const hidden = landing.find(({ mover }) => "drawn" in mover);
  assert.deepEqual([hidden?.frames[0].opacity, hidden?.frames.at(-1)?.opacity], [0, 1], "it is not there twice");
  const second = stepThat(opened, (i) => i > first && isArrival(i));
  const sum = motionsTo(opened, second);
  assert.ok(kindsOf(sum).includes("written"), "what is added to turns");
  const added = sum.filter(({ kind }) => kind === "landed");
  assert.ok(
    added.length === 1 && "copy" in added[0].mover && added[0].frames.at(-1)?.opacity === 0,
    "its chip goes in",
  );
  assert.ok((added[0].frames.at(-1)?.x ?? 0) < -50);
});

test("back, only what is no more fades", () => {
  for (const name of ["clone_and_detach", "accumulate_twice", "a_module_learns", "lists_and_copies"]) {
    const opened = golden(name);
    for (let i = 1; i < opened.count; i++)
      assert.ok(
        motionsTo(opened, i - 1, i).every(({ kind }) => kind === "freed"),
        `${name} at ${i}`,
      );
  }
});

test("whatever moves ends where it is drawn, and a copy ends unseen or where it is drawn", () => {
  const kinds = new Set<string>();
  for (const name of ["clone_and_detach", "accumulate_twice", "a_module_learns", "calls_and_frames"]) {
    const opened = golden(name);
    for (let i = 1; i < opened.count; i++) {
      const after = drawingOf(opened, i);
      for (const { kind, mover, frames, duration, of } of motionsTo(opened, i)) {
        kinds.add(kind);
        const where = `${name} at ${i}: ${kind} ${of}`;
        assert.ok(duration <= 180 && frames[0].at === 0 && frames.at(-1)?.at === 1, where);
        const { x = 0, y = 0, scale = [1, 1], opacity = 1 } = frames[frames.length - 1];
        const isAtHome = Math.hypot(x, y) < 0.01 && scale[0] === 1 && scale[1] === 1 && opacity === 1;
        if ("drawn" in mover) assert.ok(isAtHome && elementAt(after, mover.drawn), where);
        else assert.ok(isAtHome || opacity === 0 || scale[1] === 0, where);
      }
    }
  }
  assert.ok(kinds.has("written") && kinds.has("arrived") && kinds.has("landed"), [...kinds].join());
});

test("a path's points, and the way along it to what is near", () => {
  assert.deepEqual(pathPoints("M10 40V20H30l5 -5"), [
    [10, 40],
    [10, 20],
    [30, 20],
    [35, 15],
  ]);
  assert.deepEqual(pathPoints("M0 0C0 10 10 10 10 0").at(-1), [10, 0]);
  assert.deepEqual(pathPoints("M5 5H20A5 5 0 0 0 25 10V30").slice(-2), [
    [25, 10],
    [25, 30],
  ]);
  assert.deepEqual(
    pathUpTo(pathPoints("M10 40V20H30"), [22, 18]),
    [
      [10, 40],
      [10, 20],
      [22, 20],
    ],
    "as near as the path comes",
  );
  assert.deepEqual(
    pathUpTo(pathPoints("M20 50H10V0H20"), [60, 30]),
    [
      [20, 50],
      [10, 50],
      [10, 30],
    ],
    "level with it, though its beginning is nearer",
  );
});
