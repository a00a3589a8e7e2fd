/** What a run left out and another shows: iterations of a long loop, elements of a big storage. No document here. */

/**
 * @typedef {{skipped: number, loop: number, around: number[], from: number, to: number | null}} Gap
 *   loop: its statement. around: the counts of the loops around it. from, to: its iterations, counted from 0; `to` is
 *   null where the loop ended unseen.
 */

/** @param {any} trace @param {number} i @returns {Gap | null} */
export function gap(trace, i) {
  const step = trace.steps[i];
  if (!step?.skipped || step.stmt === undefined || step.stmt === null) return null;
  const before = back(trace, i);
  if (!before) return null;
  const { statements } = trace.program;
  const here = loops(statements, step.stmt, step.kind === "head");
  const there = loops(statements, before.stmt, before.kind === "head");
  const again = step.kind === "head" && there.includes(step.stmt);
  const loop = again ? step.stmt : there.find((one) => !here.includes(one));
  if (loop === undefined) return null;
  const at = there.indexOf(loop);
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
function back(trace, i) {
  for (let k = i - 1; k >= 0; k--)
    if (trace.steps[k].frame === trace.steps[i].frame && trace.steps[k].stmt !== undefined) return trace.steps[k];
  return null;
}

/** The loops around a statement, outermost first. @param {any[]} statements @param {number} i @param {boolean} inside */
function loops(statements, i, inside) {
  const out = inside && /^(Async)?For$|^While$/.test(statements[i].kind) ? [i] : [];
  for (let loop = statements[i].loop; loop !== undefined && loop !== null; loop = statements[loop].loop) out.push(loop);
  return out.reverse();
}

/** What a trace's focus was asked as; null where nothing was. @param {any} focus @returns {object | null} */
export function asked(focus) {
  const said = Object.entries(focus ?? {}).filter(
    ([name, value]) => value !== null && !["counts", "repeatable"].includes(name) && !(name === "step" && value === 0),
  );
  return said.some(([name]) => name === "loop" || name === "storage") ? Object.fromEntries(said.sort()) : null;
}

/** What a run is asked for to show an iteration. @param {Gap} gap @param {number} turn */
export function focus({ loop, around }, turn) {
  return { loop, iteration: [...around, turn] };
}

/** Elements that one run opens; as many before the one that was asked for as there is room to turn back to. */
const WINDOW = 512;

/** What a run is asked for to show elements of a big storage. @param {string} storage @param {number} at @param {number} step */
export function elements(storage, at, step) {
  const from = Math.max(0, at - WINDOW / 4);
  return { storage, step, from, to: from + WINDOW };
}

/** The step at which an iteration begins, or -1. @param {any} trace @param {{loop: number, iteration: number[]}} focus */
export function begins(trace, { loop, iteration }) {
  return trace.steps.findIndex(
    (/** @type {any} */ s) => s.kind === "head" && s.stmt === loop && String(s.iter) === String(iteration),
  );
}

/** Whether two runs printed the same and ended the same way. @param {any} one @param {any} other */
export function alike(one, other) {
  const told = (/** @type {any} */ trace) =>
    JSON.stringify([
      trace.steps
        .flatMap((/** @type {any} */ s) =>
          s.log.filter((/** @type {any} */ e) => e.kind === "out").map((/** @type {any} */ e) => e.text),
        )
        .join(""),
      trace.outcome.status,
      trace.outcome.error?.message ?? null,
    ]);
  return told(one) === told(other);
}
