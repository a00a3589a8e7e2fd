/** How a run goes in and out of calls, backwards and loops: where a step over or out of one leads. */

/** How deep each step is: one deeper in a function that the program called, and in a backward. @param {any[]} steps */
export function depths(steps) {
  /** @type {Map<string, number>} */
  const known = new Map();
  return steps.map((step) => {
    for (const [uid, set] of Object.entries(step.set ?? {}))
      if (set.kind === "frame") known.set(uid, set.caller ? (known.get(set.caller) ?? 0) + 1 : 0);
    return (known.get(step.frame) ?? 0) + (step.visit ? 1 : 0);
  });
}

/** The next step that is no deeper than this one. @param {number[]} depths @param {number} i @param {1 | -1} way */
export function over(depths, i, way) {
  for (let k = i + way; k >= 0 && k < depths.length; k += way) if (depths[k] <= depths[i]) return k;
  return way > 0 ? depths.length - 1 : 0;
}

/** The next step outside of what this one is in; itself where it is in nothing. @param {number[]} depths @param {number} i */
export function out(depths, i) {
  for (let k = i + 1; k < depths.length; k++) if (depths[k] < depths[i]) return k;
  return depths[i] ? depths.length - 1 : i;
}

/**
 * Stretches of steps that belong to one iteration of an outermost loop, every second one marked.
 * @param {any[]} steps @returns {{from: number, to: number, odd: boolean}[]}
 */
export function turns(steps) {
  const deep = depths(steps);
  /** @type {{from: number, to: number, odd: boolean}[]} */
  const found = [];
  let key = "";
  let at = 0;
  steps.forEach((step, i) => {
    if (key !== "" && deep[i] > at) {
      found[found.length - 1].to = i; // in what the iteration calls
      return;
    }
    const turn = step.iter?.[0];
    const next = turn === undefined ? "" : String(turn);
    if (next !== "" && next === key) found[found.length - 1].to = i;
    else if (next !== "") found.push({ from: i, to: i, odd: turn % 2 === 1 });
    key = next;
    at = deep[i];
  });
  return found;
}
