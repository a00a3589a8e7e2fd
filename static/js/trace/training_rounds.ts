/** The rounds of a training as a trace tells them: where one is recorded, and how a second run is asked for one that is not. */

import type { Focus, RoundStretch, Trace } from "./wire.ts";

/** The stretch of rounds that lie in the same loops as this one. */
function stretchOf({ rounds }: Trace, n: number): RoundStretch | null {
  return rounds?.stretches.findLast(({ first }) => first <= n) ?? null;
}

/** The iterations of the loops in which a round lies, as the program counts them; empty where there is no loop. */
export function iterationOfRound(trace: Trace, n: number): number[] {
  const stretch = stretchOf(trace, n);
  if (!stretch) return [];
  const passed = (n - stretch.first) * stretch.by;
  return stretch.iteration.map((count, k) => (k === stretch.iteration.length - 1 ? count + passed : count));
}

/** The focus of a run that is to show a round; null where it lies in no loop. */
export function focusOfRound(trace: Trace, n: number): Focus | null {
  const stretch = stretchOf(trace, n);
  if (!stretch?.loops.length || n >= (trace.rounds?.count ?? 0)) return null;
  const { loops, inner, total, first, by } = stretch;
  if (inner === loops.length) return { loop: loops[loops.length - 1], iteration: iterationOfRound(trace, n) };
  const counts = loops.map((loop, k) => [loop, total[k] + (k === loops.length - 1 ? (n - first) * by : 0)]);
  return { counts: Object.fromEntries(counts) };
}

/** The step at which a recorded round begins: where its loop's iteration does. null: it is not recorded. */
export function stepOfRound(trace: Trace, n: number): number | null {
  const told = trace.rounds?.recorded.find((round) => round.n === n);
  if (!told) return null;
  const loops = stretchOf(trace, n)?.loops ?? [];
  for (let i = told.step; i <= told.end; i++) {
    const { kind, stmt } = trace.steps[i] ?? {};
    if (kind === "head" && typeof stmt === "number" && loops.includes(stmt)) return i;
  }
  return told.step;
}

/** The recorded round that a step belongs to; null before the first. */
export function roundAtStep(trace: Trace, step: number): number | null {
  const told = trace.rounds?.recorded.findLast(({ n }) => (stepOfRound(trace, n) ?? 0) <= step);
  return told?.n ?? null;
}
