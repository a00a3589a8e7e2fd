/**
 * The scalars that a loop binds or prints, a loss for one: their values from iteration to iteration, with their steps.
 */

import { findEntity } from "./entities.ts";
import { cellExtentOfHandle, unqualifiedDtype } from "./reads.ts";
import { addToList } from "./multimap.ts";
import { iterateStates, type Entities } from "./state.ts";
import { outermostLoopIterations } from "./steps/stepping.ts";
import type { Step, Trace, Value } from "./wire.ts";

export interface SeriesPoint {
  step: number;
  /** the loop's iteration, or how manieth point it is */
  x: number;
  /** may be NaN or infinite */
  value: number;
  /** as Python writes it */
  text: string;
}

export interface ScalarSeries {
  /** null for printed numbers that no word stands before */
  name: string | null;
  line: number;
  source: "tensor" | "number" | "printed";
  points: SeriesPoint[];
}

/** So few points are no curve, and so many curves are shown. */
const MIN_SERIES_POINTS = 3;
const MAX_SERIES = 3;
/** A text with more numbers than this is a table or a tensor, not a report. */
const MAX_NUMBERS_IN_PRINTED_TEXT = 4;
export const NUMBER_PATTERN = /(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|nan|inf)(?!\.?\w)/gi;
const WORD_BEFORE_NUMBER_PATTERN = /([\p{L}_][\p{L}\w.]*)[\s:=([{]*$/u;
const MEASURED_NAME_PATTERN = /loss|err|cost|mse|mae|nll|acc|score|reward|norm|损失|误差|精度/i;

/** The series of a run, those that measure something first; none for a program without a loop. */
export function findScalarSeries(trace: Trace): ScalarSeries[] {
  const loopSteps = stepsInLoops(trace.steps);
  if (!loopSteps.size) return [];
  const boundList = seriesOfBoundNames(trace, loopSteps);
  const printed = seriesOfPrintedNumbers(trace.steps, loopSteps).filter(
    (series) => !boundList.some((other) => isDuplicateSeries(series, other)),
  );
  const all = [
    ...boundList.filter((series, k) => !boundList.slice(0, k).some((other) => isDuplicateSeries(series, other))),
    ...printed,
  ];
  return all
    .filter(isMeasuredSeries)
    .sort((a, b) => scalarSeriesRank(a) - scalarSeriesRank(b))
    .slice(0, MAX_SERIES)
    .map(iterationPlacer(trace.steps));
}

/** The steps that a loop repeats, with what its iterations call. */
function stepsInLoops(steps: Step[]): Set<number> {
  const loopSteps = new Set<number>();
  for (const { from, to } of outermostLoopIterations(steps)) for (let i = from; i <= to; i++) loopSteps.add(i);
  return loopSteps;
}

/** Names that a repeated statement binds to scalars. */
function seriesOfBoundNames(trace: Trace, loopSteps: Set<number>): ScalarSeries[] {
  const series = new Map<string, ScalarSeries>();
  /** by statement, the names that it binds */
  const targets = new Map<number, Set<string>>();
  let i = -1;
  for (const entities of iterateStates(trace)) {
    const traceStep = trace.steps[++i];
    const { stmt, frame: uid } = traceStep;
    if (!loopSteps.has(i) || traceStep.kind !== "statement" || typeof stmt !== "number" || !uid) continue;
    const names = targets.get(stmt) ?? new Set();
    for (const name of Object.keys(traceStep.set[uid]?.vars ?? {})) names.add(name);
    targets.set(stmt, names);
    const frame = findEntity(entities, uid, "frame");
    for (const name of names) {
      const scalar = scalarFromValue(frame?.vars.get(name), entities);
      if (!scalar) continue;
      const key = `${stmt} ${name}`;
      const entry = series.get(key) ?? { name, line: traceStep.line, source: scalar.source, points: [] };
      entry.points.push({ step: i, x: 0, value: scalar.value, text: scalar.text });
      series.set(key, entry);
    }
  }
  return [...series.values()].filter(({ points }) => points.length >= MIN_SERIES_POINTS);
}

/** A number, or the one element of a tensor. */
function scalarFromValue(
  value: Value | undefined,
  entities: Entities,
): { value: number; text: string; source: "number" | "tensor" } | null {
  const number = scalarFromNumber(value);
  if (number) return { ...number, source: "number" };
  if (!value || typeof value !== "object" || !("ref" in value)) return null;
  const tensor = findEntity(entities, value.ref, "tensor");
  if (!tensor || tensor.shape?.some((size) => size !== 1)) return null;
  const row = findEntity(entities, tensor.storage, "storage")?.cells?.[unqualifiedDtype(tensor.dtype)];
  const element = scalarFromNumber(row?.[cellExtentOfHandle(tensor)?.[0] ?? 0]);
  return element && { ...element, source: "tensor" };
}

/** Null for what is no real number. */
function scalarFromNumber(value: Value | undefined): { value: number; text: string } | null {
  if (typeof value === "number") return { value, text: String(value) };
  if (!value || typeof value !== "object" || !("$f" in value)) return null;
  return { value: parseNumberText(value.$f), text: value.$f };
}

/** Numbers in what a repeated statement prints, where it prints the same words each time. */
function seriesOfPrintedNumbers(steps: Step[], loopSteps: Set<number>): ScalarSeries[] {
  /** by statement and words */
  const textsByTemplate = new Map<string, { step: number; text: string }[]>();
  steps.forEach((traceStep, i) => {
    const text = traceStep.log.map((entry) => (entry.kind === "out" ? entry.text : "")).join("");
    if (!text || !loopSteps.has(i)) return;
    const numbers = text.match(NUMBER_PATTERN)?.length ?? 0;
    if (!numbers || numbers > MAX_NUMBERS_IN_PRINTED_TEXT) return;
    const key = `${traceStep.stmt} ${text.replace(NUMBER_PATTERN, "#").replace(/\s+/g, " ")}`;
    addToList(textsByTemplate, key, { step: i, text });
  });
  return [...textsByTemplate.values()]
    .filter((group) => group.length >= MIN_SERIES_POINTS)
    .flatMap((group) => seriesOfSimilarTexts(group, steps));
}

/** A series for each number of texts that have the same words. */
function seriesOfSimilarTexts(group: { step: number; text: string }[], steps: Step[]): ScalarSeries[] {
  const first = [...group[0].text.matchAll(NUMBER_PATTERN)];
  return first.map((match, k) => {
    const from = k ? first[k - 1].index + first[k - 1][0].length : 0;
    return {
      name: labelBeforeNumber(group[0].text.slice(from, match.index)),
      line: steps[group[0].step].line,
      source: "printed",
      points: group.map(({ step, text }) => {
        const number = (text.match(NUMBER_PATTERN) ?? [])[k];
        return { step, x: 0, value: parseNumberText(number), text: number };
      }),
    };
  });
}

/** The word that a printed number stands behind; null where there is none that names it. */
export function labelBeforeNumber(text: string): string | null {
  const word = WORD_BEFORE_NUMBER_PATTERN.exec(text)?.[1] ?? null;
  return word === "tensor" ? null : word;
}

export function parseNumberText(text: string): number {
  if (/inf/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text); // NaN for "nan"
}

/** Whether a series says what another one says at the same time, as far as its digits go. */
function isDuplicateSeries({ points }: ScalarSeries, other: ScalarSeries) {
  let k = -1;
  return points.every(({ step, value, text }) => {
    while (k + 1 < other.points.length && other.points[k + 1].step <= step) k += 1;
    return k >= 0 && isRoundedFrom(value, text, other.points[k].value);
  });
}

/** Whether a value is another one, rounded to the digits of its text. */
function isRoundedFrom(value: number, text: string, exact: number) {
  if (Object.is(value, exact)) return true;
  const [digits, exponent = "0"] = text.toLowerCase().split("e");
  const decimals = (digits.split(".")[1] ?? "").length;
  return Math.abs(value - exact) <= 0.51 * 10 ** (Number(exponent) - decimals);
}

/** Whether a series measures something: neither a counter nor a constant of the loop. */
function isMeasuredSeries({ source, points }: ScalarSeries) {
  const differences = new Set(points.slice(1).map(({ value }, k) => value - points[k].value));
  const integers = points.every(({ value }) => Number.isInteger(value));
  if (integers && differences.size === 1 && !differences.has(0)) return false;
  return source === "tensor" || points.some(({ value }) => !Object.is(value, points[0].value));
}

function scalarSeriesRank({ name, source }: ScalarSeries) {
  if (MEASURED_NAME_PATTERN.test(name ?? "")) return 0;
  return source === "printed" ? 1 : source === "tensor" ? 2 : 3;
}

/** Places the points by the loop's iterations where they are all of one loop. */
function iterationPlacer(steps: Step[]): (series: ScalarSeries) => ScalarSeries {
  return (series) => {
    const isOneLoop = series.points.every(({ step }) => steps[step].iter?.length === 1);
    const points = series.points.map((point, k) => ({
      ...point,
      x: isOneLoop ? (steps[point.step].iter?.[0] ?? k) : k,
    }));
    const isRising = points.every(({ x }, k) => k === 0 || x > points[k - 1].x);
    return { ...series, points: isRising ? points : points.map((point, k) => ({ ...point, x: k })) };
  };
}
