/** The rounds in which something new happens: a loss becomes NaN or infinite, the learning rate changes, a finding. */

import { roundAtStep } from "../trace/steps/training_rounds.ts";
import { decodeRealNumber } from "./round_series.ts";
import type { Trace } from "../trace/wire.ts";

export interface NotableRound {
  n: number;
  /** the gravest first, where one round has several */
  why: "broken" | "finding" | "rate";
}

/** In the order of the rounds. `findingSteps` are those at which findings have their cause. */
export function notableRounds(trace: Trace, findingSteps: number[]): NotableRound[] {
  const { rounds } = trace;
  if (!rounds) return [];
  const broken = rounds.losses.flatMap((loss) => {
    const k = loss.values.findIndex((value) => {
      const number = decodeRealNumber(value);
      return number !== null && !Number.isFinite(number);
    });
    const listed = rounds.rounds.find(({ losses }) => {
      const number = decodeRealNumber(losses[rounds.losses.indexOf(loss)]);
      return number !== null && !Number.isFinite(number);
    })?.n;
    const n = k < 0 ? listed : Math.min(k * loss.every, listed ?? Infinity);
    return n === undefined ? [] : [n];
  });
  const found = findingSteps.flatMap((step) => roundAtStep(trace, step) ?? []);
  const all: NotableRound[] = [
    ...broken.map((n) => ({ n, why: "broken" as const })),
    ...found.map((n) => ({ n, why: "finding" as const })),
    ...rounds.new_rates.map((n) => ({ n, why: "rate" as const })),
  ];
  return all.filter(({ n }, k) => all.findIndex((other) => other.n === n) === k).sort((a, b) => a.n - b.n);
}
