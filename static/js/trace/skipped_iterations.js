/** What a trace leaves out, and how a second run is asked for it: iterations of a long loop, elements of a big storage. */

/**
 * @typedef {import("./wire.js").Trace} Trace
 * @typedef {import("./wire.js").Step} Step
 * @typedef {import("./wire.js").Focus} Focus
 * @typedef {{skipped: number, loop: number, around: number[], from: number, to: number | null}} Gap
 *   skipped: how many statements; loop: index of the loop's statement; around: iteration counts of the enclosing loops;
 *   from, to: the skipped iterations, counted from 0; `to` is null where the loop ended in the gap
 */

/** The iterations that were skipped just before step `i`; null where none were. @param {Trace} trace @param {number} i @returns {Gap | null} */
export function skippedBefore(trace, i) {
  const traceStep = trace.steps[i];
  if (!traceStep?.skipped || traceStep.stmt === undefined || traceStep.stmt === null) return null;
  const previousStep = previousInFrame(trace, i);
  if (!previousStep) return null;
  const { statements = [] } = trace.program;
  const loopsNow = enclosingLoops(statements, traceStep.stmt, traceStep.kind === "head");
  const loopsBefore = enclosingLoops(statements, previousStep.stmt, previousStep.kind === "head");
  const isSameLoop = traceStep.kind === "head" && loopsBefore.includes(traceStep.stmt);
  const loop = isSameLoop ? traceStep.stmt : loopsBefore.find((loop) => !loopsNow.includes(loop));
  if (loop === undefined) return null;
  const loopLevel = loopsBefore.indexOf(loop);
  const from = (previousStep.iter?.[loopLevel] ?? -1) + 1;
  return {
    skipped: traceStep.skipped,
    loop,
    around: (previousStep.iter ?? []).slice(0, loopLevel),
    from,
    to: isSameLoop ? (traceStep.iter?.[loopLevel] ?? from) - 1 : null,
  };
}

/**
 * The last step before this one that ran a statement of the same frame.
 * @param {Trace} trace @param {number} i @returns {(Step & {stmt: number}) | null}
 */
function previousInFrame({ steps }, i) {
  for (let k = i - 1; k >= 0; k--) {
    const { frame, stmt } = steps[k];
    if (frame === steps[i].frame && stmt !== undefined && stmt !== null) return { ...steps[k], stmt };
  }
  return null;
}

/**
 * The loops around a statement, outermost first.
 * @param {import("./wire.js").Statement[]} statements @param {number} i
 * @param {boolean} inside whether the statement itself counts, where it is a loop
 */
function enclosingLoops(statements, i, inside) {
  const loops = inside && /^(Async)?For$|^While$/.test(statements[i].kind) ? [i] : [];
  for (let loop = statements[i].loop; loop !== undefined && loop !== null; loop = statements[loop].loop)
    loops.push(loop);
  return loops.reverse();
}

/** The focus that a run was asked for, as a request names it; null where there was none. @param {Focus | null} [focus] @returns {Focus | null} */
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
const CELL_WINDOW = 512;

/** The focus of a run that is to show the elements around `element` of a big storage. @param {string} storageUid @param {number} element @param {number} step */
export function cellWindowFocus(storageUid, element, step) {
  const from = Math.max(0, element - CELL_WINDOW / 4);
  return { storage: storageUid, step, from, to: from + CELL_WINDOW };
}

/** The step at which an iteration begins, or -1. @param {Trace} trace @param {Pick<Focus, "loop" | "iteration">} focus */
export function findIteration({ steps }, { loop, iteration }) {
  return steps.findIndex(
    (traceStep) => traceStep.kind === "head" && traceStep.stmt === loop && String(traceStep.iter) === String(iteration),
  );
}

/** Whether two runs printed the same and ended the same way. @param {Trace} first @param {Trace} second */
export function sameOutput(first, second) {
  const observableText = (/** @type {Trace} */ { steps, outcome }) => {
    const entries = steps.flatMap(({ log }) => log);
    const printed = entries.map((entry) => (entry.kind === "out" ? entry.text : "")).join("");
    return JSON.stringify([printed, outcome.status, outcome.error?.message ?? null]);
  };
  return observableText(first) === observableText(second);
}
