/** Is a new tensor a leaf, and does it share memory with the one that it comes from? */

import { find } from "../entities.js";
import { yesOrNo } from "./question.js";
import { elementsOf, memoryOf } from "./readings.js";

/** @typedef {import("./units.js").Unit} Unit */
/** @typedef {import("../entities.js").Handle} Handle */
/** @typedef {Partial<import("./question.js").Question>} Asked */

const SHARES_WEIGHT = 74;
/** A leaf that comes from a tensor with a gradient, or a tensor that was meant to be one. */
const SURPRISING_LEAF_WEIGHT = 64;
const PLAIN_LEAF_WEIGHT = 44;

/** What the statement bound to a plain name and made. @param {Unit} unit */
function tensorsMade({ opened, step, named, isBackward, raised }) {
  const { fresh } = opened.at(step);
  return isBackward || raised ? [] : named.filter(({ name, uid }) => fresh.has(uid) && /^\w+$/.test(name));
}

/** Asked where the numbers alone do not tell. @param {Unit} unit @returns {Asked[]} */
export function askShares(unit) {
  const { before, after, named, mentioned } = unit;
  return tensorsMade(unit).flatMap((one) =>
    named.flatMap((other) => {
      if (other.uid === one.uid || !before.has(other.uid) || !mentioned.names.has(other.name)) return [];
      const shares = sharesMemory(after, one.handle, other.handle);
      if (shares === null) return [];
      return [
        {
          kind: "shares",
          what: one.name,
          other: other.name,
          uid: one.uid,
          weight: SHARES_WEIGHT,
          reason: null,
          ...yesOrNo(shares),
        },
      ];
    }),
  );
}

/** Whether two handles read a cell in common; null where their numbers tell that they have nothing to do with each other,
 * or the trace does not list them. @param {import("../state.js").Entities} entities @param {Handle} first @param {Handle} second */
function sharesMemory(entities, first, second) {
  const [mine, theirs] = [elementsOf(entities, first), elementsOf(entities, second)];
  if (!mine?.length || !theirs?.length) return null;
  const known = new Set(theirs.map(({ value }) => JSON.stringify(value)));
  if (known.size < 2 && theirs.length > 1 && mine.length !== theirs.length) return null;
  if (!mine.every(({ value }) => known.has(JSON.stringify(value)))) return null;
  if (memoryOf(entities, first) !== memoryOf(entities, second)) return false;
  if (first.storage !== second.storage) return true; // an array and the tensor on it
  const cells = new Set(theirs.map(({ cell }) => cell));
  return mine.some(({ cell }) => cells.has(cell)) ? true : null;
}

/** @param {Unit} unit @returns {Asked[]} */
export function askLeaf(unit) {
  const { before, code, namedBefore, mentioned } = unit;
  const comesFromGrad = namedBefore.some(
    ({ name, uid }) => mentioned.names.has(name.split(/[.[]/)[0]) && find(before, uid, "tensor")?.requires_grad,
  );
  const asksForGrad = /requires_grad\s*=\s*True|requires_grad_\(|Parameter\(/.test(code);
  return tensorsMade(unit).flatMap(({ name, uid, handle }) => {
    if (handle.kind !== "tensor" || typeof handle.leaf !== "boolean" || !(comesFromGrad || asksForGrad)) return [];
    if (handle.leaf && !comesFromGrad) return []; // made as a leaf, and nothing else
    const surprising = handle.leaf || asksForGrad || /\.(to|cuda|cpu|float|double|half)\(/.test(code);
    const weight = surprising ? SURPRISING_LEAF_WEIGHT : PLAIN_LEAF_WEIGHT;
    const reason = handle.leaf ? "predict_why_leaf" : "predict_why_no_leaf";
    return [{ kind: "leaf", what: name, uid, weight, reason, ...yesOrNo(handle.leaf) }];
  });
}
