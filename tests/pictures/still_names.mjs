/** Where names stand at each step, and what of a step is in sight, in each window. */

import { isHandle } from "../../static/js/trace/entities.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { pictureOfRun } from "../../static/js/trace/run_picture.ts";
import { buildStageModel, planStage } from "../../static/js/layout/stage_plan.ts";

/** What the stage has of windows of 1440 × 900 and 1280 × 720. */
const SIZES = [
  { w: 1046, h: 680 },
  { w: 900, h: 500 },
];
const FOOT = 36;
/** A name that moves less than this is where it was. */
const MOVED = 6;

/** By name, with the frame that binds it, its height in pixels, and what it means there. */
function heightsOfNames(plan) {
  const { memory, k } = plan;
  const heights = new Map();
  if (!memory) return heights;
  for (const { item, y, hidden, layout } of memory.placed) {
    if (hidden || item.kind !== "row" || !layout) continue;
    for (const line of layout.lines)
      for (const { tag } of line.names) heights.set(`${tag.frame ?? ""}/${tag.text}`, {
          y: (y + line.y) * k,
          of: line.uid,
          row: `${item.key} ${layout.lines.map(({ uid }) => uid)}`,
        });
  }
  return heights;
}

/** Tensors with a variable's name that the step touched and that have no open row. */
function notOpen({ memory: { step, placed } }) {
  const open = new Set();
  for (const { item, hidden, layout } of placed)
    if (!hidden && item.kind === "row" && layout.level !== "slim")
      for (const block of [item.block, ...item.block.grads.values()]) block.uids.forEach((uid) => open.add(uid));
  return [...step.touched.uids].filter((uid) => isHandle(step.entities.get(uid)) && step.names.tags.has(uid) && !open.has(uid));
}

/** Whether one look takes in what the step touched: a pane that is higher than its room scrolls to it. */
function isTogether({ memory, height }) {
  const tops = memory.focus.map(({ y }) => y);
  return Math.max(...memory.focus.map(({ y, h }) => y + h)) - Math.min(...tops) <= height || !tops.length;
}

function findingsOf(trace, size) {
  const opened = openTrace(trace);
  const model = buildStageModel(opened);
  const found = { picture: pictureOfRun(opened), steps: opened.count, moves: [], unseen: [], apart: [], scrolls: false };
  if (found.picture === "list") return found;
  let before = null;
  for (let i = 0; i < opened.count; i++) {
    const plan = planStage(model, i, size, { foot: FOOT });
    const heights = heightsOfNames(plan);
    if (before)
      for (const [name, { y, of, row }] of heights) {
        const last = before.get(name);
        if (last !== undefined && Math.abs(last.y - y) > MOVED)
          found.moves.push({ step: i, name, from: last.y, to: y, why: last.of !== of ? "bound anew" : last.row !== row ? "row laid out anew" : "" });
      }
    before = heights;
    const unseen = notOpen(plan);
    if (unseen.length) found.unseen.push({ step: i, uids: unseen });
    if (!isTogether(plan)) found.apart.push(i);
    found.scrolls ||= plan.memory.height > plan.height + 0.5;
  }
  return found;
}

export default function stillNames(trace) {
  return SIZES.map((size) => findingsOf(trace, size));
}
