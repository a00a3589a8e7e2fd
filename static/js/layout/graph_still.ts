/** The graph pane at rest: the places at which every node of a run stands in full, once for all of its steps. */

import { IntervalPacker } from "./packing.ts";
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

/** The most that is added above a node so that a graph takes its pane. */
const MAX_SPREAD = 110;
/** Names are large in panes that are at least so wide. */
const MIN_LARGE_WIDTH = 300;

/** The places in a pane that has room for more: larger, if that fits, and spread over its height.
 * @param h of the pane @returns null where they don't fit */
export function spreadGraphPlaces(model: GraphModel, w: number, h: number): FixedGraphPlaces | null {
  if (!Number.isFinite(h)) return null;
  const sizes = w >= MIN_LARGE_WIDTH ? [LARGE_GRAPH_SIZES, NORMAL_GRAPH_SIZES] : [NORMAL_GRAPH_SIZES];
  for (const size of sizes) {
    const dense = fixedGraphPlaces(model, w, size);
    if (dense.height > h) continue;
    const gaps = fixedGraphPlaces(model, w, size, 1).height - dense.height;
    const spread = gaps > 0 ? Math.floor(Math.min(MAX_SPREAD, (h - dense.height) / gaps)) : 0;
    return spread > 0 ? fixedGraphPlaces(model, w, size, spread) : dense;
  }
  return null;
}

/** @param w of the pane @param spread what is added above each node but a graph's first */
export function fixedGraphPlaces(
  model: GraphModel,
  w: number,
  sizes: GraphSizes = NORMAL_GRAPH_SIZES,
  spread = 0,
): FixedGraphPlaces {
  const key = `${w} ${sizes.node} ${spread}`;
  const cached = model.stills.get(key);
  if (cached) return cached;
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
    const top = GRAPH_TOP_PADDING + packer.allocate(component.birth, component.death, height);
    still.tops.set(component.key, top);
    component.order.forEach((block, i) => still.blocks.set(block.uid, top + offsets[i]));
  }
  still.idle = GRAPH_TOP_PADDING + packer.height;
  still.height = still.idle + (hasUnreadLeaf(model) ? GRAPH_FOLD_HEIGHT : 0) + GRAPH_BOTTOM_PADDING;
  if (model.stills.size >= MAX_CACHED_WIDTHS) model.stills.clear();
  model.stills.set(key, still);
  return still;
}

/** @param components by birth */
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
