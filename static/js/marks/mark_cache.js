/** The descriptions of the step drawn last, for the next one: what is made from the same is the same object, and costs the
 * document nothing. */

/** @typedef {import("../browser/svg.js").VNode} VNode */
/**
 * @typedef {Map<string, {inputs: unknown[], mark: VNode}>} MarksOfStep   by row, what its description was made from, and the
 *   description
 * @typedef {{before: MarksOfStep, now: MarksOfStep}} MarkCache   of the step that was drawn before, and of the one that is
 *   drawn now, both of one run and with the same labels
 */

/**
 * The description of a row or an edge: the cached one, where all that it is made from is the same as then.
 * @param {MarkCache | null} markCache null: none are cached @param {string} key of the row
 * @param {() => unknown[] | null} inputsOf all that the description is made from but its place; null where it says what
 *   this step did @param {number | null} y of the row; null where heights are those of the pane
 * @template {VNode | null} T @param {() => T} describe @returns {T | VNode}
 */
export function cachedMark(markCache, key, inputsOf, y, describe) {
  const inputs = markCache && inputsOf();
  if (!inputs) return describe();
  const cached = markCache.before.get(key);
  const isCached = cached !== undefined && sameInputs(cached.inputs, inputs);
  const mark = isCached ? (y === null ? cached.mark : atHeight(cached.mark, y)) : describe();
  if (mark) markCache.now.set(key, { inputs, mark });
  return mark;
}

/** Empty. @returns {MarkCache} */
export function createMarkCache() {
  return { before: new Map(), now: new Map() };
}

/** A step was drawn, and the next will be; what it did not draw is forgotten. @param {MarkCache} markCache */
export function startNextStep(markCache) {
  markCache.before = markCache.now;
  markCache.now = new Map();
}

/** @param {unknown[]} before @param {unknown[]} now */
function sameInputs(before, now) {
  if (before.length !== now.length) return false;
  for (let k = 0; k < now.length; k++) if (before[k] !== now[k]) return false;
  return true;
}

/** The same description at another height. @param {VNode} mark @param {number} y @returns {VNode} */
function atHeight(mark, y) {
  const transform = rowTransform(y);
  return mark.attrs.transform === transform ? mark : { ...mark, attrs: { ...mark.attrs, transform } };
}

/** Where a row stands. @param {number} y */
export function rowTransform(y) {
  return `translate(0 ${y})`;
}
