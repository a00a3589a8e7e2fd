/** Where the program reads the `.grad` of which tensor. */

import { mentionsAt } from "./program_text.ts";
import { resolvePath } from "../facts/resolve.ts";
import type { RunFacts } from "../facts/run_facts.ts";

interface GradReading {
  uid: string;
  /** as the program's text has it */
  path: string;
  step: number;
}

/** Of a loop's readings of one expression so many are looked at, and the last. */
const MAX_READINGS_IN_LOOP = 4;

const gradReadingsByTrace = new WeakMap<object, GradReading[]>();

/** The readings of a run, in order; of a loop the first few and the last. */
export function gradReadings(facts: RunFacts): GradReading[] {
  const cached = gradReadingsByTrace.get(facts.trace);
  if (cached) return cached;
  const readings: GradReading[] = [];
  /** by statement and path, how often it was looked at */
  const readingCounts = new Map<string, number>();
  const lastStepOf = lastStepByStatement(facts);
  facts.steps.forEach((traceStep, i) => {
    if (!["statement", "return", "head", "raise"].includes(traceStep.kind) || typeof traceStep.stmt !== "number")
      return;
    for (const path of mentionsAt(facts, i).gradReads) {
      const key = `${traceStep.stmt} ${path}`;
      const count = (readingCounts.get(key) ?? 0) + 1;
      readingCounts.set(key, count);
      if (count > MAX_READINGS_IN_LOOP && lastStepOf.get(traceStep.stmt) !== i) continue;
      const uid = resolvePath(facts, path, i, Math.max(0, i - 1)) ?? resolvePath(facts, path, i);
      if (uid?.[0] === "t") readings.push({ uid, path, step: i });
    }
  });
  gradReadingsByTrace.set(facts.trace, readings);
  return readings;
}

/** The steps that read a tensor's `.grad`. */
export function stepsReadingGrad(facts: RunFacts, uid: string): number[] {
  return gradReadings(facts).flatMap((reading) => (reading.uid === uid ? [reading.step] : []));
}

/** The last step of each statement. */
function lastStepByStatement(facts: RunFacts): Map<number, number> {
  const lastByStatement = new Map<number, number>();
  facts.steps.forEach(({ stmt }, i) => {
    if (typeof stmt === "number") lastByStatement.set(stmt, i);
  });
  return lastByStatement;
}
