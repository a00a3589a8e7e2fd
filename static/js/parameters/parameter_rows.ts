/**
 * The rows of the table of parameters: one for each, or for each part of the net where they are many, in a reader's
 * order.
 */

import type { JointNorm } from "./round_norms.ts";
import { normAsNumber, rankOfLearningState, type LearningState, type ParameterMoment } from "./parameter_moments.ts";

export type ParameterColumn = "name" | "shape" | "numbers" | "held" | "learns" | "gradient" | "weight" | "moved";

/** A parameter, or all of a part of the net. Norms are those of all numbers together; NaN: not known; null: none. */
export interface ParameterSummary {
  moments: ParameterMoment[];
  numbers: number;
  /** the worst, and how many have it */
  learns: LearningState;
  learnsCount: number;
  held: string[];
  gradient: number | null;
  /** of all gradients that are there; null where they have none, or different ones */
  scale: number | null;
  weight: number;
  /** in the last round that ended; null before */
  moved: number | null;
  /**
   * where that is not known: how far it was moved at most, by what is known of it together with others; and with how
   * many
   */
  movedAtMost: { norm: number; size: number } | null;
  rounds: ParameterRound[];
  updated: number;
  ended: number;
}

interface ParameterRound {
  step: number;
  gradient: number | null;
  weight: number;
  /** how far the round moved it */
  moved: number | null;
}

/** `holderText` says who holds a parameter. */
export function summaryOf(
  moments: ParameterMoment[],
  holderText: (moment: ParameterMoment) => string,
): ParameterSummary {
  const worst = moments.reduce((a, b) => (rankOfLearningState(b.learns) < rankOfLearningState(a.learns) ? b : a));
  return {
    moments,
    numbers: moments.reduce((sum, { row }) => sum + row.numbers, 0),
    learns: worst.learns,
    learnsCount: moments.filter(({ learns }) => learns === worst.learns).length,
    held: [...new Set(moments.map(holderText))],
    gradient: normOfAll(moments.map(({ gradient }) => gradientNumber(gradient))),
    scale: commonScale(moments),
    weight: normOfAll(moments.map(({ weight }) => normAsNumber(weight))) ?? Number.NaN,
    ...movedLast(moments),
    rounds: roundsOfAll(moments),
    updated: Math.min(...moments.map(({ updated }) => updated)),
    ended: Math.max(...moments.map(({ rounds }) => rounds.length)),
  };
}

/** In the last round: exactly, where all that is told together is in the row; else a bound. */
function movedLast(moments: ParameterMoment[]): Pick<ParameterSummary, "moved" | "movedAtMost"> {
  const last = moments.flatMap(({ rounds }) => rounds.slice(-1));
  const moved = normOfAll(last.map((round) => round.moved ?? Number.NaN));
  if (moved === null || !Number.isNaN(moved)) return { moved, movedAtMost: null };
  const unknown = last.filter((round) => round.moved === undefined);
  if (unknown.some(({ joint }) => !joint)) return { moved, movedAtMost: null };
  const joint = new Map<number, JointNorm>(
    unknown.flatMap((round) => (round.joint ? [[round.joint.place, round.joint] as const] : [])),
  );
  const isTold = (round: (typeof last)[number]) => round.joint !== null && joint.has(round.joint.place);
  const alone = last.filter((round) => !isTold(round)).map((round) => round.moved ?? 0);
  const size = [...joint.values()].reduce((sum, each) => sum + each.size, 0);
  const norm = Math.hypot(...alone, ...[...joint.values()].map((each) => each.moved));
  if (last.filter(isTold).length === size) return { moved: norm, movedAtMost: null };
  return { moved, movedAtMost: { norm, size } };
}

function commonScale(moments: ParameterMoment[]): number | null {
  const scales = new Set(moments.filter(({ gradient }) => gradient !== null).map(({ scale }) => scale));
  return scales.size === 1 ? [...scales][0] : null;
}

function gradientNumber(gradient: ParameterMoment["gradient"]): number | null {
  return gradient === null ? null : normAsNumber(gradient);
}

/** Of several tensors as one; null where none has one. */
function normOfAll(norms: (number | null)[]): number | null {
  const present = norms.filter((norm): norm is number => norm !== null);
  if (!present.length) return null;
  return present.length === 1 ? present[0] : Math.sqrt(present.reduce((sum, norm) => sum + norm ** 2, 0));
}

function roundsOfAll(moments: ParameterMoment[]): ParameterRound[] {
  if (moments.length === 1)
    return moments[0].rounds.map(({ step, gradient, weight, moved }) => ({
      step,
      gradient: gradientNumber(gradient),
      weight: normAsNumber(weight),
      moved: moved ?? Number.NaN,
    }));
  const byStep = new Map<number, { gradients: (number | null)[]; weights: number[]; moves: number[] }>();
  for (const { rounds } of moments)
    for (const { step, gradient, weight, moved } of rounds) {
      const round = byStep.get(step) ?? { gradients: [], weights: [], moves: [] };
      byStep.set(step, round);
      round.gradients.push(gradientNumber(gradient));
      round.weights.push(normAsNumber(weight));
      round.moves.push(moved ?? Number.NaN);
    }
  return [...byStep]
    .sort(([a], [b]) => a - b)
    .map(([step, { gradients, weights, moves }]) => ({
      step,
      gradient: normOfAll(gradients),
      weight: normOfAll(weights) ?? Number.NaN,
      moved: normOfAll(moves),
    }));
}

/** Larger is earlier; what is not known, or not there, comes last in either direction. */
function norm(value: number | null) {
  return value === null || Number.isNaN(value) ? null : value;
}

/** What a row is compared by: words by the alphabet, numbers from the largest, fates from the worst. */
export const SORT_VALUES: Record<ParameterColumn, (row: ParameterSummary, name: string) => number | string | null> = {
  name: (_, name) => name,
  shape: ({ moments, numbers }) => (moments.length === 1 ? moments[0].row.shape.length : numbers),
  numbers: ({ numbers }) => -numbers,
  held: ({ held }) => held.join(),
  learns: ({ learns }) => rankOfLearningState(learns),
  gradient: ({ gradient }) => (norm(gradient) === null ? null : -(gradient as number)),
  weight: ({ weight }) => (norm(weight) === null ? null : -weight),
  moved: ({ moved }) => (norm(moved) === null ? null : -(moved as number)),
};
