/** Rows that are cached from step to step: whatever steps were drawn before, a step looks as if it were the first. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  buildStageModel,
  planStage,
  type StageSize,
  type StageModel,
  type StageOptions,
} from "../../layout/stage_plan.ts";
import { createMarkCache, type MarkCache } from "../../marks/mark_cache.ts";
import { stageMarks, type PaneMarks } from "../../marks/stage_marks.ts";
import { openTrace } from "../../trace/state.ts";
import { vnodeToSvg } from "../../browser/svg.ts";
import { createRandom } from "../random.ts";
import { ALL } from "../traces.ts";

const SIZES = [
  { w: 1100, h: 620 },
  { w: 760, h: 300 },
  { w: 390, h: 480 },
];
const RANDOM_STEPS = 24;

function paneText(pane: PaneMarks | null) {
  return pane && [...pane.heading, ...pane.body].map(vnodeToSvg).join("\n");
}

/**
 * Draws a step with the cache and without, and holds one against the other. Returns the number of rows that were
 * cached.
 */
function assertDrawnAlike(
  model: StageModel,
  i: number,
  size: StageSize,
  options: StageOptions,
  markCache: MarkCache,
): number {
  const before = [...markCache.before.values()].map(({ mark }) => mark.children);
  const cached = stageMarks(planStage(model, i, size, options), {}, new Map(), undefined, markCache);
  const cold = stageMarks(planStage(model, i, size, options), {}, new Map());
  for (const side of ["memory", "graph"] as const)
    assert.equal(paneText(cached[side]), paneText(cold[side]), `${side} at step ${i} of ${size.w} × ${size.h}`);
  const drawn = [...(cached.memory?.body ?? []), ...(cached.graph?.body ?? [])].map(({ children }) => children);
  return before.filter((children) => drawn.includes(children)).length;
}

/**
 * Forwards, backwards, then from anywhere to anywhere with other selections, folds and sizes. Returns the number of
 * rows that were cached.
 */
function assertRunDrawnAlike(trace: any): number {
  const opened = openTrace(trace);
  const model = buildStageModel(opened);
  const markCache = createMarkCache();
  const steps = [...Array(opened.count).keys()];
  const toggles = [[], ["nameless kept", "nameless flight", "nameless unnamed"], ["rows ", "calls"]];
  const handles = [
    null,
    ...new Set(steps.flatMap((i) => [...opened.state(i).keys()].filter((uid) => /^[tn]/.test(uid)))),
  ];
  const random = createRandom(1);
  const anyOf = (list: any[]) => list[Math.floor(random() * list.length)];
  let count = 0;
  for (const size of SIZES)
    for (const i of [...steps, ...steps.toReversed()]) count += assertDrawnAlike(model, i, size, {}, markCache);
  for (let k = 0; k < RANDOM_STEPS && steps.length; k += 1) {
    const options = { selected: anyOf(handles), toggled: new Set(anyOf(toggles)) };
    count += assertDrawnAlike(model, anyOf(steps), anyOf(SIZES), options, markCache);
  }
  return count;
}

for (const [name, make] of Object.entries(ALL))
  test(`${name}: cached rows say what new ones would`, () => void assertRunDrawnAlike(make()));

let cachedCount = 0;

for (const name of readdirSync("tests/golden").filter((name) => name.endsWith(".json")))
  test(`${name}: cached rows say what new ones would`, () => {
    cachedCount += assertRunDrawnAlike(JSON.parse(readFileSync(`tests/golden/${name}`, "utf8")));
  });

test("rows are cached", () => assert.ok(cachedCount > 300, `${cachedCount}`));
