/** The graph pane at rest: the places at which every node of a run stands in full, once for all of its steps. */

import { IntervalPacker } from "../packing.ts";
import {
  graphColumn,
  attachedLeavesHeight,
  GRAPH_FOLD_HEIGHT,
  GRAPH_BOTTOM_PADDING,
  gapAboveNode,
  GRAPH_TOP_PADDING,
  initialGradientHeight,
  GRAPH_TITLE_HEIGHT,
  LARGE_GRAPH_SIZES,
  NORMAL_GRAPH_SIZES,
} from "./graph_sizes.ts";
import type { GraphModel, GraphComponent, GraphSizes, FixedGraphPlaces } from "./graph_parts.ts";

/** So many widths are remembered. */
const MAX_CACHED_WIDTHS = 16;

/**
 * The most that is added above a node so that a graph takes its pane, and the part of it that is added below the leaves
 * docked to it.
 */
const MAX_SPREAD = 160;
const LEAVES_SHARE_OF_SPREAD = 0.3;
/** Of the height that a graph leaves, the part above it. */
const SHARE_ABOVE = 0.4;
/** Above the title of a graph that stands below another, where there is room. */
const MAX_GAP_ABOVE_TITLE = 14;
/** So finely is looked for the spread that fits. */
const SPREAD_STEP = 4;
/** Names are large in panes that are at least so wide. */
const MIN_LARGE_WIDTH = 300;

/**
 * The places in a pane that has room for more: larger, if that fits, and spread over its height `h`. Null where they
 * don't fit.
 */
export function spreadGraphPlaces(model: GraphModel, w: number, h: number): FixedGraphPlaces | null {
  if (!Number.isFinite(h)) return null;
  const key = `${w} ${h}`;
  const cached = model.spreads.get(key);
  if (cached !== undefined) return cached;
  if (model.spreads.size >= MAX_CACHED_WIDTHS) model.spreads.clear();
  const places = largestSpread(model, w, h);
  model.spreads.set(key, places);
  return places;
}

function largestSpread(model: GraphModel, w: number, h: number): FixedGraphPlaces | null {
  const sizes = w >= MIN_LARGE_WIDTH ? [LARGE_GRAPH_SIZES, NORMAL_GRAPH_SIZES] : [NORMAL_GRAPH_SIZES];
  for (const size of sizes) {
    if (fixedGraphPlaces(model, w, size).height > h) continue;
    let [fitting, tooMuch] = [0, MAX_SPREAD / SPREAD_STEP + 1];
    while (tooMuch - fitting > 1) {
      const middle = (fitting + tooMuch) >> 1;
      if (arrangeGraphs(model, w, size, middle * SPREAD_STEP).height <= h) fitting = middle;
      else tooMuch = middle;
    }
    const places = arrangeGraphs(model, w, size, fitting * SPREAD_STEP);
    moveDown(places, Math.floor((h - places.height) * SHARE_ABOVE));
    return places;
  }
  return null;
}

function moveDown(places: FixedGraphPlaces, by: number) {
  for (const [key, top] of places.tops) places.tops.set(key, top + by);
  for (const [uid, top] of places.blocks) places.blocks.set(uid, top + by);
  places.idle += by;
  places.height += by;
}

/** `w` is the pane's width. */
export function fixedGraphPlaces(
  model: GraphModel,
  w: number,
  sizes: GraphSizes = NORMAL_GRAPH_SIZES,
): FixedGraphPlaces {
  const key = `${w} ${sizes.node}`;
  const cached = model.stills.get(key);
  if (cached) return cached;
  if (model.stills.size >= MAX_CACHED_WIDTHS) model.stills.clear();
  const places = arrangeGraphs(model, w, sizes, 0);
  model.stills.set(key, places);
  return places;
}

/** `spread` is added above each node but a graph's first. */
function arrangeGraphs(model: GraphModel, w: number, denseSizes: GraphSizes, spread: number): FixedGraphPlaces {
  const sizes = {
    ...denseSizes,
    leavesGap: denseSizes.leavesGap + Math.floor(spread * LEAVES_SHARE_OF_SPREAD),
  };
  const packer = new IntervalPacker();
  const hasTitles = haveOverlappingLifetimes(model.components);
  const still: FixedGraphPlaces = {
    height: 0,
    titled: hasTitles,
    tops: new Map(),
    blocks: new Map(),
    idle: 0,
    sizes,
    spread,
  };
  for (const component of model.components) {
    const column = graphColumn(component, w, sizes);
    let height = hasTitles ? GRAPH_TITLE_HEIGHT : 0;
    const offsets: number[] = [];
    for (const block of component.order) {
      if (offsets.length) height += spread;
      offsets.push(height - (offsets.length ? spread : 0));
      const { docks, visited, seed } = block;
      height +=
        gapAboveNode(block, column, visited) +
        attachedLeavesHeight(docks.length, sizes) +
        sizes.node +
        (seed ? initialGradientHeight(sizes) : 0);
    }
    if (hasTitles) height += Math.min(MAX_GAP_ABOVE_TITLE, spread);
    const top = GRAPH_TOP_PADDING + packer.allocate(component.birth, component.death, height);
    still.tops.set(component.key, top);
    component.order.forEach((block, i) => still.blocks.set(block.uid, top + offsets[i]));
  }
  still.idle = GRAPH_TOP_PADDING + packer.height;
  still.height = still.idle + (hasUnreadLeaf(model) ? GRAPH_FOLD_HEIGHT : 0) + GRAPH_BOTTOM_PADDING;
  return still;
}

/** The components are in the order of their births. */
function haveOverlappingLifetimes(components: GraphComponent[]) {
  let death = -1;
  for (const component of components) {
    if (component.birth <= death) return true;
    death = Math.max(death, component.death);
  }
  return false;
}

/** Whether a leaf's node ever outlives, or comes before, all that read it. */
function hasUnreadLeaf({ index, leaves, readersOf }: GraphModel) {
  return leaves.some((leafUid) => {
    const ownLife = index.lifetimes.get(leafUid);
    const readerLives = (readersOf.get(leafUid) ?? []).flatMap((uid) => index.lifetimes.get(uid) ?? []);
    readerLives.sort((a, b) => a.birth - b.birth);
    let coveredUntil = (ownLife?.birth ?? 0) - 1;
    for (const { birth, death } of readerLives)
      if (birth <= coveredUntil + 1) coveredUntil = Math.max(coveredUntil, death);
    return ownLife !== undefined && ownLife.birth <= ownLife.death && coveredUntil < ownLife.death;
  });
}
