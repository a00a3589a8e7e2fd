/** Where a picture stays when its program was edited: at the same statement. */

import type { Step, Trace } from "../wire.ts";

/** The numbers of lines that two texts have in common, at their beginnings and at their ends. */
export function commonLines(
  before: string,
  after: string,
): { head: number; tail: number; before: number; after: number } {
  const [linesBefore, linesAfter] = [before.split("\n"), after.split("\n")];
  const shorterCount = Math.min(linesBefore.length, linesAfter.length);
  let sameAtStart = 0;
  while (sameAtStart < shorterCount && linesBefore[sameAtStart] === linesAfter[sameAtStart]) sameAtStart += 1;
  let sameAtEnd = 0;
  while (
    sameAtEnd < shorterCount - sameAtStart &&
    linesBefore[linesBefore.length - 1 - sameAtEnd] === linesAfter[linesAfter.length - 1 - sameAtEnd]
  )
    sameAtEnd += 1;
  return { head: sameAtStart, tail: sameAtEnd, before: linesBefore.length, after: linesAfter.length };
}

/** The line of the text after that stands in the place of one of the text before; lines count from 1. */
export function lineAfterEdit(
  { head: sameAtStart, tail: sameAtEnd, before, after }: ReturnType<typeof commonLines>,
  lineBefore: number,
) {
  if (lineBefore <= sameAtStart) return lineBefore;
  if (lineBefore > before - sameAtEnd) return lineBefore + after - before;
  return Math.max(1, Math.min(lineBefore, after - sameAtEnd));
}

/** The first step at a line, from 1; null where there is none. */
export function firstStepAtLine({ steps }: Trace, line: number | null) {
  const step = steps.findIndex((other) => other.line === line);
  return step < 0 ? null : step;
}

/**
 * The step of a new run at which its reader stays: of the same statement, as often executed as before `step`. Who looks
 * at the end stays at the end. Null: the step at which a run is opened.
 */
export function stepAfterEdit(before: Trace | null, after: Trace, step: number): number | null {
  const stepBefore = before?.steps[step];
  if (!before || !stepBefore || !after.steps.length || after.outcome.status === "raised") return null;
  if (step === before.steps.length - 1) return after.steps.length - 1;
  const lineAfter = lineAfterEdit(commonLines(before.program.source, after.program.source), stepBefore.line);
  const executionsBefore = before.steps
    .slice(0, step)
    .filter((other) => isStepOfStatement(other, stepBefore.line, stepBefore.kind)).length;
  const steps = after.steps.flatMap((other, i) => (isStepOfStatement(other, lineAfter, stepBefore.kind) ? [i] : []));
  if (steps.length) return steps[Math.min(executionsBefore, steps.length - 1)];
  const nearestStep = after.steps.findLastIndex((other) => other.line <= lineAfter && other.kind !== "visit");
  return nearestStep < 0 ? 0 : nearestStep;
}

function isStepOfStatement(traceStep: Step, line: number, kind: string) {
  return traceStep.line === line && traceStep.kind === kind;
}
