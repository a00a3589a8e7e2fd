/** What is in `.grad` afterwards? Of leaves, of tensors that keep none, and after it was reset. */

import { find, findHandle } from "../entities.js";
import { cellsOf, numberOf, numbersText } from "../findings/numbers.js";
import { choose, typed } from "./question.js";
import { combined, elementName, isShort, reading } from "./readings.js";

/** @typedef {import("./units.js").Unit} Unit */
/** @typedef {import("./units.js").Named} Named */
/** @typedef {import("../entities.js").Cell} Cell */
/** @typedef {Partial<import("./question.js").Question>} Asked */

const ADDED_WEIGHT = 88;
const CUT_WEIGHT = 87;
const RESET_WEIGHT = 84;
const NOT_KEPT_WEIGHT = 80;
const FIRST_WEIGHT = 70;
/** What backward kept was changed without its notice. */
const SILENTLY_WRONG_WEIGHT = 90;
/** A gradient of longer numbers than a reader works out. */
const LONG_NUMBERS_WEIGHT = 46;

/** @param {Unit} unit @returns {Asked[]} */
export function askGradient(unit) {
  if (unit.raised) return [];
  return unit.named.flatMap((one) =>
    one.handle.kind === "tensor" ? (unit.isBackward ? askAfterBackward(unit, one) : askReset(unit, one)) : [],
  );
}

/** The numbers of a tensor's `.grad`; null for None, undefined where the trace does not list them.
 * @param {import("../state.js").Entities} entities @param {string} uid @returns {Cell[] | null | undefined} */
function gradCells(entities, uid) {
  const grad = find(entities, uid, "tensor")?.grad;
  if (!grad) return null;
  const handle = findHandle(entities, grad);
  return (handle && cellsOf(entities, handle)) ?? undefined;
}

/** @param {Unit} unit @param {Named} one @returns {Asked[]} */
function askAfterBackward(unit, one) {
  const before = gradCells(unit.before, one.uid);
  const after = gradCells(unit.after, one.uid);
  if (before === undefined || after === undefined) return [];
  if (after === null) return one.handle.leaf ? askCut(unit, one) : askNotKept(unit, one);
  if (before && JSON.stringify(before) === JSON.stringify(after)) return [];
  return before ? askAdded(one, before, after) : askFirst(unit, one, after);
}

/** @param {Named} one @param {Cell[]} before @param {Cell[]} after @returns {Asked[]} */
function askAdded(one, before, after) {
  const came = combined(after, before, (a, b) => a - b);
  return gradientQuestion(one, after, [came, before], [], ADDED_WEIGHT);
}

/** @param {Unit} unit @param {Named} one @param {Cell[]} after @returns {Asked[]} */
function askFirst({ before }, one, after) {
  const own = cellsOf(before, one.handle) ?? after;
  const isWrong = [...before.values()].some(
    (entity) => entity.kind === "node" && Object.values(entity.saved ?? {}).some(({ state }) => state === "changed"),
  );
  const weight = isWrong ? SILENTLY_WRONG_WEIGHT : after.every(isShort) ? FIRST_WEIGHT : LONG_NUMBERS_WEIGHT;
  if (after.length === 1 && isShort(after[0])) {
    const index = (one.handle.shape ?? []).map(() => 0);
    const answer = typed(numberOf(after[0]), numbersText(after, true));
    const what = elementName(`${one.name}.grad`, index);
    return [{ kind: "grad", what, uid: one.uid, index, weight, reason: null, ...answer }];
  }
  const beliefs = [after.map(() => 1), own, combined(after, after, (a) => 2 * a)];
  return gradientQuestion(one, after, beliefs, ["None"], weight);
}

/** A gradient came by and was not kept. @param {Unit} unit @param {Named} one @returns {Asked[]} */
function askNotKept({ opened, at, step, before }, one) {
  const { grad_fn: node, output_nr: nr = 0 } = one.handle;
  if (!node || !one.handle.requires_grad || !before.has(one.uid)) return [];
  const visit = opened.trace.steps.slice(at + 1, step).find((other) => other.visit?.node === node)?.visit;
  const cells = visit?.grad_outputs[nr]?.cells;
  if (!cells?.length) return [];
  return none(one, [cells, cells.map(() => 0)], NOT_KEPT_WEIGHT);
}

/** A leaf from which the graph was cut off. @param {Unit} unit @param {Named} one @returns {Asked[]} */
function askCut({ opened, at }, one) {
  const places = opened.index.events.get("path_cut") ?? [];
  const isCut = places.some(({ step, at: k }) => {
    const entry = opened.trace.steps[step].log[k];
    return step <= at && entry.kind === "event" && entry.event === "path_cut" && entry.tensor === one.uid;
  });
  const size = (one.handle.shape ?? []).reduce((a, b) => a * b, 1);
  if (!isCut || !one.handle.requires_grad || size > 64) return [];
  const zeros = new Array(size).fill(0);
  return none(one, [zeros.map(() => 1), zeros], CUT_WEIGHT);
}

/** A `.grad` that was there is gone, or all zeros. @param {Unit} unit @param {Named} one @returns {Asked[]} */
function askReset({ before, after }, one) {
  const was = gradCells(before, one.uid);
  const is = gradCells(after, one.uid);
  if (!was || is === undefined || !was.some((cell) => numberOf(cell) !== 0)) return [];
  const zeros = was.map(() => 0);
  if (is === null) return none(one, [zeros, was], RESET_WEIGHT);
  return is.every((cell) => numberOf(cell) === 0) ? gradientQuestion(one, is, [was], ["None"], RESET_WEIGHT) : [];
}

/** A question whose answer is None. @param {Named} one @param {Cell[][]} beliefs @param {number} weight @returns {Asked[]} */
function none({ name, uid, handle }, beliefs, weight) {
  const shape = handle.shape ?? [];
  const answer = choose(
    "None",
    beliefs.map((cells) => numbersText(cells, shape.length === 0)),
  );
  const what = `${name}.grad`;
  return answer ? [{ kind: "grad", what, uid, index: null, weight, reason: "predict_why_grad", ...answer }] : [];
}

/** @param {Named} one @param {Cell[]} cells that are right @param {Cell[][]} beliefs @param {string[]} texts more beliefs
 * @param {number} weight @returns {Asked[]} */
function gradientQuestion({ name, uid, handle }, cells, beliefs, texts, weight) {
  const shape = handle.shape ?? [];
  const { index, text } = reading(cells, shape);
  const answer = choose(text, [...beliefs.map((other) => reading(other, shape).text), ...texts]);
  const what = elementName(`${name}.grad`, index ?? []);
  return answer ? [{ kind: "grad", what, uid, index, weight, reason: null, ...answer }] : [];
}
