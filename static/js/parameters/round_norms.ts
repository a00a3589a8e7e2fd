/** What the recorder computed of a parameter in a round, also of one too large for its elements to be listed. */

import { cellAsNumber } from "../findings/numbers.ts";
import type { Cell } from "../trace/entities.ts";
import type { Trace, TrainingRound } from "../trace/wire.ts";

type NormKind = "grad" | "weight" | "moved";

export class RoundNorms {
  trace: Trace;
  /** by parameter, its place among the norms; parameters that are told together have none */
  places = new Map<string, number>();
  rounds = new Map<number, TrainingRound>();

  constructor(trace: Trace) {
    this.trace = trace;
    for (const [place, { tensors }] of (trace.rounds?.rows ?? []).entries())
      if (tensors.length === 1) this.places.set(tensors[0], place);
    for (const round of trace.rounds?.rounds ?? []) this.rounds.set(round.n, round);
  }

  /**
   * @param step at which an optimizer's step had run
   * @param steps all at which one had that holds the parameter
   * @returns undefined where it was not computed, or where the round has several of these steps
   */
  at(uid: string, kind: NormKind, step: number, steps: number[]): Cell | undefined {
    const place = this.places.get(uid);
    const recorded = this.trace.rounds?.recorded.find((round) => round.step <= step && step <= round.end);
    if (place === undefined || !recorded) return undefined;
    if (steps.filter((each) => each >= recorded.step && each <= recorded.end).length !== 1) return undefined;
    return this.rounds.get(recorded.n)?.[kind]?.[place] ?? undefined;
  }

  /** The same as a number. */
  numberAt(uid: string, kind: NormKind, step: number, steps: number[]): number | undefined {
    const norm = this.at(uid, kind, step, steps);
    return norm === undefined ? undefined : cellAsNumber(norm);
  }
}
