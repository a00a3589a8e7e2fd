/** Where the program reads the `.grad` of which tensor. */

import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { pathSteps, pathText } from "../../syntax/expressions.ts";
import { comprehensionOfName } from "../../syntax/name_uses.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";

interface GradReading {
  uid: string;
  /** what the statement reads the `.grad` of */
  node: SyntaxNode;
  /** the same as names are written; as in the program where it is no path */
  path: string;
  step: number;
}

/** Of a loop's readings of one expression so many are looked at, and the last. */
const MAX_READINGS_IN_LOOP = 4;

/** The readings of a run, in order; of a loop the first few and the last. */
export const gradReadings = memoizePerRun((facts: RunFacts): GradReading[] => {
  const readings: GradReading[] = [];
  /** how often each expression was looked at */
  const readingCounts = new Map<SyntaxNode, number>();
  const lastStepOf = lastStepByStatement(facts);
  facts.steps.forEach((traceStep, i) => {
    if (!["statement", "return", "head", "raise"].includes(traceStep.kind) || typeof traceStep.stmt !== "number")
      return;
    for (const node of facts.mentionsAt(i).gradReads) {
      const count = (readingCounts.get(node) ?? 0) + 1;
      readingCounts.set(node, count);
      if (count > MAX_READINGS_IN_LOOP && lastStepOf.get(traceStep.stmt) !== i) continue;
      const before = facts.resolveAll(node, i, Math.max(0, i - 1));
      for (const uid of before.length ? before : facts.resolveAll(node, i))
        if (uid[0] === "t") readings.push({ uid, node, path: nameOfRead(facts, node, uid, i), step: i });
    }
  });
  return readings;
});

/** What is called so where the statement stands; the variable of a comprehension has no name in its function. */
function nameOfRead(facts: RunFacts, node: SyntaxNode, uid: string, step: number) {
  const root = pathSteps(node)?.root;
  const isOfComprehension = root && comprehensionOfName(root) !== null;
  return (isOfComprehension ? facts.nameText(uid, step) : pathText(node)) ?? node.text;
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
