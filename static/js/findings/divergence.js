/** A parameter that every update throws further, until nothing that is computed from it is finite. */

import { cellsOf, numberOf } from "./numbers.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {{uid: string, steps: number[], values: number[]}} Divergence   the updates that threw it, and its largest element
 *   before the first and after each */

const LEAST_UPDATES = 3;
const LEAST_GROWTH = 2;
const LEAST_IN_ALL = 100;
const MAX_LEAVES = 40;
const MAX_WRITES = 400;

/** The parameter whose largest element grew with each of the last updates before a step, the most of all; null where none did.
 * @param {RunFacts} facts @param {number} step @returns {Divergence | null} */
export function divergenceBefore(facts, step) {
  /** @type {Divergence | null} */
  let best = null;
  const leaves = [...facts.index.lives.values()].filter(({ uid, kind, birth }) => {
    const tensor = kind === "tensor" && birth < step ? facts.tensor(uid, step) : undefined;
    return tensor?.leaf && tensor.requires_grad;
  });
  for (const { uid } of leaves.slice(0, MAX_LEAVES)) {
    const found = growthOf(facts, uid, step);
    if (found && (!best || found.values[found.values.length - 1] > best.values[best.values.length - 1])) best = found;
  }
  return best;
}

/** @param {RunFacts} facts @param {string} uid @param {number} before @returns {Divergence | null} */
function growthOf(facts, uid, before) {
  const storage = facts.handle(uid, before)?.storage;
  const writes = facts.writesOf(storage).filter(({ step }) => step < before);
  /** @type {number[]} */
  const steps = [];
  /** @type {number[]} */
  const values = [];
  for (const { step } of writes.slice(-MAX_WRITES).reverse()) {
    const [was, is] = [largest(facts, uid, step - 1), largest(facts, uid, step)];
    if (steps.length && is !== values[0]) break; // something unseen lies between
    if (was === null || is === null || is < LEAST_GROWTH * was) {
      if (is === null && !steps.length) continue; // not finite any more
      break;
    }
    if (!steps.length) values.push(is);
    steps.unshift(step);
    values.unshift(was);
  }
  if (steps.length < LEAST_UPDATES || values[values.length - 1] < LEAST_IN_ALL * Math.max(values[0], 0.01)) return null;
  return { uid, steps, values };
}

/** The largest magnitude of a tensor's elements; null where one is not finite, or they are not known. @param {RunFacts} facts
 * @param {string} uid @param {number} step */
function largest(facts, uid, step) {
  const handle = facts.handle(uid, step);
  const cells = handle ? cellsOf(facts.state(step), handle) : null;
  const magnitudes = (cells ?? []).map((cell) => Math.abs(numberOf(cell)));
  return magnitudes.length && magnitudes.every(Number.isFinite) ? Math.max(...magnitudes) : null;
}
