/** Where the program reads the `.grad` of which tensor. */

import { mentionsAt } from "./program_text.js";
import { resolve } from "./resolve.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {{uid: string, path: string, step: number}} GradReading   path: as the program's text has it */

/** Of a loop's readings of one expression so many are looked at, and the last. */
const MAX_READINGS = 4;

/** @type {WeakMap<object, GradReading[]>} */
const cache = new WeakMap();

/** The readings of a run, in order; of a loop the first few and the last. @param {RunFacts} facts @returns {GradReading[]} */
export function gradReadings(facts) {
  const cached = cache.get(facts.trace);
  if (cached) return cached;
  /** @type {GradReading[]} */
  const readings = [];
  /** @type {Map<string, number>} by statement and path, how often it was looked at */
  const readingCounts = new Map();
  const lastStepOf = lastSteps(facts);
  facts.steps.forEach((traceStep, i) => {
    if (!["statement", "return", "head", "raise"].includes(traceStep.kind) || typeof traceStep.stmt !== "number")
      return;
    for (const path of mentionsAt(facts, i).gradReads) {
      const key = `${traceStep.stmt} ${path}`;
      const count = (readingCounts.get(key) ?? 0) + 1;
      readingCounts.set(key, count);
      if (count > MAX_READINGS && lastStepOf.get(traceStep.stmt) !== i) continue;
      const uid = resolve(facts, path, i, Math.max(0, i - 1)) ?? resolve(facts, path, i);
      if (uid?.[0] === "t") readings.push({ uid, path, step: i });
    }
  });
  cache.set(facts.trace, readings);
  return readings;
}

/** The steps that read a tensor's `.grad`. @param {RunFacts} facts @param {string} uid @returns {number[]} */
export function readsOfGrad(facts, uid) {
  return gradReadings(facts).flatMap((reading) => (reading.uid === uid ? [reading.step] : []));
}

/** The last step of each statement. @param {RunFacts} facts @returns {Map<number, number>} */
function lastSteps(facts) {
  /** @type {Map<number, number>} */
  const lastByStatement = new Map();
  facts.steps.forEach(({ stmt }, i) => {
    if (typeof stmt === "number") lastByStatement.set(stmt, i);
  });
  return lastByStatement;
}
