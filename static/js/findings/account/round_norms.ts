/** What the recorder computed of a parameter in a round, also of one too large for its elements to be listed. */

import { cellAsNumber } from "../facts/cell_values.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Trace, TrainingRound } from "../../trace/wire.ts";

type NormKind = "grad" | "weight" | "moved";

/** What was computed of several parameters together, as of those of a module in a net of very many. */
export interface JointNorm {
  /** its place among the norms */
  place: number;
  /** of parameters */
  size: number;
  moved: number;
}

export class RoundNorms {
  trace: Trace;
  /** by parameter, its place among the norms; parameters that are told together have none */
  places = new Map<string, number>();
  rounds = new Map<number, TrainingRound>();
  /** by parameter that is told together with others, the place of their norms and how many they are */
  joint = new Map<string, { place: number; size: number }>();

  constructor(trace: Trace) {
    this.trace = trace;
    for (const [place, { tensors }] of (trace.rounds?.rows ?? []).entries())
      if (tensors.length === 1) this.places.set(tensors[0], place);
      else for (const uid of tensors) this.joint.set(uid, { place, size: tensors.length });
    for (const round of trace.rounds?.rounds ?? []) this.rounds.set(round.n, round);
  }

  /**
   * `step` is one at which an optimizer's step had run, `steps` are all at which one had that holds the parameter.
   * Undefined where the norm was not computed, or where the round has several of these steps.
   */
  norm(uid: string, kind: NormKind, step: number, steps: number[]): Cell | undefined {
    const place = this.places.get(uid);
    return place === undefined ? undefined : this.normOfPlace(place, kind, step, steps);
  }

  normOfPlace(place: number, kind: NormKind, step: number, steps: number[]): Cell | undefined {
    const recorded = this.trace.rounds?.recorded.find((round) => round.step <= step && step <= round.end);
    if (!recorded) return undefined;
    if (steps.filter((each) => each >= recorded.step && each <= recorded.end).length !== 1) return undefined;
    return this.rounds.get(recorded.n)?.[kind]?.[place] ?? undefined;
  }

  /**
   * How far a step moved the parameters that are told together with one; null where it is told alone, or that was not
   * computed.
   */
  jointNorm(uid: string, step: number, steps: number[]): JointNorm | null {
    const joint = this.joint.get(uid);
    const norm = joint && this.normOfPlace(joint.place, "moved", step, steps);
    const moved = norm === undefined ? Number.NaN : cellAsNumber(norm);
    return joint && Number.isFinite(moved) ? { ...joint, moved } : null;
  }

  /** The same as a number. */
  normNumber(uid: string, kind: NormKind, step: number, steps: number[]): number | undefined {
    const norm = this.norm(uid, kind, step, steps);
    return norm === undefined ? undefined : cellAsNumber(norm);
  }
}
