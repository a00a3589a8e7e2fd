/** Where the program reads the `.grad` of which tensor. */

import { mentionsAt } from "./program_text.js";
import { resolve } from "./resolve.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {{uid: string, path: string, step: number}} Reading   path: as the program's text has it */

/** Of a loop's readings of one expression so many are looked at, and the last. */
const MAX_READINGS = 4;

/** @type {WeakMap<object, Reading[]>} */
const cache = new WeakMap();

/** The readings of a run, in order; of a loop the first few and the last. @param {RunFacts} facts @returns {Reading[]} */
export function gradReadings(facts) {
  const known = cache.get(facts.trace);
  if (known) return known;
  /** @type {Reading[]} */
  const out = [];
  /** @type {Map<string, number>} by statement and path, how often it was looked at */
  const looked = new Map();
  const lasts = lastSteps(facts);
  facts.steps.forEach((traceStep, i) => {
    if (!["statement", "return", "head", "raise"].includes(traceStep.kind) || typeof traceStep.stmt !== "number")
      return;
    for (const path of mentionsAt(facts, i).gradReads) {
      const key = `${traceStep.stmt} ${path}`;
      const times = (looked.get(key) ?? 0) + 1;
      looked.set(key, times);
      if (times > MAX_READINGS && lasts.get(traceStep.stmt) !== i) continue;
      const uid = resolve(facts, path, i, Math.max(0, i - 1)) ?? resolve(facts, path, i);
      if (uid?.[0] === "t") out.push({ uid, path, step: i });
    }
  });
  cache.set(facts.trace, out);
  return out;
}

/** The steps that read a tensor's `.grad`. @param {RunFacts} facts @param {string} uid @returns {number[]} */
export function readsOfGrad(facts, uid) {
  return gradReadings(facts).flatMap((reading) => (reading.uid === uid ? [reading.step] : []));
}

/** The last step of each statement. @param {RunFacts} facts @returns {Map<number, number>} */
function lastSteps(facts) {
  /** @type {Map<number, number>} */
  const out = new Map();
  facts.steps.forEach(({ stmt }, i) => {
    if (typeof stmt === "number") out.set(stmt, i);
  });
  return out;
}
