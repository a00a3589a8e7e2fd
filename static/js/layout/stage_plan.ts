/** The plan of the stage at a step: how wide its two panes are, at what scale, and what stands where in each. */

import { cachedGraphModel } from "./graph/graph_model.ts";
import {
  layoutGraphPane,
  graphHeightForFixedPlaces,
  graphPaneWidth,
  nodeLabelsByUid,
  type GraphPane,
} from "./graph/graph_pane.ts";
import {
  hasRoomForFixedPlaces,
  buildMemoryModel,
  layoutMemoryPane,
  memoryHeightForFixedPlaces,
  type MemoryPane,
} from "./memory/memory_pane.ts";
import { minContentWidth } from "./memory/memory_columns.ts";
import { DEFAULT_PANE_OPTIONS, type PaneOptions, type PaneRoom } from "./pane.ts";
import { USUAL_ROW_CELLS, type RowCells } from "./cells/row_strip.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { MemoryModel } from "./memory/memory_step.ts";
import type { GraphModel } from "./graph/graph_parts.ts";

/** of one run */
export interface StageModel {
  opened: OpenTrace;
  memory: MemoryModel;
  graph: GraphModel;
  /** whether a saved value is ever overwritten */
  hasBrokenPins: boolean;
  /** those found for sizes */
  scales: Map<string, FittingSize | null>;
}

/** at which every row of every step is full and nothing ever moves */
interface FittingSize {
  k: number;
  cells: RowCells;
}

export type PaneSide = "memory" | "graph";

/** pixels; h is Infinity where nothing has to close */
export interface StageSize {
  w: number;
  h: number;
}

export type StageOptions = {
  /** the reader's, null for the one that fits */
  scale?: number | null;
  /** the part of the width that the reader gave the memory */
  share?: number | null;
  /** of a narrow stage, the pane that is shown */
  side?: PaneSide | null;
  /** pixels at the right pane's foot that something else stands on */
  foot?: number;
} & Partial<PaneOptions>;

export interface StagePlan {
  model: StageModel;
  i: number;
  /** pixels for a unit */
  k: number;
  /** of the panes, in units, 0 for one that isn't shown */
  widths: Record<PaneSide, number>;
  /** of what is in sight of a pane, in units */
  height: number;
  memory: MemoryPane | null;
  graph: GraphPane | null;
}

/** Stages narrower than this show one pane at a time. */
const NARROW_STAGE_WIDTH = 620;
/** The height of a pane's heading, in units. */
export const PANE_HEADING_HEIGHT = 24;
/** Scales at which everything is drawn if everything fits: the largest is taken. */
const STAGE_SCALES = [2, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1];
/** Sizes of cells in a row, in units: at the scale that fits, the largest that still fit. */
const CELL_SIZES = [
  { w: 96, h: 88 },
  { w: 84, h: 76 },
  { w: 66, h: 64 },
  { w: 60, h: 52 },
  { w: 54, h: 44 },
  { w: 50, h: 36 },
  { w: 46, h: 30 },
];
/** The least of the width that either pane is left with. */
const MIN_PANE_SHARE = 0.2;

export function buildStageModel(opened: OpenTrace): StageModel {
  const graph = cachedGraphModel(opened);
  const slots = [...opened.index.slots.values()];
  return {
    opened,
    memory: buildMemoryModel(opened, nodeLabelsByUid(graph)),
    graph,
    hasBrokenPins: slots.some(({ stale, changed }) => stale !== null || changed !== null),
    scales: new Map(),
  };
}

/** Whether a stage of so many pixels shows one pane at a time. */
export function isNarrowStage(w: number) {
  return w > 0 && w < NARROW_STAGE_WIDTH;
}

export function planStage(model: StageModel, i: number, size: StageSize, options: StageOptions = {}): StagePlan {
  const {
    scale = null,
    share = null,
    foot: footHeight = 0,
    selected = DEFAULT_PANE_OPTIONS.selected,
    toggled = DEFAULT_PANE_OPTIONS.toggled,
    compact,
  } = options;
  const side = isNarrowStage(size.w) ? (options.side ?? defaultPaneOf(model, i)) : null;
  const fitting = largestFittingSize(model, size, share, side, footHeight);
  const k = scale ?? fitting?.k ?? 1;
  const paneOptions = { selected, toggled, compact };
  const widths = paneWidths(model, size.w / k, share, side);
  const visibleHeight = size.h / k - PANE_HEADING_HEIGHT;
  const paneRooms = roomsOfPanes(widths, visibleHeight, footHeight / k);
  if (!side && !compact) {
    paneRooms.memory.scrolls = paneRooms.graph.scrolls = true;
    if (fitting && k <= fitting.k) paneRooms.memory.cells = fitting.cells;
  }
  return {
    model,
    i,
    k,
    widths,
    height: visibleHeight,
    memory: widths.memory ? layoutMemoryPane(model.memory, i, paneRooms.memory, paneOptions) : null,
    graph: widths.graph ? layoutGraphPane(model.graph, i, paneRooms.graph, paneOptions) : null,
  };
}

