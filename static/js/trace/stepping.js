/** Stepping over and out of calls and backward passes, and the stretches of steps that one loop iteration takes. */

/** @typedef {import("./wire.js").Step} Step */

/** How the line of a step is highlighted, by the kind of step. @param {Step["kind"]} kind @returns {"raised" | "visit" | ""} */
export function lineTone(kind) {
  if (kind === "raise") return "raised";
  return kind === "visit" ? "visit" : "";
}

/** The depth of each step: one more for each call of a function of the program, and one more in a backward pass.
 * @param {Step[]} steps @returns {number[]} */
export function callDepths(steps) {
  /** @type {Map<string, number>} */
  const frameDepths = new Map();
  return steps.map((traceStep) => {
    for (const [uid, set] of Object.entries(traceStep.set ?? {}))
      if (set.kind === "frame") frameDepths.set(uid, set.caller ? (frameDepths.get(set.caller) ?? 0) + 1 : 0);
    return (frameDepths.get(traceStep.frame ?? "") ?? 0) + (traceStep.visit ? 1 : 0);
  });
}

/** The next step that is no deeper than this one. @param {number[]} depths @param {number} i @param {1 | -1} direction */
export function stepOver(depths, i, direction) {
  for (let k = i + direction; k >= 0 && k < depths.length; k += direction) if (depths[k] <= depths[i]) return k;
  return direction > 0 ? depths.length - 1 : 0;
}

/** The next step outside of what this one is in; itself where it is in nothing. @param {number[]} depths @param {number} i */
export function stepOut(depths, i) {
  for (let k = i + 1; k < depths.length; k++) if (depths[k] < depths[i]) return k;
  return depths[i] ? depths.length - 1 : i;
}

/**
 * Stretches of steps that belong to one iteration of an outermost loop, every second one marked.
 * @param {Step[]} steps @returns {{from: number, to: number, odd: boolean}[]}
 */
export function loopIterations(steps) {
  const depths = callDepths(steps);
  /** @type {{from: number, to: number, odd: boolean}[]} */
  const stretches = [];
  let iterationKey = "";
  let iterationDepth = 0;
  steps.forEach((traceStep, i) => {
    if (iterationKey !== "" && depths[i] > iterationDepth) {
      stretches[stretches.length - 1].to = i; // in what the iteration calls
      return;
    }
    const count = traceStep.iter?.[0];
    const nextKey = count === undefined ? "" : String(count);
    if (count !== undefined && nextKey === iterationKey) stretches[stretches.length - 1].to = i;
    else if (count !== undefined) stretches.push({ from: i, to: i, odd: count % 2 === 1 });
    iterationKey = nextKey;
    iterationDepth = depths[i];
  });
  return stretches;
}
