/** What is known at a step of what stands in a picture of a run by its modules. */

import { shapeText } from "../nets/net_texts.ts";
import type { RunBox } from "./run_plan.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { ModuleRun } from "./run_columns.ts";

/** waits: nothing of it has run; part: not all */
type RunProgress = "waits" | "part" | "done";

export function progressOfRun({ steps }: ModuleRun, i: number): RunProgress {
  if (steps[0] > i) return "waits";
  return steps[steps.length - 1] > i ? "part" : "done";
}

/** Whether a step is one of a run's. */
export function isStepOfRun({ steps }: ModuleRun, i: number): boolean {
  return countStepsUpTo(steps, i) > countStepsUpTo(steps, i - 1);
}

/** How many of steps in order are no later than one. */
export function countStepsUpTo(steps: number[], i: number): number {
  let [from, to] = [0, steps.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (steps[middle] <= i) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * The norm of the gradient that came to the output of a run's only call; null where none came yet, or it is not known.
 */
export function arrivedGradientNorm(facts: NetFacts, { units, phase }: ModuleRun, i: number): number | null {
  const unit = units.at(-1);
  return unit && phase.kind === "backward" ? facts.arrivedNorm(unit, i) : null;
}

/** Of the output of a run's last call; empty where the trace does not tell. */
export function outputText(facts: NetFacts, { units }: ModuleRun): string {
  const shape = units.length ? facts.outputShape(units[units.length - 1]) : null;
  return shape ? shapeText(shape) : "";
}

/** The step that a box leads to: where its gradient came, or where it had run. */
export function stepOfBox(facts: NetFacts, { run }: RunBox): number {
  const { steps, phase, units } = run;
  const unit = units.at(-1);
  if (phase.kind !== "backward" || !unit) return steps[steps.length - 1];
  const output = facts.outputNode(unit);
  const visits = (output && facts.opened.index.visitStepsByNode.get(output)) || [];
  return visits.find((step) => step >= steps[0] && step <= steps[steps.length - 1]) ?? steps[steps.length - 1];
}
