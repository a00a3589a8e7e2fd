/** The graph pane at rest: the places at which every node of a run stands in full, once for all of its steps. */

import { Packer } from "./packing.ts";
import { columnOf, docksHeight, FOLD, FOOT, gapAbove, NODE, PAD, SEED, TITLE } from "./graph_sizes.ts";
import type { GraphModel, Component, Still } from "./graph_parts.ts";

/** So many widths are remembered. */
const MAX_WIDTHS = 16;

/** @param w of the pane */
export function stillLayout(model: GraphModel, w: number): Still {
  const cached = model.stills.get(w);
  if (cached) return cached;
  const packer = new Packer();
  const hasTitles = haveOverlap(model.components);
  const still: Still = { height: 0, titled: hasTitles, tops: new Map(), blocks: new Map(), idle: 0 };
  for (const component of model.components) {
    const column = columnOf(component, w);
    let height = hasTitles ? TITLE : 0;
    const offsets: number[] = [];
    for (const block of component.order) {
      offsets.push(height);
      const { docks, visited, seed } = block;
      height += gapAbove(block, column, visited) + docksHeight(docks.length) + NODE + (seed ? SEED : 0);
    }
    const top = PAD + packer.allocate(component.birth, component.death, height);
    still.tops.set(component.key, top);
    component.order.forEach((block, i) => still.blocks.set(block.uid, top + offsets[i]));
  }
  still.idle = PAD + packer.height;
  still.height = still.idle + (hasIdleLeaf(model) ? FOLD : 0) + FOOT;
  if (model.stills.size >= MAX_WIDTHS) model.stills.clear();
  model.stills.set(w, still);
  return still;
}

/** @param components by birth */
function haveOverlap(components: Component[]) {
  let death = -1;
  for (const component of components) {
    if (component.birth <= death) return true;
    death = Math.max(death, component.death);
  }
  return false;
}

/** Whether a leaf's node ever outlives, or comes before, all that read it. */
function hasIdleLeaf({ index, leaves, readersOf }: GraphModel) {
  return leaves.some((leafUid) => {
    const ownLife = index.lives.get(leafUid);
    const readerLives = (readersOf.get(leafUid) ?? []).flatMap((uid) => index.lives.get(uid) ?? []);
    readerLives.sort((a, b) => a.birth - b.birth);
    let coveredUntil = (ownLife?.birth ?? 0) - 1;
    for (const { birth, death } of readerLives)
      if (birth <= coveredUntil + 1) coveredUntil = Math.max(coveredUntil, death);
    return ownLife !== undefined && ownLife.birth <= ownLife.death && coveredUntil < ownLife.death;
  });
}
