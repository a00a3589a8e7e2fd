/** The graph pane of the stage: program order from top to bottom, gradients climb up; what a step touched is in sight. */

import { graphAnchors, graphFocus, foldOfHidden } from "./graph_anchors.ts";
import { unifyLeafLabels } from "./graph_docks.ts";
import { dockEdges, railEdges, type EdgePlace } from "./graph_edges.ts";
import { foldPlace, type FoldPlace } from "./graph_folds.ts";
import { idlePlaces, type IdlePlaces } from "./graph_idle.ts";
import { setLevels, type Level, type LeveledLine } from "./graph_levels.ts";
import { graphModel, nodeLabels } from "./graph_model.ts";
import { graphRow } from "./graph_row.ts";
import {
  columnOf,
  DOCK,
  docksHeight,
  shownDockCount,
  FOLD,
  FOOT,
  gapAbove,
  NODE,
  PAD,
  SEED,
  SLIM,
  SLIM_GAP,
  TITLE,
  type Column,
} from "./graph_sizes.ts";
import { GraphStep, leavesKey } from "./graph_step.ts";
import { stillLayout } from "./graph_still.ts";
import type { Pane, PaneOptions, Rect, Room } from "./pane.ts";
import type { Row } from "./graph_places.ts";
import type { Still, GraphModel, Component, Block, Dock } from "./graph_parts.ts";

export { graphModel, nodeLabels };

export interface TitlePlace {
  key: string;
  y: number;
  /** of the result that a graph ends in */
  name: string | null;
  /** whether one is in it, or was */
  backward: "" | "here" | "done";
}

/** its places are by node, `n5:self` for saved slots, `dock n2` for leaves where they stand for themselves */
export type GraphPane = Pane & {
  w: number;
  rows: Row[];
  edges: EdgePlace[];
  foldLines: FoldPlace[];
  titles: TitlePlace[];
  idle: IdlePlaces;
  empty: boolean;
};

/** a living node before it has a place. */
type Line = LeveledLine & {
  block: Block;
  component: Component;
  /** of its graph */
  first: boolean;
  /** where the room above it begins */
  y: number;
  gap: number;
  /** how many of its leaves have lines */
  docks: number;
  seed: number;
};

/** The graph's share of a stage. @param w of the stage @returns 0 without a graph */
export function graphWidth(model: GraphModel, w: number): number {
  if (!model.blocks.size && !model.leaves.length) return 0;
  const lanes = model.components.reduce((most, { rails }) => Math.max(most, rails.lanes), 0);
  return Math.round(Math.min(0.44 * w, Math.max(345, 0.385 * w) + (lanes > 1 ? 12 * lanes : 0)));
}

/** The height from which on every node of the run is in full at a place of its own. @param w of the pane */
export function graphStill(model: GraphModel, w: number) {
  return stillLayout(model, w).height;
}

/** @param i the step */
export function graphPane(model: GraphModel, i: number, paneSize: Room, options: PaneOptions): GraphPane {
  const graphStep = new GraphStep(model, i, options);
  const still = stillLayout(model, paneSize.w);
  const isAtRest = still.height <= paneSize.h && Number.isFinite(paneSize.h);
  const lines = livingLines(graphStep, paneSize, isAtRest ? still.tops : null);
  const idle = graphStep.idleLeaves();
  if (isAtRest) for (const line of lines) setLineAtRest(line, columnOf(line.component, paneSize.w));
  else {
    const titles = still.titled ? graphStep.components.length * TITLE : 0;
    const heightLeft = paneSize.h - PAD - FOOT - titles - idlePlaces(graphStep, idle, 0, paneSize.w).height;
    if (lines.reduce((sum, line) => sum + line.full, 0) <= heightLeft) for (const line of lines) line.level = "full";
    else setLevels(lines, heightLeft);
  }
  const placedLines = placeLines(graphStep, paneSize, lines, still, isAtRest);
  const idlePlacesBelow = idlePlaces(graphStep, idle, isAtRest ? still.idle : placedLines.end, paneSize.w);
  return { ...assemble(graphStep, paneSize, lines, placedLines, idlePlacesBelow), still: isAtRest };
}

/**
 * The lines of a step from top to bottom: graphs and nodes as the program made them; graphs at rest as they stand
 * there.
 * @param tops of graphs at rest
 */
function livingLines(graphStep: GraphStep, paneSize: Room, tops: Map<string, number> | null): Line[] {
  const graphs = [...graphStep.components];
  if (tops) graphs.sort((a, b) => (tops.get(a.key) ?? 0) - (tops.get(b.key) ?? 0));
  return graphs.flatMap((component, group) => {
    const column = columnOf(component, paneSize.w);
    return (graphStep.living.get(component.key) ?? []).map((block, n) => {
      const turn = graphStep.turn(block.uid, component);
      const hasRun = turn !== null && turn.step <= graphStep.i;
      const gapHeight = gapAbove(block, column, hasRun);
      const leafCount = block.docks.length;
      const shownLeaves = graphStep.toggled.has(leavesKey(block.uid))
        ? leafCount
        : shownDockCount(leafCount, paneSize.h);
      const seedHeight = hasRun && block.seed && !graphStep.mostArrivals(block.uid).count ? SEED : 0;
      return {
        block,
        component,
        first: n === 0,
        y: 0,
        gap: gapHeight,
        docks: shownLeaves,
        seed: seedHeight,
        group,
        level: "slim" as Level,
        rank: graphStep.rank(block),
        seen: graphStep.lastTouched(block),
        full: gapHeight + docksHeight(shownLeaves) + NODE + seedHeight,
        slim: SLIM_GAP + SLIM,
      };
    });
  });
}

