/** Stepping over and out of calls and backward passes, and the stretches of steps that one loop iteration takes. */

import type { Step } from "../wire.ts";

/** How the line of a step is highlighted, by the kind of step. */
export function lineHighlightTone(kind: Step["kind"]): "raised" | "visit" | "" {
  if (kind === "raise") return "raised";
  return kind === "visit" ? "visit" : "";
}

/** The depth of each step: one more for each call of a function of the program, and one more in a backward pass. */
export function callDepthByStep(steps: Step[]): number[] {
  const frameDepths = new Map<string, number>();
  return steps.map((traceStep) => {
    for (const [uid, set] of Object.entries(traceStep.set ?? {}))
      if (set.kind === "frame") frameDepths.set(uid, set.caller ? (frameDepths.get(set.caller) ?? 0) + 1 : 0);
    return (frameDepths.get(traceStep.frame ?? "") ?? 0) + (traceStep.visit ? 1 : 0);
  });
}

/** The next step that is no deeper than this one. */
export function stepOverFrom(depths: number[], i: number, direction: 1 | -1) {
  for (let k = i + direction; k >= 0 && k < depths.length; k += direction) if (depths[k] <= depths[i]) return k;
  return direction > 0 ? depths.length - 1 : 0;
}

/** The next step outside of what this one is in; itself where it is in nothing. */
export function stepOutFrom(depths: number[], i: number) {
  for (let k = i + 1; k < depths.length; k++) if (depths[k] < depths[i]) return k;
  return depths[i] ? depths.length - 1 : i;
}

/** Stretches of steps that belong to one iteration of an outermost loop, every second one marked. */
export function outermostLoopIterations(steps: Step[]): { from: number; to: number; odd: boolean }[] {
  const depths = callDepthByStep(steps);
  const stretches: { from: number; to: number; odd: boolean }[] = [];
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
