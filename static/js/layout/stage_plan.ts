/** The plan of the stage at a step: how wide its two panes are, at what scale, and what stands where in each. */

import { hasGraphFocus } from "./graph/graph_focus.ts";
import { cachedGraphModel } from "./graph/graph_model.ts";
import {
  layoutGraphPane,
  graphHeightForFixedPlaces,
  graphPaneWidth,
  nodeLabelsByUid,
  type GraphPane,
} from "./graph/graph_pane.ts";
import { GraphStep } from "./graph/graph_step.ts";
import {
  hasRoomForFixedPlaces,
  buildMemoryModel,
  layoutMemoryPane,
  memoryHeightForFixedPlaces,
  type MemoryPane,
} from "./memory/memory_pane.ts";
import { leastContentWidth } from "./memory/memory_columns.ts";
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
  /** pixels of the size's height that the headline takes, over both panes or between their overviews */
  headline?: number;
} & Partial<PaneOptions>;

/**
 * large: every row of the run has a place of its own; list: a line of its own, and what the step touched is open beside
 * the lines; flow: what there is room for is open
 */
type StageDensity = "large" | "list" | "flow";

export interface StagePlan {
  model: StageModel;
  i: number;
  density: StageDensity;
  /** whether the reader can share the width between memory and graph at this step */
  divided: boolean;
  /** pixels for a unit */
  k: number;
  /** the one that is shown of a narrow stage, else null */
  side: PaneSide | null;
  /** of the panes, in units, 0 for one that isn't shown */
  widths: Record<PaneSide, number>;
  /** of what is in sight of a pane, in units */
  height: number;
  memory: MemoryPane | null;
  graph: GraphPane | null;
  /**
   * where the headline stands between the overviews of the panes, from the stage's left, in units; null where it stands
   * over the panes
   */
  headline: { x: number; w: number } | null;
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
/** In units: the list of names and the map of nodes of a stage at least so wide, and of one that is narrower. */
const OVERVIEW_WIDTHS = { wideStage: 1000, list: { wide: 290, narrow: 256 }, map: { wide: 136, narrow: 124 } };
/** A narrower stage has no room for a list, a map and what stands between them. */
const MIN_STAGE_WIDTH_FOR_LIST = 860;
/** Units above what the step touched, for its sentence. */
const HEADLINE_HEIGHT = 88;
/** Of what is between list and map, the memory's part. */
const MEMORY_SHARE_OF_FOCUS = 0.56;
/** Units that each is left with of what is between list and map. */
const MIN_FOCUS_WIDTH = 200;
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

export function planStage(model: StageModel, i: number, stageSize: StageSize, options: StageOptions = {}): StagePlan {
  const below = { w: stageSize.w, h: stageSize.h - (options.headline ?? 0) };
  const {
    scale = null,
    share = null,
    foot: footHeight = 0,
    selected = DEFAULT_PANE_OPTIONS.selected,
    toggled = DEFAULT_PANE_OPTIONS.toggled,
    compact,
  } = options;
  const side = isNarrowStage(stageSize.w) ? (options.side ?? defaultPaneOf(model, i)) : null;
  const fitting = largestFittingSize(model, below, share, side, footHeight);
  const k = scale ?? fitting?.k ?? 1;
  const density = densityOf(model, below, { k, fitting: fitting?.k ?? null, share, side, footHeight, compact });
  const size = density === "list" ? stageSize : below;
  const paneOptions = { selected, toggled, compact, told: options.told };
  const top = options.headline === undefined ? HEADLINE_HEIGHT : options.headline / k;
  const graphStep = new GraphStep(model.graph, i, paneOptions);
  const overview =
    density === "list" ? overviewOf(model, { w: size.w / k, top }, share, hasGraphFocus(graphStep)) : null;
  const widths = overview?.widths ?? paneWidths(model, size.w / k, share, side);
  const visibleHeight = size.h / k - PANE_HEADING_HEIGHT;
  const paneRooms = roomsOfPanes(widths, visibleHeight, footHeight / k);
  if (density === "large" && fitting && k <= fitting.k) paneRooms.memory.cells = fitting.cells;
  if (overview) {
    paneRooms.memory = { w: widths.memory, h: visibleHeight, overview: overview.list };
    paneRooms.graph.overview = overview.map;
  }
  return {
    model,
    i,
    density,
    divided: widths.graph > 0 && (!overview || overview.divided),
    k,
    side,
    widths,
    height: visibleHeight,
    memory: widths.memory ? layoutMemoryPane(model.memory, i, paneRooms.memory, paneOptions) : null,
    graph: widths.graph ? layoutGraphPane(model.graph, i, paneRooms.graph, paneOptions, graphStep) : null,
    headline: headlineBetweenOverviews(paneRooms, widths),
  };
}

function headlineBetweenOverviews({ memory, graph }: Record<PaneSide, PaneRoom>, widths: Record<PaneSide, number>) {
  if (!memory.overview) return null;
  const { w: x } = memory.overview;
  return { x, w: widths.memory + widths.graph - x - (graph.overview?.w ?? 0) };
}

/** The pane that a narrow stage shows of a step by itself: the graph while backward runs. */
function defaultPaneOf({ opened }: StageModel, i: number): PaneSide {
  return opened.trace.steps[i]?.visit ? "graph" : "memory";
}

/** Of a window's size one density is right for the whole run; a scale of the reader's own may need another. */
function densityOf(
  model: StageModel,
  size: StageSize,
  plan: {
    k: number;
    fitting: number | null;
    share: number | null;
    side: PaneSide | null;
    footHeight: number;
    compact?: boolean;
  },
): StageDensity {
  const { k, fitting, share, side, footHeight, compact } = plan;
  if (side || !Number.isFinite(size.h) || compact) return "flow";
  if (fitting !== null && k <= fitting) return "large";
  if (fitsAtScale(model, size, k, { share, footHeight })) return "large";
  return fitting === null && size.w / k >= MIN_STAGE_WIDTH_FOR_LIST ? "list" : "flow";
}

interface StageOverview {
  /** whether the graph has more than its map */
  divided: boolean;
  widths: Record<PaneSide, number>;
  list: NonNullable<PaneRoom["overview"]>;
  map: NonNullable<PaneRoom["overview"]>;
}

/**
 * How a stage is shared by the list, what the step touched of the memory and of the graph, and the map. `w` is in
 * units; `top` is that of the headline. `isGraphInFocus`: there is something to show of the graph, beside the map.
 */
function overviewOf(
  model: StageModel,
  { w, top }: { w: number; top: number },
  share: number | null,
  isGraphInFocus: boolean,
): StageOverview {
  const kind = w >= OVERVIEW_WIDTHS.wideStage ? "wide" : "narrow";
  const list = OVERVIEW_WIDTHS.list[kind];
  const hasGraph = graphPaneWidth(model.graph, w) > 0;
  const map = hasGraph ? OVERVIEW_WIDTHS.map[kind] : 0;
  const middle = w - list - map;
  const wanted = share === null ? middle * MEMORY_SHARE_OF_FOCUS : w * share - list;
  const usual = hasGraph ? Math.round(Math.max(MIN_FOCUS_WIDTH, Math.min(middle - MIN_FOCUS_WIDTH, wanted))) : middle;
  const divided = hasGraph && isGraphInFocus;
  const memory = list + (divided ? usual : middle);
  return { divided, widths: { memory, graph: w - memory }, list: { w: list, top, usual }, map: { w: map, top } };
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
  if (k > 1 && memory.w < leastContentWidth(model.memory.homes, model.hasBrokenPins)) return false;
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
