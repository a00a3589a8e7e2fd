/** The plan of the stage at a step: how wide its two panes are, at what scale, and what stands where in each. */

import { graphModelOf } from "./graph_model.ts";
import { graphPane, graphStill, graphWidth, nodeLabels, type GraphPane } from "./graph_pane.ts";
import { fitsStill, memoryModel, memoryPane, stillHeight, type MemoryPane } from "./memory_pane.ts";
import { PLAIN, type PaneOptions, type Room } from "./pane.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { MemoryModel } from "./memory_step.ts";
import type { GraphModel } from "./graph_parts.ts";

/** of one run */
export interface StageModel {
  opened: OpenTrace;
  memory: MemoryModel;
  graph: GraphModel;
  /** those found for sizes */
  scales: Map<string, number>;
}

export type Side = "memory" | "graph";

/** pixels; h is Infinity where nothing has to close */
export interface Size {
  w: number;
  h: number;
}

export type StageOptions = {
  /** the reader's, null for the one that fits */
  scale?: number | null;
  /** the part of the width that the reader gave the memory */
  share?: number | null;
  /** of a narrow stage, the pane that is shown */
  side?: Side | null;
  /** pixels at the right pane's foot that something else stands on */
  foot?: number;
} & Partial<PaneOptions>;

export interface StagePlan {
  model: StageModel;
  i: number;
  /** pixels for a unit */
  k: number;
  /** the one that is shown of a narrow stage, else null */
  side: Side | null;
  /** of the panes, in units, 0 for one that isn't shown */
  widths: Record<Side, number>;
  /** of what is in sight of a pane, in units */
  height: number;
  memory: MemoryPane | null;
  graph: GraphPane | null;
}

/** Stages narrower than this show one pane at a time. */
const NARROW_WIDTH = 620;
/** The height of a pane's heading, in units. */
export const HEADING = 24;
/** Scales at which everything is drawn if everything fits: the largest is taken. */
const SCALES = [1.3, 1.2, 1.1, 1, 0.9];
/** The least width of the memory, in units, at which it is drawn larger: below it gradients go under their values. */
const MIN_MEMORY = 540;
/** The least of the width that either pane is left with. */
const MIN_SHARE = 0.2;

export function stageModel(opened: OpenTrace): StageModel {
  const graph = graphModelOf(opened);
  return { opened, memory: memoryModel(opened, nodeLabels(graph)), graph, scales: new Map() };
}

/** Whether a stage of that width shows one pane at a time. @param w pixels */
export function isNarrow(w: number) {
  return w > 0 && w < NARROW_WIDTH;
}

export function stagePlan(model: StageModel, i: number, size: Size, options: StageOptions = {}): StagePlan {
  const {
    scale = null,
    share = null,
    foot: footHeight = 0,
    selected = PLAIN.selected,
    toggled = PLAIN.toggled,
    compact,
  } = options;
  const side = isNarrow(size.w) ? (options.side ?? sideOf(model, i)) : null;
  const k = scale ?? fittingScale(model, size, share, side, footHeight);
  const widths = paneWidths(model, size.w / k, share, side);
  const visibleHeight = size.h / k - HEADING;
  const paneOptions = { selected, toggled, compact };
  const paneRooms = roomsOf(widths, visibleHeight, footHeight / k);
  return {
    model,
    i,
    k,
    side,
    widths,
    height: visibleHeight,
    memory: widths.memory ? memoryPane(model.memory, i, paneRooms.memory, paneOptions) : null,
    graph: widths.graph ? graphPane(model.graph, i, paneRooms.graph, paneOptions) : null,
  };
}

/** The pane that a narrow stage shows of a step by itself: the graph while backward runs. */
export function sideOf({ opened }: StageModel, i: number): Side {
  return opened.trace.steps[i]?.visit ? "graph" : "memory";
}

/** Widths of the panes in units. */
function paneWidths(model: StageModel, w: number, share: number | null, side: Side | null): Record<Side, number> {
  if (side) return { memory: side === "memory" ? w : 0, graph: side === "graph" ? w : 0 };
  const graphShare = graphWidth(model.graph, w);
  if (!graphShare) return { memory: w, graph: 0 };
  const memory = Math.round(share === null ? w - graphShare : w * Math.max(MIN_SHARE, Math.min(1 - MIN_SHARE, share)));
  return { memory, graph: w - memory };
}

/** The room of each pane; the foot is taken from the one at the right. */
function roomsOf(widths: Record<Side, number>, h: number, footHeight: number): Record<Side, Room> {
  return {
    memory: { w: widths.memory, h: widths.graph ? h : h - footHeight },
    graph: { w: widths.graph, h: h - footHeight },
  };
}

/** The largest scale at which every row of every step is full and nothing ever moves; 1 where there is none. */
function fittingScale(model: StageModel, size: Size, share: number | null, side: Side | null, footHeight: number) {
  if (side || !Number.isFinite(size.h)) return 1;
  const key = `${size.w} ${size.h} ${share}`;
  let fitting = model.scales.get(key);
  if (fitting === undefined) {
    fitting =
      SCALES.find((k) => {
        const widths = paneWidths(model, size.w / k, share, side);
        const { memory, graph } = roomsOf(widths, size.h / k - HEADING, footHeight / k);
        if (k > 1 && memory.w < MIN_MEMORY) return false;
        if (graph.w && graphStill(model.graph, graph.w) > graph.h) return false;
        return fitsStill(model.memory, memory.w, memory.h);
      }) ?? 1;
    model.scales.set(key, fitting);
    model.memory.plainSteps.clear(); // they were for the search
  }
  return fitting;
}

/** The scale at which nothing has to close, however small. */
export function scaleToFitAll(model: StageModel, size: Size, share: number | null) {
  for (let k = 0.9; k > 0.4; k -= 0.05) {
    const widths = paneWidths(model, size.w / k, share, null);
    const visibleHeight = size.h / k - HEADING;
    const graph = widths.graph ? graphStill(model.graph, widths.graph) : 0;
    if (Math.max(stillHeight(model.memory, widths.memory), graph) <= visibleHeight) return k;
  }
  return 0.4;
}
