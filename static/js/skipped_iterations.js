/** What a trace leaves out, and how a second run is asked for it: iterations of a long loop, elements of a big storage. */

/**
 * @typedef {{skipped: number, loop: number, around: number[], from: number, to: number | null}} Gap
 *   skipped: how many statements; loop: index of the loop's statement; around: iteration counts of the enclosing loops;
 *   from, to: the skipped iterations, counted from 0; `to` is null where the loop ended in the gap
 */

/** The iterations that were skipped just before step `i`; null where none were. @param {any} trace @param {number} i @returns {Gap | null} */
export function gap(trace, i) {
  const step = trace.steps[i];
  if (!step?.skipped || step.stmt === undefined || step.stmt === null) return null;
  const before = previousInFrame(trace, i);
  if (!before) return null;
  const { statements } = trace.program;
  const loopsNow = enclosingLoops(statements, step.stmt, step.kind === "head");
  const loopsBefore = enclosingLoops(statements, before.stmt, before.kind === "head");
  const again = step.kind === "head" && loopsBefore.includes(step.stmt);
  const loop = again ? step.stmt : loopsBefore.find((loop) => !loopsNow.includes(loop));
  if (loop === undefined) return null;
  const at = loopsBefore.indexOf(loop);
  const from = (before.iter?.[at] ?? -1) + 1;
  return {
    skipped: step.skipped,
    loop,
    around: (before.iter ?? []).slice(0, at),
    from,
    to: again ? step.iter[at] - 1 : null,
  };
}

/** The last step before this one in the same frame. @param {any} trace @param {number} i @returns {any} */
function previousInFrame(trace, i) {
  for (let k = i - 1; k >= 0; k--)
    if (trace.steps[k].frame === trace.steps[i].frame && trace.steps[k].stmt !== undefined) return trace.steps[k];
  return null;
}

/** The loops around a statement, outermost first. @param {any[]} statements @param {number} i @param {boolean} inside */
function enclosingLoops(statements, i, inside) {
  const out = inside && /^(Async)?For$|^While$/.test(statements[i].kind) ? [i] : [];
  for (let loop = statements[i].loop; loop !== undefined && loop !== null; loop = statements[loop].loop) out.push(loop);
  return out.reverse();
}

/** The focus that a run was asked for, as a request names it; null where there was none. @param {any} focus @returns {object | null} */
export function requestedFocus(focus) {
  const fields = Object.entries(focus ?? {}).filter(
    ([name, value]) => value !== null && !["counts", "repeatable"].includes(name) && !(name === "step" && value === 0),
  );
  return fields.some(([name]) => name === "loop" || name === "storage") ? Object.fromEntries(fields.sort()) : null;
}

/** The focus of a run that is to show one of the skipped iterations. @param {Gap} gap @param {number} index */
export function iterationFocus({ loop, around }, index) {
  return { loop, iteration: [...around, index] };
}

/** How many elements one run shows; a quarter of them lie before the one that was asked for, for scrolling back. */
const WINDOW = 512;

/** The focus of a run that is to show the elements around `at` of a big storage. @param {string} storage @param {number} at @param {number} step */
export function elementsFocus(storage, at, step) {
  const from = Math.max(0, at - WINDOW / 4);
  return { storage, step, from, to: from + WINDOW };
}

/** The step at which an iteration begins, or -1. @param {any} trace @param {{loop: number, iteration: number[]}} focus */
export function findIteration(trace, { loop, iteration }) {
  return trace.steps.findIndex(
    (/** @type {any} */ s) => s.kind === "head" && s.stmt === loop && String(s.iter) === String(iteration),
  );
}

/** Whether two runs printed the same and ended the same way. @param {any} one @param {any} other */
export function sameOutput(one, other) {
  const observable = (/** @type {any} */ trace) =>
    JSON.stringify([
      trace.steps
        .flatMap((/** @type {any} */ s) =>
          s.log.filter((/** @type {any} */ e) => e.kind === "out").map((/** @type {any} */ e) => e.text),
        )
        .join(""),
      trace.outcome.status,
      trace.outcome.error?.message ?? null,
    ]);
  return observable(one) === observable(other);
}