/** The pane that a narrow stage shows of a step by itself: the graph while backward runs. */
function defaultPaneOf({ opened }: StageModel, i: number): PaneSide {
  return opened.trace.steps[i]?.visit ? "graph" : "memory";
}

/** Widths of the panes in units. */
function paneWidths(
  model: StageModel,
  w: number,
  share: number | null,
  side: PaneSide | null,
): Record<PaneSide, number> {
  if (side) return { memory: side === "memory" ? w : 0, graph: side === "graph" ? w : 0 };
  const graphShare = graphPaneWidth(model.graph, w);
  if (!graphShare) return { memory: w, graph: 0 };
  const memory = Math.round(
    share === null ? w - graphShare : w * Math.max(MIN_PANE_SHARE, Math.min(1 - MIN_PANE_SHARE, share)),
  );
  return { memory, graph: w - memory };
}

/** The room of each pane; the foot is taken from the one at the right. */
function roomsOfPanes(widths: Record<PaneSide, number>, h: number, footHeight: number): Record<PaneSide, PaneRoom> {
  return {
    memory: { w: widths.memory, h: widths.graph ? h : h - footHeight },
    graph: { w: widths.graph, h: h - footHeight },
  };
}

/** The largest scale at which every row of every step is full and nothing ever moves, and there the largest cells; null
 * where there is none. */
function largestFittingSize(
  model: StageModel,
  size: StageSize,
  share: number | null,
  side: PaneSide | null,
  footHeight: number,
): FittingSize | null {
  if (side || !Number.isFinite(size.h)) return null;
  const key = `${size.w} ${size.h} ${share} ${footHeight}`;
  let fitting = model.scales.get(key);
  if (fitting === undefined) {
    const k =
      STAGE_SCALES.find((scale) => fitsAtScale(model, size, scale, { share, footHeight, numbers: true })) ??
      STAGE_SCALES.find((scale) => fitsAtScale(model, size, scale, { share, footHeight }));
    fitting = k === undefined ? null : { k, cells: largestFittingCells(model, size, k, { share, footHeight }) };
    model.scales.set(key, fitting);
    model.memory.plainSteps.clear(); // they were for the search
  }
  return fitting;
}

/** Of a scale that fits: (n, 1) as columns, if there is room for them, and cells as large as there is room for. */
function largestFittingCells(model: StageModel, size: StageSize, k: number, room: Omit<FitOptions, "cells">) {
  const choices = [true, false].flatMap((columns) => CELL_SIZES.map((cell) => ({ ...cell, columns })));
  return choices.find((cells) => fitsAtScale(model, size, k, { ...room, cells })) ?? USUAL_ROW_CELLS;
}

interface FitOptions {
  share: number | null;
  footHeight: number;
  cells?: RowCells;
  /** whether few cells need numbers */
  numbers?: boolean;
}

/** Whether every row of every step has a full place of its own at a scale. */
function fitsAtScale(
  model: StageModel,
  size: StageSize,
  k: number,
  { share, footHeight, cells = USUAL_ROW_CELLS, numbers = false }: FitOptions,
) {
  const widths = paneWidths(model, size.w / k, share, null);
  const visibleHeight = size.h / k - PANE_HEADING_HEIGHT;
  const { memory, graph } = roomsOfPanes(widths, visibleHeight, footHeight / k);
  if (k > 1 && memory.w < minContentWidth(model.memory.firstNames, model.hasBrokenPins)) return false;
  if (graph.w && graphHeightForFixedPlaces(model.graph, graph.w) > graph.h) return false;
  return hasRoomForFixedPlaces(model.memory, memory.w, memory.h, cells, numbers);
}

/** The scale at which nothing has to close, however small. */
export function scaleToFitAll(model: StageModel, size: StageSize, share: number | null) {
  for (let k = 0.9; k > 0.4; k -= 0.05) {
    const widths = paneWidths(model, size.w / k, share, null);
    const visibleHeight = size.h / k - PANE_HEADING_HEIGHT;
    const graph = widths.graph ? graphHeightForFixedPlaces(model.graph, widths.graph) : 0;
    if (Math.max(memoryHeightForFixedPlaces(model.memory, widths.memory), graph) <= visibleHeight) return k;
  }
  return 0.4;
}
