/**
 * The descriptions of the step drawn last, for the next one: what is made from the same is the same object, and costs
 * the document nothing.
 */

import type { VNode } from "../browser/svg.ts";

/** by row, what its description was made from, and the description */
type MarksOfStep = Map<string, { inputs: unknown[]; mark: VNode }>;

/** of the step that was drawn before, and of the one that is drawn now, both of one run and with the same labels */
export interface MarkCache {
  before: MarksOfStep;
  now: MarksOfStep;
}

/**
 * The description of a row or an edge: the cached one, where all that it is made from is the same as then. No cache,
 * null, keeps none. `inputsOf` gives all that the description is made from but its place, null where it says what this
 * step did. `y` is that of the row, null where heights are those of the pane.
 */
export function cachedMark<T extends VNode | null>(
  markCache: MarkCache | null,
  key: string,
  inputsOf: () => unknown[] | null,
  y: number | null,
  describe: () => T,
): T | VNode {
  const inputs = markCache && inputsOf();
  if (!inputs) return describe();
  const cached = markCache.before.get(key);
  const isCached = cached !== undefined && areSameInputs(cached.inputs, inputs);
  const mark = isCached ? (y === null ? cached.mark : markAtHeight(cached.mark, y)) : describe();
  if (mark) markCache.now.set(key, { inputs, mark });
  return mark;
}

/** Empty. */
export function createMarkCache(): MarkCache {
  return { before: new Map(), now: new Map() };
}

/** A step was drawn, and the next will be; what it did not draw is forgotten. */
export function moveCacheToNextStep(markCache: MarkCache) {
  markCache.before = markCache.now;
  markCache.now = new Map();
}

function areSameInputs(before: unknown[], now: unknown[]) {
  if (before.length !== now.length) return false;
  for (let k = 0; k < now.length; k++) if (before[k] !== now[k]) return false;
  return true;
}

/** The same description at another height. */
function markAtHeight(mark: VNode, y: number): VNode {
  const transform = (mark.attrs.transform ?? "translate(0 0)").replace(/[^ ]+\)$/, `${y})`);
  return mark.attrs.transform === transform ? mark : { ...mark, attrs: { ...mark.attrs, transform } };
}

/** Where a row stands in its pane's part, which begins at `left`. */
export function transformToHeight(y: number, left = 0) {
  return `translate(${left} ${y})`;
}
