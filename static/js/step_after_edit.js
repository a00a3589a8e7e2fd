/** Where a picture stays when its program was edited: at the same statement. */

/** @typedef {import("./trace.js").Trace} Trace */

/**
 * The lines that two texts have in common, at their beginnings and at their ends.
 * @param {string} before @param {string} after
 * @returns {{head: number, tail: number, before: number, after: number}} numbers of lines
 */
export function commonLines(before, after) {
  const [was, is] = [before.split("\n"), after.split("\n")];
  const shorterCount = Math.min(was.length, is.length);
  let head = 0;
  while (head < shorterCount && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < shorterCount - head && was[was.length - 1 - tail] === is[is.length - 1 - tail]) tail += 1;
  return { head, tail, before: was.length, after: is.length };
}

/** The line of the text after that stands in the place of one of the text before. @param {ReturnType<typeof commonLines>} common
 * @param {number} lineBefore from 1 */
export function movedLine({ head, tail, before, after }, lineBefore) {
  if (lineBefore <= head) return lineBefore;
  if (lineBefore > before - tail) return lineBefore + after - before;
  return Math.max(1, Math.min(lineBefore, after - tail));
}

/** The first step at a line; null where there is none. @param {Trace} trace @param {number | null} line from 1 */
export function firstStepAt({ steps }, line) {
  const step = steps.findIndex((other) => other.line === line);
  return step < 0 ? null : step;
}

/**
 * The step of a new run at which its reader stays: of the same statement, as often executed as before. Who looks at the end
 * stays at the end.
 * @param {Trace | null} before @param {Trace} after @param {number} step of the run before
 * @returns {number | null} null: the step at which a run is opened
 */
export function stepAfterEdit(before, after, step) {
  const was = before?.steps[step];
  if (!before || !was || !after.steps.length || after.outcome.status === "raised") return null;
  if (step === before.steps.length - 1) return after.steps.length - 1;
  const lineAfter = movedLine(commonLines(before.program.source, after.program.source), was.line);
  const nth = before.steps.slice(0, step).filter((other) => isSameStatement(other, was.line, was.kind)).length;
  const steps = after.steps.flatMap((other, i) => (isSameStatement(other, lineAfter, was.kind) ? [i] : []));
  if (steps.length) return steps[Math.min(nth, steps.length - 1)];
  const near = after.steps.findLastIndex((other) => other.line <= lineAfter && other.kind !== "visit");
  return near < 0 ? 0 : near;
}

/** @param {import("./trace.js").Step} traceStep @param {number} line @param {string} kind */
function isSameStatement(traceStep, line, kind) {
  return traceStep.line === line && traceStep.kind === kind;
}
