/** The numbers that a training has in its rounds: its losses, and the scalars that it prints or binds. */

import { findScalarSeries, NUMBER_PATTERN, parseNumberText, labelBeforeNumber } from "../trace/scalar_series.ts";
import { recordedRounds } from "../trace/steps/training_rounds.ts";
import { addToList } from "../trace/multimap.ts";
import { callArgument, isTorchMember, methodCalls, receiver } from "../syntax/expressions.ts";
import { statementTree } from "../syntax/tree.ts";
import type { Trace } from "../trace/wire.ts";

interface RoundPoint {
  n: number;
  value: number;
  /** how far the value may be from what it was before it was rounded */
  slack?: number;
}

export interface RoundSeries {
  name: string;
  points: RoundPoint[];
  valueAt: (n: number) => number | null;
}

/** So few points are no curve, and so many curves are offered. */
const MIN_POINTS = 3;
const MAX_SERIES = 8;
/** By which share of itself a number may differ from another and still be the same one. */
const SAME_SHARE = 1e-5;
const MAX_NAME = 32;

/** Null for what is no real number. */
export function decodeRealNumber(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (!value || typeof value !== "object" || !("$f" in value)) return null;
  return value.$f === "nan" ? Number.NaN : value.$f === "inf" ? Infinity : -Infinity;
}

/** What a backward began at, as its statement says it; null where it doesn't say it. */
function lossName(trace: Trace, stmt: number | null, root: number): string | null {
  const [call] = methodCalls(statementTree(trace.program, stmt), "backward");
  const object = call ? receiver(call) : null;
  const name = (isTorchMember(object) ? callArgument(call, "tensors", 0) : object)?.text;
  if (name) return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
  return root ? `loss ${root}` : null;
}

/** The series of a training, its losses first. A loss without a name is called `lossWord`. */
export function roundSeries(trace: Trace, lossWord: string): RoundSeries[] {
  const losses = (trace.rounds?.losses ?? []).map(({ stmt, root, every, values }) =>
    seriesFromPoints(
      lossName(trace, stmt, root) ?? lossWord,
      values.flatMap((value, k) => {
        const number = decodeRealNumber(value);
        return number === null ? [] : [{ n: k * every, value: number }];
      }),
    ),
  );
  const result = losses.filter(({ points }) => points.length > 0);
  for (const series of [...printedSeries(trace), ...boundSeries(trace)])
    if (isNeitherCounterNorConstant(series) && !result.some((other) => hasSameNumbers(series, other)))
      result.push(series);
  return result.slice(0, MAX_SERIES);
}

function seriesFromPoints(name: string, points: RoundPoint[]): RoundSeries {
  const byRound = new Map(points.map(({ n, value }) => [n, value]));
  return { name, points, valueAt: (n) => byRound.get(n) ?? null };
}

/** Numbers that rounds print, where they print the same words each time. */
function printedSeries(trace: Trace): RoundSeries[] {
  const textsByWords = new Map<string, { n: number; line: string }[]>();
  for (const { n, text } of trace.rounds?.printed ?? [])
    for (const line of text.split("\n"))
      addToList(textsByWords, line.replace(NUMBER_PATTERN, "#").replace(/\s+/g, " "), { n, line });
  return [...textsByWords.entries()]
    .filter(([words, texts]) => words.includes("#") && texts.length >= MIN_POINTS)
    .flatMap(([, texts]) => {
      const first = [...texts[0].line.matchAll(NUMBER_PATTERN)];
      return first.map((match, k) => {
        const from = k ? first[k - 1].index + first[k - 1][0].length : 0;
        const name = labelBeforeNumber(texts[0].line.slice(from, match.index));
        const points = texts.map(({ n, line }) => printedPoint(n, (line.match(NUMBER_PATTERN) ?? [])[k]));
        return seriesFromPoints(name ?? `print ${k + 1}`, points);
      });
    });
}

function printedPoint(n: number, text: string): RoundPoint {
  const [digits, exponent = "0"] = text.toLowerCase().split("e");
  const decimals = (digits.split(".")[1] ?? "").length;
  return { n, value: parseNumberText(text), slack: 0.51 * 10 ** (Number(exponent) - decimals) };
}

/** Names that recorded rounds bind to scalars. */
function boundSeries(trace: Trace): RoundSeries[] {
  return findScalarSeries(trace).flatMap(({ name, source, points }) => {
    if (source === "printed") return []; // rounds tell what they print, recorded or not
    const byRound = new Map<number, number>();
    for (const { step, value } of points) {
      const round = recordedRounds(trace).find(({ from, to }) => from <= step && step <= to);
      if (round) byRound.set(round.n, value);
    }
    const placed = [...byRound].map(([n, value]) => ({ n, value }));
    return name && placed.length >= MIN_POINTS ? [seriesFromPoints(name, placed)] : [];
  });
}

/** Whether a series is neither a counter nor a constant. */
function isNeitherCounterNorConstant({ points }: RoundSeries) {
  const steps = points.slice(1).map(({ n, value }, k) => (value - points[k].value) / (n - points[k].n || 1));
  const isCounter = points.every(({ value }) => Number.isInteger(value)) && new Set(steps).size === 1;
  return !isCounter && points.some(({ value }) => !Object.is(value, points[0].value));
}

/** Whether another series has the same numbers at the same rounds, as far as their digits go. */
function hasSameNumbers({ points }: RoundSeries, other: RoundSeries) {
  return points.every(({ n, value, slack = 0 }) => {
    const known = other.valueAt(n);
    if (known === null) return false;
    return Object.is(known, value) || Math.abs(known - value) <= slack + SAME_SHARE * Math.abs(known);
  });
}
