/** Where names stand at each step, and what of a step is in sight, in each window. */

import { isHandle } from "../../static/js/trace/entities.ts";
import { openTrace } from "../../static/js/trace/state.ts";
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
  if (memory.overview)
    for (const { line, blocks, container } of memory.overview.entries)
      for (const name of line.names) if (blocks.length || container) heights.set(name.key, { y: line.y * k, of: line.key, row: line.key });
  if (!memory.overview)
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

/** Tensors with a variable's name that the step touched and that are out of sight, and those that are only lines of the list. */
function outOfSight({ memory, height }) {
  const { step, placed } = memory;
  const open = new Set();
  for (const { item, y, h, hidden } of placed)
    if (!hidden && y + h <= height + 0.5) {
      if (item.kind === "row") for (const block of [item.block, ...item.block.grads.values()]) block.uids.forEach((uid) => open.add(uid));
      if (item.kind === "states") for (const { block } of item.states) block.uids.forEach((uid) => open.add(uid));
    }
  const lines = new Set();
  for (const { line, blocks, hot } of memory.overview?.entries ?? [])
    if (hot && line.y + memory.overview.list.lineHeight <= height + 0.5)
      for (const block of blocks) [block, ...block.grads.values()].forEach(({ uids }) => uids.forEach((uid) => lines.add(uid)));
  const touched = [...step.touched.uids].filter((uid) => isHandle(step.entities.get(uid)) && step.names.tags.has(uid));
  return {
    unseen: touched.filter((uid) => !open.has(uid) && !lines.has(uid)),
    lines: touched.filter((uid) => !open.has(uid) && lines.has(uid)),
    open: touched.filter((uid) => open.has(uid)).length,
  };
}

function findingsOf(trace, size) {
  const opened = openTrace(trace);
  const model = buildStageModel(opened);
  const found = { density: new Set(), k: 0, steps: opened.count, moves: [], unseen: [], lines: 0, open: 0, overflow: [] };
  let before = null;
  for (let i = 0; i < opened.count; i++) {
    const plan = planStage(model, i, size, { foot: FOOT });
    found.density.add(plan.density);
    found.k = plan.k;
    const heights = heightsOfNames(plan);
    if (before)
      for (const [name, { y, of, row }] of heights) {
        const last = before.get(name);
        if (last !== undefined && Math.abs(last.y - y) > MOVED)
          found.moves.push({ step: i, name, from: last.y, to: y, why: last.of !== of ? "bound anew" : last.row !== row ? "row laid out anew" : "" });
      }
    before = heights;
    const { unseen, lines, open } = outOfSight(plan);
    found.lines_of_run ??= plan.memory.overview?.list.lines.map(({ text }) => text) ?? [];
    if (unseen.length) found.unseen.push({ step: i, uids: unseen });
    if (plan.memory.height > plan.height + 0.5) found.overflow.push(i);
    found.lines += lines.length;
    found.open += open;
  }
  return { ...found, density: [...found.density] };
}

export default function stillNames(trace) {
  return SIZES.map((size) => findingsOf(trace, size));
}
