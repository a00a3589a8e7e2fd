/** The graph pane of the stage: program order from top to bottom, gradients climb up; what a step touched is in sight. */

import { graphAnchors, graphFocus, hiddenIn } from "./graph_anchors.js";
import { unifyLeafLabels } from "./graph_docks.js";
import { dockEdges, railEdges } from "./graph_edges.js";
import { foldPlace } from "./graph_folds.js";
import { idlePlaces } from "./graph_idle.js";
import { setLevels } from "./graph_levels.js";
import { graphModel, nodeLabels } from "./graph_model.js";
import { graphRow } from "./graph_row.js";
import {
  columnOf,
  DOCK,
  docksHeight,
  docksShown,
  FOLD,
  FOOT,
  gapAbove,
  NODE,
  PAD,
  SEED,
  SLIM,
  SLIM_GAP,
  TITLE,
} from "./graph_sizes.js";
import { GraphStep, leavesKey } from "./graph_step.js";
import { stillLayout } from "./graph_still.js";

export { graphModel, nodeLabels };

/** @typedef {import("./graph_model.js").GraphModel} GraphModel */
/** @typedef {import("./graph_model.js").Block} Block */
/** @typedef {import("./graph_model.js").Component} Component */
/** @typedef {import("./graph_row.js").Row} Row */
/** @typedef {import("./pane.js").Rect} Rect */
/** @typedef {import("./graph_folds.js").FoldPlace} FoldPlace */
/**
 * @typedef {{key: string, y: number, name: string | null, backward: "" | "here" | "done"}} TitlePlace
 *   name: of the result that a graph ends in. backward: whether one is in it, or was
 * @typedef {import("./pane.js").Pane & {w: number, rows: Row[], edges: import("./graph_edges.js").EdgePlace[],
 *   foldLines: FoldPlace[], titles: TitlePlace[], idle: import("./graph_idle.js").IdlePlaces, empty: boolean}} GraphPane
 *   its places are by node, `n5:self` for saved slots, `dock n2` for leaves where they stand for themselves
 * @typedef {import("./graph_levels.js").Leveled & {block: Block, component: Component, first: boolean, y: number,
 *   gap: number, docks: number, seed: number}} Line
 *   a living node before it has a place. first: of its graph; y: where the room above it begins; docks: how many of its
 *   leaves have lines
 */

/** The graph's share of a stage. @param {GraphModel} model @param {number} w of the stage @returns {number} 0 without a graph */
export function graphWidth(model, w) {
  if (!model.blocks.size && !model.leaves.length) return 0;
  const lanes = model.components.reduce((most, { rails }) => Math.max(most, rails.lanes), 0);
  return Math.round(Math.min(0.44 * w, Math.max(345, 0.385 * w) + (lanes > 1 ? 12 * lanes : 0)));
}

/** The height from which on every node of the run is in full at a place of its own. @param {GraphModel} model
 * @param {number} w of the pane */
export function graphStill(model, w) {
  return stillLayout(model, w).height;
}

/** @param {GraphModel} model @param {number} i the step @param {import("./pane.js").Room} room
 * @param {import("./pane.js").PaneOptions} options @returns {GraphPane} */
export function graphPane(model, i, room, options) {
  const graphStep = new GraphStep(model, i, options);
  const still = stillLayout(model, room.w);
  const atRest = still.height <= room.h && Number.isFinite(room.h);
  const lines = livingLines(graphStep, room, atRest ? still.tops : null);
  const idle = graphStep.idleLeaves();
  if (atRest) for (const line of lines) setLineAtRest(line, columnOf(line.component, room.w));
  else {
    const titles = still.titled ? graphStep.components.length * TITLE : 0;
    const left = room.h - PAD - FOOT - titles - idlePlaces(graphStep, idle, 0, room.w).height;
    if (lines.reduce((sum, line) => sum + line.full, 0) <= left) for (const line of lines) line.level = "full";
    else setLevels(lines, left);
  }
  const placed = placeLines(graphStep, room, lines, still, atRest);
  const idles = idlePlaces(graphStep, idle, atRest ? still.idle : placed.end, room.w);
  return { ...assemble(graphStep, room, lines, placed, idles), still: atRest };
}

