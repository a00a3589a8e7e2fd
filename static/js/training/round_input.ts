/** What a reader types to go to a round: its number, or those of its loops. */

import { iterationOfRound, roundOfIteration } from "../trace/steps/training_rounds.ts";
import type { Trace } from "../trace/wire.ts";

/** The round; null where the text names none. */
export function parseRoundInput(trace: Trace, text: string): number | null {
  const trimmed = text.trim();
  if (!/^\d+(?:\s*[\s·.,:/-]\s*\d+)*$/.test(trimmed)) return null;
  const numbers = (trimmed.match(/\d+/g) ?? []).map(Number);
  if (numbers.length > 1) return roundOfIteration(trace, numbers);
  return numbers[0] < (trace.rounds?.count ?? 0) ? numbers[0] : null;
}

/** The iterations of the last round, where several loops count them, as an example of what else can be typed. */
export function lastIterations(trace: Trace): string | null {
  const iteration = iterationOfRound(trace, (trace.rounds?.count ?? 1) - 1);
  return iteration.length > 1 ? iteration.join("·") : null;
}
