/** The graph pane at rest: the places at which every node of a run stands in full, once for all of its steps. */

import { IntervalPacker } from "./packing.ts";
import {
  graphColumn,
  attachedLeavesHeight,
  GRAPH_FOLD_HEIGHT,
  GRAPH_BOTTOM_PADDING,
  gapAboveNode,
  OPEN_NODE_HEIGHT,
  GRAPH_TOP_PADDING,
  INITIAL_GRADIENT_HEIGHT,
  GRAPH_TITLE_HEIGHT,
} from "./graph_sizes.ts";
import type { GraphModel, GraphComponent, FixedGraphPlaces } from "./graph_parts.ts";

/** So many widths are remembered. */
const MAX_CACHED_WIDTHS = 16;

/** @param w of the pane */
export function fixedGraphPlaces(model: GraphModel, w: number): FixedGraphPlaces {
  const cached = model.stills.get(w);
  if (cached) return cached;
  const packer = new IntervalPacker();
  const hasTitles = haveOverlappingLifetimes(model.components);
  const still: FixedGraphPlaces = { height: 0, titled: hasTitles, tops: new Map(), blocks: new Map(), idle: 0 };
  for (const component of model.components) {
    const column = graphColumn(component, w);
    let height = hasTitles ? GRAPH_TITLE_HEIGHT : 0;
    const offsets: number[] = [];
    for (const block of component.order) {
      offsets.push(height);
      const { docks, visited, seed } = block;
      height +=
        gapAboveNode(block, column, visited) +
        attachedLeavesHeight(docks.length) +
        OPEN_NODE_HEIGHT +
        (seed ? INITIAL_GRADIENT_HEIGHT : 0);
    }
    const top = GRAPH_TOP_PADDING + packer.allocate(component.birth, component.death, height);
    still.tops.set(component.key, top);
    component.order.forEach((block, i) => still.blocks.set(block.uid, top + offsets[i]));
  }
  still.idle = GRAPH_TOP_PADDING + packer.height;
  still.height = still.idle + (hasUnreadLeaf(model) ? GRAPH_FOLD_HEIGHT : 0) + GRAPH_BOTTOM_PADDING;
  if (model.stills.size >= MAX_CACHED_WIDTHS) model.stills.clear();
  model.stills.set(w, still);
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
