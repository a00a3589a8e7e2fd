/**
 * The rounds of a training as a trace tells them: where one is recorded, and how a second run is asked for one that is
 * not.
 */

import type { Focus, RoundStretch, Trace } from "../wire.ts";
import { weakMemoize } from "../weak_memoize.ts";

/** A recorded round: its number, and the steps from its loop's head to that in which it ended. */
export interface RoundSteps {
  n: number;
  from: number;
  to: number;
}

/** The stretch of rounds that lie in the same loops as this one. */
function roundStretch({ rounds }: Trace, n: number): RoundStretch | null {
  return rounds?.stretches.findLast(({ first }) => first <= n) ?? null;
}

/** The iterations of the loops in which a round lies, as the program counts them; empty where there is no loop. */
export function iterationOfRound(trace: Trace, n: number): number[] {
  const stretch = roundStretch(trace, n);
  if (!stretch) return [];
  const passed = (n - stretch.first) * stretch.by;
  return stretch.iteration.map((count, k) => (k === stretch.iteration.length - 1 ? count + passed : count));
}

/** The round in which an iteration of its loops lies, like epoch 3, batch 1; null where there is none. */
export function roundOfIteration(trace: Trace, iteration: number[]): number | null {
  const { stretches = [], count = 0 } = trace.rounds ?? {};
  const inner = iteration[iteration.length - 1];
  const found = stretches.flatMap((stretch, k) => {
    const last = stretch.iteration.length - 1;
    if (last !== iteration.length - 1 || stretch.iteration.some((value, j) => j < last && value !== iteration[j]))
      return [];
    const passed = stretch.by ? Math.max(0, Math.ceil((inner - stretch.iteration[last]) / stretch.by)) : 0;
    const n = stretch.first + passed;
    const isIn = n < (stretches[k + 1]?.first ?? count) && inner <= stretch.iteration[last] + passed * stretch.by;
    return isIn ? [n] : [];
  });
  return found[0] ?? null;
}

/** The focus of a run that is to show a round; null where it lies in no loop. */
export function focusOfRound(trace: Trace, n: number): Focus | null {
  const stretch = roundStretch(trace, n);
  if (!stretch?.loops.length || n >= (trace.rounds?.count ?? 0)) return null;
  const { loops, inner, total, first, by } = stretch;
  if (inner === loops.length) return { loop: loops[loops.length - 1], iteration: iterationOfRound(trace, n) };
  const counts = loops.map((loop, k) => [loop, total[k] + (k === loops.length - 1 ? (n - first) * by : 0)]);
  return { counts: Object.fromEntries(counts) };
}

/** The recorded rounds, in their order. */
export const recordedRounds = weakMemoize((trace: Trace): RoundSteps[] =>
  (trace.rounds?.recorded ?? []).map(({ n, step, end }) => ({
    n,
    from: roundHeadStep(trace, n, step, end),
    to: end,
  })),
);

/** The step at which the iteration of a round's loop begins, of its steps. */
function roundHeadStep(trace: Trace, n: number, first: number, end: number): number {
  const loops = roundStretch(trace, n)?.loops ?? [];
  for (let i = first; i <= end; i++) {
    const { kind, stmt } = trace.steps[i] ?? {};
    if (kind === "head" && typeof stmt === "number" && loops.includes(stmt)) return i;
  }
  return first;
}

/** The step at which a recorded round begins. null: it is not recorded. */
export function stepOfRound(trace: Trace, n: number): number | null {
  return recordedRounds(trace).find((round) => round.n === n)?.from ?? null;
}

/** Whether the iterations of a loop are told as rounds of a training. */
export function isTrainingLoop({ rounds }: Trace, loop: number): boolean {
  return (rounds?.count ?? 0) > 1 && (rounds?.stretches ?? []).some(({ loops }) => loops.includes(loop));
}

/** The recorded round that a step belongs to, or that ended last before it; null before the first. */
export function roundAtStep(trace: Trace, step: number): number | null {
  return recordedRounds(trace).findLast(({ from }) => from <= step)?.n ?? null;
}