/** The lines of a step from top to bottom: graphs and nodes as the program made them; graphs at rest as they stand there.
 * @param {GraphStep} graphStep @param {import("./pane.js").Room} room @param {Map<string, number> | null} tops of graphs at rest
 * @returns {Line[]} */
function livingLines(graphStep, room, tops) {
  const graphs = [...graphStep.components];
  if (tops) graphs.sort((a, b) => (tops.get(a.key) ?? 0) - (tops.get(b.key) ?? 0));
  return graphs.flatMap((component, group) => {
    const column = columnOf(component, room.w);
    return (graphStep.living.get(component.key) ?? []).map((block, n) => {
      const turn = graphStep.turn(block.uid, component);
      const ran = turn !== null && turn.step <= graphStep.i;
      const gap = gapAbove(block, column, ran);
      const count = block.docks.length;
      const docks = graphStep.toggled.has(leavesKey(block.uid)) ? count : docksShown(count, room.h);
      const seed = ran && block.seed && !graphStep.mostArrivals(block.uid).count ? SEED : 0;
      return {
        block,
        component,
        first: n === 0,
        y: 0,
        gap,
        docks,
        seed,
        group,
        level: /** @type {import("./graph_levels.js").Level} */ ("slim"),
        rank: graphStep.rank(block),
        seen: graphStep.lastTouched(block),
        full: gap + docksHeight(docks) + NODE + seed,
        slim: SLIM_GAP + SLIM,
      };
    });
  });
}

/** @param {Line} line @param {import("./graph_sizes.js").Column} column */
function setLineAtRest(line, column) {
  const { docks, visited, seed } = line.block;
  line.level = "full";
  line.docks = docks.length;
  line.gap = gapAbove(line.block, column, visited);
  line.seed = seed ? SEED : 0;
  line.full = line.gap + docksHeight(line.docks) + NODE + line.seed;
}

/** Gives every line its height. @param {GraphStep} graphStep @param {import("./pane.js").Room} room @param {Line[]} lines
 * @param {import("./graph_still.js").Still} still @param {boolean} atRest
 * @returns {{titles: TitlePlace[], folds: FoldPlace[], foldOf: Map<string, FoldPlace>, end: number}} */
function placeLines(graphStep, room, lines, still, atRest) {
  /** @type {ReturnType<typeof placeLines>} */
  const out = { titles: [], folds: [], foldOf: new Map(), end: PAD };
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n];
    if (line.first && still.titled) {
      if (atRest) out.end = still.tops.get(line.component.key) ?? out.end;
      out.titles.push(titlePlace(graphStep, line.component, out.end));
      out.end += TITLE;
    }
    if (atRest) out.end = still.blocks.get(line.block.uid) ?? out.end;
    const before = lines[n - 1];
    if (line.level === "fold" && (before?.level !== "fold" || line.first)) openOrFold(graphStep, room, lines, n, out);
    line.y = out.end;
    if (line.level !== "fold") out.end += line[line.level];
  }
  return out;
}

/** Where a run of folded lines begins: its line, closed, or open with the run as slim lines below it.
 * @param {GraphStep} graphStep @param {import("./pane.js").Room} room @param {Line[]} lines @param {number} n
 * @param {ReturnType<typeof placeLines>} out */
function openOrFold(graphStep, room, lines, n, out) {
  const { component, group } = lines[n];
  let end = n;
  while (lines[end]?.level === "fold" && lines[end].group === group) end++;
  const run = lines.slice(n, end);
  const fold = foldPlace(
    graphStep,
    run.map(({ block }) => block),
    columnOf(component, room.w),
    out.end,
  );
  out.folds.push(fold);
  out.end += FOLD;
  for (const line of run)
    if (fold.open) line.level = "slim";
    else out.foldOf.set(line.block.uid, fold);
}

