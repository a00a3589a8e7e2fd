/** Rows that a step left alone keep the description of the step before: whoever draws them has nothing to compare. */

/** @typedef {import("../svg.js").VNode} VNode */
/**
 * @typedef {Map<string, {inputs: unknown[], mark: VNode}>} MarksOfStep   by row, what its description was made from, and the
 *   description
 * @typedef {{before: MarksOfStep, now: MarksOfStep}} KeptMarks   of the step that was drawn before, and of the one that is
 *   drawn now, both of one run and with the same labels
 */

/**
 * A row's description: the one that is kept, where all that it is made from is the same as then.
 * @param {KeptMarks | null} keptMarks null: none are kept @param {string} key of the row
 * @param {() => unknown[] | null} inputsOf all that the description is made from but its place; null where it says what
 *   this step did @param {number | null} y of the row; null where heights are those of the pane
 * @param {() => VNode | null} describe
 */
export function keptMark(keptMarks, key, inputsOf, y, describe) {
  const inputs = keptMarks && inputsOf();
  if (!inputs) return describe();
  const kept = keptMarks.before.get(key);
  const isKept = kept !== undefined && isSame(kept.inputs, inputs);
  const mark = isKept ? (y === null ? kept.mark : movedTo(kept.mark, y)) : describe();
  if (mark) keptMarks.now.set(key, { inputs, mark });
  return mark;
}

/** Nothing is kept yet. @returns {KeptMarks} */
export function createKeptMarks() {
  return { before: new Map(), now: new Map() };
}

/** A step was drawn, and the next will be: of the steps before, nothing is kept any more. @param {KeptMarks} keptMarks */
export function keepForNextStep(keptMarks) {
  keptMarks.before = keptMarks.now;
  keptMarks.now = new Map();
}

/** @param {unknown[]} before @param {unknown[]} now */
function isSame(before, now) {
  if (before.length !== now.length) return false;
  for (let k = 0; k < now.length; k++) if (before[k] !== now[k]) return false;
  return true;
}

/** The same description at another height. @param {VNode} mark @param {number} y @returns {VNode} */
function movedTo(mark, y) {
  const transform = rowTransform(y);
  return mark.attrs.transform === transform ? mark : { ...mark, attrs: { ...mark.attrs, transform } };
}

/** Where a row stands. @param {number} y */
export function rowTransform(y) {
  return `translate(0 ${y})`;
}
