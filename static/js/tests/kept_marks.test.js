/** Rows that are kept from step to step: whatever steps were drawn before, a step looks as if it were the first. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { stageModel, stagePlan } from "../layout/stage_plan.js";
import { createKeptMarks } from "../marks/kept_marks.js";
import { stageMarks } from "../marks/stage_marks.js";
import { openTrace } from "../state.js";
import { svgText } from "../svg.js";
import { createRandom } from "./random.js";
import { ALL } from "./traces.js";

/** @typedef {import("../marks/stage_marks.js").PaneMarks} PaneMarks */
/** @typedef {import("../marks/kept_marks.js").KeptMarks} KeptMarks */

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

/** Draws a step with what is kept and without, and holds one against the other.
 * @param {import("../layout/stage_plan.js").StageModel} model @param {number} i @param {import("../layout/stage_plan.js").Size} size
 * @param {import("../layout/stage_plan.js").StageOptions} options @param {KeptMarks} keptMarks @returns {number} rows that were kept */
function holdStep(model, i, size, options, keptMarks) {
  const before = [...keptMarks.before.values()].map(({ mark }) => mark.children);
  const kept = stageMarks(stagePlan(model, i, size, options), {}, new Map(), undefined, keptMarks);
  const cold = stageMarks(stagePlan(model, i, size, options), {}, new Map());
  for (const side of /** @type {const} */ (["memory", "graph"]))
    assert.equal(paneText(kept[side]), paneText(cold[side]), `${side} at step ${i} of ${size.w} × ${size.h}`);
  const drawn = [...(kept.memory?.body ?? []), ...(kept.graph?.body ?? [])].map(({ children }) => children);
  return before.filter((children) => drawn.includes(children)).length;
}

/** Forwards, backwards, then from anywhere to anywhere with other selections, folds and sizes.
 * @param {any} trace @returns {number} rows that were kept */
function holdRun(trace) {
  const opened = openTrace(trace);
  const model = stageModel(opened);
  const keptMarks = createKeptMarks();
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
    for (const i of [...steps, ...steps.toReversed()]) count += holdStep(model, i, size, {}, keptMarks);
  for (let k = 0; k < RANDOM_STEPS && steps.length; k += 1) {
    const options = { selected: anyOf(handles), toggled: new Set(anyOf(toggles)) };
    count += holdStep(model, anyOf(steps), anyOf(SIZES), options, keptMarks);
  }
  return count;
}

for (const [name, make] of Object.entries(ALL))
  test(`${name}: kept rows say what new ones would`, () => void holdRun(make()));

let keptCount = 0;

for (const name of readdirSync("tests/golden").filter((name) => name.endsWith(".json")))
  test(`${name}: kept rows say what new ones would`, () => {
    keptCount += holdRun(JSON.parse(readFileSync(`tests/golden/${name}`, "utf8")));
  });

test("rows are kept", () => assert.ok(keptCount > 300, `${keptCount}`));
