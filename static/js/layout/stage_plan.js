/** The plan of the stage at a step: how wide its two panes are, at what scale, and what stands where in each. */

import { graphModelOf } from "./graph_model.js";
import { graphPane, graphStill, graphWidth, nodeLabels } from "./graph_pane.js";
import { fitsStill, memoryModel, memoryPane, stillHeight } from "./memory_pane.js";
import { PLAIN } from "./pane.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/**
 * @typedef {{opened: OpenTrace, memory: import("./memory_pane.js").MemoryModel, graph: import("./graph_pane.js").GraphModel,
 *   scales: Map<string, number>}} StageModel   of one run; scales: those found for sizes
 * @typedef {"memory" | "graph"} Side
 * @typedef {{w: number, h: number}} Size   pixels; h is Infinity where nothing has to close
 * @typedef {{scale?: number | null, share?: number | null, side?: Side | null, foot?: number} & Partial<import("./pane.js").PaneOptions>} StageOptions
 *   scale: the reader's, null for the one that fits. share: the part of the width that the reader gave the memory. side: of
 *   a narrow stage, the pane that is shown. foot: pixels at the right pane's foot that something else stands on
 * @typedef {{model: StageModel, i: number, k: number, side: Side | null, widths: Record<Side, number>, height: number,
 *   memory: import("./memory_pane.js").MemoryPane | null, graph: import("./graph_pane.js").GraphPane | null}} StagePlan
 *   k: pixels for a unit. side: the one that is shown of a narrow stage, else null. widths: of the panes, in units, 0 for
 *   one that isn't shown. height: of what is in sight of a pane, in units
 */

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

/** @param {OpenTrace} opened @returns {StageModel} */
export function stageModel(opened) {
  const graph = graphModelOf(opened);
  return { opened, memory: memoryModel(opened, nodeLabels(graph)), graph, scales: new Map() };
}

/** Whether a stage of that width shows one pane at a time. @param {number} w pixels */
export function isNarrow(w) {
  return w > 0 && w < NARROW_WIDTH;
}

/** @param {StageModel} model @param {number} i @param {Size} size @param {StageOptions} [options] @returns {StagePlan} */
export function stagePlan(model, i, size, options = {}) {
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

/** The pane that a narrow stage shows of a step by itself: the graph while backward runs. @param {StageModel} model @param {number} i @returns {Side} */
export function sideOf({ opened }, i) {
  return opened.trace.steps[i]?.visit ? "graph" : "memory";
}

/** Widths of the panes in units. @param {StageModel} model @param {number} w @param {number | null} share @param {Side | null} side
 * @returns {Record<Side, number>} */
function paneWidths(model, w, share, side) {
  if (side) return { memory: side === "memory" ? w : 0, graph: side === "graph" ? w : 0 };
  const graphShare = graphWidth(model.graph, w);
  if (!graphShare) return { memory: w, graph: 0 };
  const memory = Math.round(share === null ? w - graphShare : w * Math.max(MIN_SHARE, Math.min(1 - MIN_SHARE, share)));
  return { memory, graph: w - memory };
}

/** The room of each pane; the foot is taken from the one at the right. @param {Record<Side, number>} widths
 * @param {number} h @param {number} footHeight @returns {Record<Side, import("./pane.js").Room>} */
function roomsOf(widths, h, footHeight) {
  return {
    memory: { w: widths.memory, h: widths.graph ? h : h - footHeight },
    graph: { w: widths.graph, h: h - footHeight },
  };
}

/** The largest scale at which every row of every step is full and nothing ever moves; 1 where there is none.
 * @param {StageModel} model @param {Size} size @param {number | null} share @param {Side | null} side @param {number} footHeight */
function fittingScale(model, size, share, side, footHeight) {
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

/** The scale at which nothing has to close, however small. @param {StageModel} model @param {Size} size @param {number | null} share */
export function scaleToFitAll(model, size, share) {
  for (let k = 0.9; k > 0.4; k -= 0.05) {
    const widths = paneWidths(model, size.w / k, share, null);
    const visibleHeight = size.h / k - HEADING;
    const graph = widths.graph ? graphStill(model.graph, widths.graph) : 0;
    if (Math.max(stillHeight(model.memory, widths.memory), graph) <= visibleHeight) return k;
  }
  return 0.4;
}