function setLineAtRest(line: Line, column: Column) {
  const { docks, visited, seed } = line.block;
  line.level = "full";
  line.docks = docks.length;
  line.gap = gapAbove(line.block, column, visited);
  line.seed = seed ? SEED : 0;
  line.full = line.gap + docksHeight(line.docks) + NODE + line.seed;
}

/** Gives every line its height. */
function placeLines(
  graphStep: GraphStep,
  paneSize: Room,
  lines: Line[],
  still: Still,
  isAtRest: boolean,
): { titles: TitlePlace[]; folds: FoldPlace[]; foldOf: Map<string, FoldPlace>; end: number } {
  const placement: ReturnType<typeof placeLines> = { titles: [], folds: [], foldOf: new Map(), end: PAD };
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n];
    if (line.first && still.titled) {
      if (isAtRest) placement.end = still.tops.get(line.component.key) ?? placement.end;
      placement.titles.push(titlePlace(graphStep, line.component, placement.end));
      placement.end += TITLE;
    }
    if (isAtRest) placement.end = still.blocks.get(line.block.uid) ?? placement.end;
    const before = lines[n - 1];
    if (line.level === "fold" && (before?.level !== "fold" || line.first))
      openOrFold(graphStep, paneSize, lines, n, placement);
    line.y = placement.end;
    if (line.level !== "fold") placement.end += line[line.level];
  }
  return placement;
}

/** Where a run of folded lines begins: its line, closed, or open with the run as slim lines below it. */
function openOrFold(
  graphStep: GraphStep,
  paneSize: Room,
  lines: Line[],
  n: number,
  placement: ReturnType<typeof placeLines>,
) {
  const { component, group } = lines[n];
  let end = n;
  while (lines[end]?.level === "fold" && lines[end].group === group) end++;
  const run = lines.slice(n, end);
  const fold = foldPlace(
    graphStep,
    run.map(({ block }) => block),
    columnOf(component, paneSize.w),
    placement.end,
  );
  placement.folds.push(fold);
  placement.end += FOLD;
  for (const line of run)
    if (fold.open) line.level = "slim";
    else placement.foldOf.set(line.block.uid, fold);
}

function titlePlace(graphStep: GraphStep, component: Component, y: number): TitlePlace {
  const readUids = new Set(
    (graphStep.living.get(component.key) ?? []).flatMap(({ inputs }) => inputs.map(({ to }) => to)),
  );
  const resultBlocks = (graphStep.living.get(component.key) ?? []).filter(({ uid }) => !readUids.has(uid)).reverse();
  const resultName = resultBlocks.map(({ uid }) => graphStep.outputs.get(uid)?.texts[0]).find(Boolean) ?? null;
  const backward = graphStep.model.backwards.get(graphStep.backwards.get(component.key) ?? "");
  return {
    key: component.key,
    y,
    name: resultName,
    backward: !backward ? "" : graphStep.i <= backward.last ? "here" : "done",
  };
}

function assemble(
  graphStep: GraphStep,
  paneSize: Room,
  lines: Line[],
  placedLines: ReturnType<typeof placeLines>,
  idle: IdlePlaces,
): Omit<GraphPane, "still"> {
  /** by leaf, the reader at which it stands for itself */
  const readerOfLeaf = new Map<string, string>();
  const isPlaced = (leafUid: string, reader: string) => {
    const homeReader = readerOfLeaf.get(leafUid) ?? graphStep.leafHome(leafUid) ?? reader;
    readerOfLeaf.set(leafUid, homeReader);
    return homeReader === reader;
  };
  const rows = lines.flatMap((line) => {
    if (line.level === "fold") return [];
    const { block, level, y, gap } = line;
    const slim = level === "slim";
    const top = slim ? y + SLIM_GAP : y + gap + docksHeight(line.docks);
    const docks = slim ? block.docks : shownDocks(graphStep, line);
    const position = { level, top: y, bottom: y + line[level], y: top, docks };
    return [graphRow(graphStep, block, columnOf(line.component, paneSize.w), position, isPlaced)];
  });
  unifyLeafLabels(rows);
  const boxes = new Map([...placedLines.foldOf, ...rows.map((row) => [row.uid, row])] as [string, Rect][]);
  const edges = graphStep.components.flatMap((component) =>
    railEdges(graphStep, component, columnOf(component, paneSize.w), (uid) => boxes.get(uid)),
  );
  const connectedUids = new Set(edges.flatMap(({ from, to }) => [from, to]));
  for (const row of rows) row.dot = connectedUids.has(row.uid);
  edges.push(...rows.flatMap((row) => dockEdges(graphStep, row, columnOf(row.block.component, paneSize.w))));
  const anchors = graphAnchors(rows, idle);
  const height =
    Math.max(
      placedLines.end,
      idle.line ? idle.line.y + idle.line.h + 2 : 0,
      ...idle.leaves.map((leaf) => leaf.y + DOCK),
    ) + FOOT;
  return {
    ...{ w: paneSize.w, height, rows, edges, foldLines: placedLines.folds, titles: placedLines.titles, idle, anchors },
    folds: foldOfHidden(placedLines.folds, rows, idle, anchors),
    focus: graphFocus(graphStep, rows, anchors),
    empty: !rows.length && !placedLines.folds.length && !idle.leaves.length && !idle.line,
  };
}

/** A node's leaves that have lines: all, or those that the step is about, and the first. */
function shownDocks(graphStep: GraphStep, { block: { docks }, docks: count }: Line) {
  if (count >= docks.length) return docks;
  const isAbout = ({ leaf, vias }: Dock) =>
    leaf === graphStep.now || leaf === graphStep.selected || (graphStep.now !== null && vias.includes(graphStep.now));
  const chosen = new Set([...docks.filter(isAbout), ...docks].slice(0, count));
  return docks.filter((dock) => chosen.has(dock));
}
