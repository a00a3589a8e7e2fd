/** Rows that are cached from step to step: whatever steps were drawn before, a step looks as if it were the first. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { stageModel, stagePlan } from "../layout/stage_plan.js";
import { createMarkCache } from "../marks/mark_cache.js";
import { stageMarks } from "../marks/stage_marks.js";
import { openTrace } from "../trace/state.js";
import { svgText } from "../browser/svg.js";
import { createRandom } from "./random.js";
import { ALL } from "./traces.js";

/** @typedef {import("../marks/stage_marks.js").PaneMarks} PaneMarks */
/** @typedef {import("../marks/mark_cache.js").MarkCache} MarkCache */

const SIZES = [
  { w: 1100, h: 620 },
  { w: 760, h: 300 },
  { w: 390, h: 480 },
];
const RANDOM_STEPS = 24;

/** @param {PaneMarks | null} pane */
function paneText(pane) {
  return pane && [...pane.heading, ...pane.body].map(svgText).join("\n");
}

/** Draws a step with the cache and without, and holds one against the other.
 * @param {import("../layout/stage_plan.js").StageModel} model @param {number} i @param {import("../layout/stage_plan.js").Size} size
 * @param {import("../layout/stage_plan.js").StageOptions} options @param {MarkCache} markCache @returns {number} rows that were cached */
function assertDrawnAlike(model, i, size, options, markCache) {
  const before = [...markCache.before.values()].map(({ mark }) => mark.children);
  const cached = stageMarks(stagePlan(model, i, size, options), {}, new Map(), undefined, markCache);
  const cold = stageMarks(stagePlan(model, i, size, options), {}, new Map());
  for (const side of /** @type {const} */ (["memory", "graph"]))
    assert.equal(paneText(cached[side]), paneText(cold[side]), `${side} at step ${i} of ${size.w} × ${size.h}`);
  const drawn = [...(cached.memory?.body ?? []), ...(cached.graph?.body ?? [])].map(({ children }) => children);
  return before.filter((children) => drawn.includes(children)).length;
}

/** Forwards, backwards, then from anywhere to anywhere with other selections, folds and sizes.
 * @param {any} trace @returns {number} rows that were cached */
function assertRunDrawnAlike(trace) {
  const opened = openTrace(trace);
  const model = stageModel(opened);
  const markCache = createMarkCache();
  const steps = [...Array(opened.count).keys()];
  const toggles = [[], ["nameless kept", "nameless flight", "nameless unnamed"], ["rows ", "calls"]];
  const handles = [
    null,
    ...new Set(steps.flatMap((i) => [...opened.state(i).keys()].filter((uid) => /^[tn]/.test(uid)))),
  ];
  const random = createRandom(1);
  const anyOf = (/** @type {any[]} */ list) => list[Math.floor(random() * list.length)];
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