/** @param {GraphStep} graphStep @param {Component} component @param {number} y @returns {TitlePlace} */
function titlePlace(graphStep, component, y) {
  const read = new Set((graphStep.living.get(component.key) ?? []).flatMap(({ inputs }) => inputs.map(({ to }) => to)));
  const ends = (graphStep.living.get(component.key) ?? []).filter(({ uid }) => !read.has(uid)).reverse();
  const name = ends.map(({ uid }) => graphStep.outputs.get(uid)?.texts[0]).find(Boolean) ?? null;
  const backward = graphStep.model.backwards.get(graphStep.backwards.get(component.key) ?? "");
  return { key: component.key, y, name, backward: !backward ? "" : graphStep.i <= backward.last ? "here" : "done" };
}

/** @param {GraphStep} graphStep @param {import("./pane.js").Room} room @param {Line[]} lines
 * @param {ReturnType<typeof placeLines>} placed @param {import("./graph_idle.js").IdlePlaces} idle @returns {Omit<GraphPane, "still">} */
function assemble(graphStep, room, lines, placed, idle) {
  /** @type {Map<string, string>} by leaf, the reader at which it stands for itself */
  const homes = new Map();
  const isPlaced = (/** @type {string} */ leafUid, /** @type {string} */ reader) => {
    const home = homes.get(leafUid) ?? graphStep.leafHome(leafUid) ?? reader;
    homes.set(leafUid, home);
    return home === reader;
  };
  const rows = lines.flatMap((line) => {
    if (line.level === "fold") return [];
    const { block, level, y, gap } = line;
    const slim = level === "slim";
    const top = slim ? y + SLIM_GAP : y + gap + docksHeight(line.docks);
    const docks = slim ? block.docks : shownDocks(graphStep, line);
    const at = { level, top: y, bottom: y + line[level], y: top, docks };
    return [graphRow(graphStep, block, columnOf(line.component, room.w), at, isPlaced)];
  });
  unifyLeafLabels(rows);
  const boxes = new Map(/** @type {[string, Rect][]} */ ([...placed.foldOf, ...rows.map((row) => [row.uid, row])]));
  const edges = graphStep.components.flatMap((component) =>
    railEdges(graphStep, component, columnOf(component, room.w), (uid) => boxes.get(uid)),
  );
  const connected = new Set(edges.flatMap(({ from, to }) => [from, to]));
  for (const row of rows) row.dot = connected.has(row.uid);
  edges.push(...rows.flatMap((row) => dockEdges(graphStep, row, columnOf(row.block.component, room.w))));
  const anchors = graphAnchors(rows, idle);
  const height =
    Math.max(placed.end, idle.line ? idle.line.y + idle.line.h + 2 : 0, ...idle.leaves.map((leaf) => leaf.y + DOCK)) +
    FOOT;
  return {
    ...{ w: room.w, height, rows, edges, foldLines: placed.folds, titles: placed.titles, idle, anchors },
    folds: hiddenIn(placed.folds, rows, idle, anchors),
    focus: graphFocus(graphStep, rows, anchors),
    empty: !rows.length && !placed.folds.length && !idle.leaves.length && !idle.line,
  };
}

/** A node's leaves that have lines: all, or those that the step is about, and the first. @param {GraphStep} graphStep @param {Line} line */
function shownDocks(graphStep, { block: { docks }, docks: count }) {
  if (count >= docks.length) return docks;
  const first = (/** @type {import("./graph_model.js").Dock} */ { leaf, vias }) =>
    leaf === graphStep.now || leaf === graphStep.selected || (graphStep.now !== null && vias.includes(graphStep.now));
  const chosen = new Set([...docks.filter(first), ...docks].slice(0, count));
  return docks.filter((dock) => chosen.has(dock));
}
