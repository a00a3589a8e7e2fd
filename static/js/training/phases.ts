/** What the steps of a round do: forward, backward, the optimizer's step, and the rest. */

import type { RoundSteps } from "../trace/steps/training_rounds.ts";
import type { Step, Trace } from "../trace/wire.ts";

type Phase = "forward" | "backward" | "step" | "rest";

export interface PhaseInterval {
  phase: Phase;
  from: number;
  to: number;
}

/**
 * The steps of the round that a reader is in, in stretches of one phase each; a round ends where the next one begins.
 */
export function roundPhases(trace: Trace, rounds: RoundSteps[], n: number): PhaseInterval[] {
  const k = rounds.findIndex((round) => round.n === n);
  if (k < 0) return [];
  const { from, to } = rounds[k];
  const next = rounds[k + 1];
  const end = next?.n === n + 1 ? next.from - 1 : to;
  const stretches: PhaseInterval[] = [];
  const backwardStatements = new Set(trace.rounds?.losses.map(({ stmt }) => stmt));
  for (let i = from; i <= Math.min(end, trace.steps.length - 1); i++) {
    const phase = phaseOf(trace.steps[i], backwardStatements);
    const last = stretches[stretches.length - 1];
    if (last?.phase === phase) last.to = i;
    else stretches.push({ phase, from: i, to: i });
  }
  return mergeCalls(stretches, trace.steps);
}

function phaseOf(step: Step, backwardStatements: Set<number | null>): Phase {
  // of steps that passed unrecorded the next head tells how many there were
  if (step.log.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped" && !entry.unrecorded))
    return "step";
  if (step.kind === "visit") return "backward";
  if (step.kind === "statement" && typeof step.stmt === "number" && backwardStatements.has(step.stmt))
    return "backward";
  return Object.values(step.set).some((facts) => "kind" in facts && facts.kind === "node") ? "forward" : "rest";
}

/** Calls, returns and heads between two stretches of forward belong to it. */
function mergeCalls(stretches: PhaseInterval[], steps: Step[]): PhaseInterval[] {
  const merged: PhaseInterval[] = [];
  stretches.forEach((stretch, k) => {
    const isPassage = steps
      .slice(stretch.from, stretch.to + 1)
      .every(({ kind, frame }) => kind !== "statement" || frame !== steps[stretches[0].from].frame);
    const isWithin =
      stretch.phase === "rest" &&
      isPassage &&
      merged.at(-1)?.phase === "forward" &&
      stretches[k + 1]?.phase === "forward";
    const phase = isWithin ? "forward" : stretch.phase;
    const last = merged.at(-1);
    if (last?.phase === phase) last.to = stretch.to;
    else merged.push({ ...stretch, phase });
  });
  return merged;
}
