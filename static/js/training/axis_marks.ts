/** What the training axis looks like: a curve over the rounds, and the phases of one of them. */

import { recordedRounds, stepOfRound } from "../trace/steps/training_rounds.ts";
import { bytesText } from "../trace/format.ts";
import type { VNode } from "../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark } from "../browser/shapes.ts";
import type { PhaseInterval } from "./phases.ts";
import type { NotableRound } from "./notable_rounds.ts";
import type { RoundSeries } from "./round_series.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** Pixels: of the drawings, and of what stands beside, over and below the curve. */
const PHASES_HEIGHT = 22;
const MEMORY_HEIGHT = 20;
const AXIS_HEIGHT = 58;
const LOW_AXIS_HEIGHT = 60;
/** A window that is lower, or narrower, has the lower axis. */
const SMALL_WINDOW = "(max-height: 780px), (max-width: 860px)";
export const PLOT_LEFT = 82;
export const PLOT_RIGHT = 14;
const TOP = 12;
const BOTTOM = 22;
/** A curve that spans more is drawn logarithmically. */
const LOGARITHMIC_SPAN = 30;
const TICK_WIDTH = 70;
/** Pixels that a word of 12 pixels needs, for each letter. */
const LETTER_WIDTH = 7.4;
const MOST_DIGITS = 8;
const RING_RADIUS = 3.6;
/** Pixels of the words for values that are not finite. */
const NOT_FINITE_WIDTH = 90;
/** Recorded rounds that are nearer to each other than this have smaller rings. */
const RING_ROOM = 9;

/** Pixels of the drawing, in a window of this size. */
export function axisHeight(): number {
  return matchMedia(SMALL_WINDOW).matches ? LOW_AXIS_HEIGHT : AXIS_HEIGHT;
}

/** Of the phases of a round and, where there is room, the curve of memory above them. */
export function phasesHeight(): number {
  return matchMedia(SMALL_WINDOW).matches ? PHASES_HEIGHT : PHASES_HEIGHT + MEMORY_HEIGHT;
}

interface AxisFacts {
  height: number;
  width: number;
  series: RoundSeries | null;
  chosen: number;
  news: NotableRound[];
}

const text = (content: string, x: number, y: number, anchor: string) =>
  textMark("round-text", x, y, content, { "text-anchor": anchor });

/** How a series' values stand over the rounds. */
function curveScale(series: RoundSeries | null, floor: number) {
  const finite = (series?.points ?? []).map(({ value }) => value).filter(Number.isFinite);
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const isLogarithmic = low > 0 && high / low > LOGARITHMIC_SPAN;
  const scaled = (value: number) => (isLogarithmic ? Math.log(value) : value);
  const span = scaled(high) - scaled(low) || 1;
  return {
    low,
    high,
    isLogarithmic,
    isEmpty: !finite.length,
    /** what is not finite stands at the top, what is not known at the bottom */
    y(value: number | null) {
      if (value === null) return floor;
      return Number.isFinite(value) ? floor - ((scaled(value) - scaled(low)) / span) * (floor - TOP) : TOP;
    },
  };
}

/** The curve, the recorded rounds as rings, and the round that was chosen. */
export function axisMarks(
  trace: Trace,
  { width, height, series, chosen, news }: AxisFacts,
  say: Locale["say"],
): VNode[] {
  const last = (trace.rounds?.count ?? 1) - 1;
  const x = (n: number) => PLOT_LEFT + (n / Math.max(last, 1)) * (width - PLOT_LEFT - PLOT_RIGHT);
  const floor = height - BOTTOM;
  const scale = curveScale(series, floor);
  const yAt = (n: number) => scale.y(series?.valueAt(n) ?? null);
  const rounds = recordedRounds(trace);
  const isFiniteAt = (n: number) => Number.isFinite(series?.valueAt(n) ?? 0);
  const notFinite = rounds.find(({ n }) => !isFiniteAt(n) && x(n) + 8 + NOT_FINITE_WIDTH < width - PLOT_RIGHT);
  const gap = rounds.reduce((least, { n }, k) => (k ? Math.min(least, x(n) - x(rounds[k - 1].n)) : least), Infinity);
  const radius = gap < RING_ROOM ? 2 : RING_RADIUS;
  return [
    pathMark("round-base", `M${PLOT_LEFT} ${floor}H${width - PLOT_RIGHT}`),
    ...roundTicks(last, width).map((n) => text(String(n), x(n), height - 7, n === last && n ? "end" : "middle")),
    ...(scale.isEmpty
      ? []
      : [
          text(shortNumber(scale.high, scale.low), PLOT_LEFT - 10, TOP + 6, "end"),
          text(shortNumber(scale.low, scale.high), PLOT_LEFT - 10, floor, "end"),
        ]),
    text(scale.isLogarithmic ? say("round_log") : "", width - PLOT_RIGHT, TOP + 10, "end"),
    pathMark("round-curve unrecorded", curvePath(series, x, scale.y)),
    pathMark("round-curve", curvePath(series, x, scale.y, new Set(rounds.map(({ n }) => n)))),
    ...rounds.map(({ n }) => circleMark(isFiniteAt(n) ? "round-ring" : "round-ring not-finite", x(n), yAt(n), radius)),
    notFinite ? text(say("round_not_finite"), x(notFinite.n) + 8, TOP + 14, "start") : null,
    ...news.map(({ n, why }) => pathMark(`round-news ${why}`, `M${x(n) - 4} 2h8l-4 7z`)),
    pathMark("round-now", `M${x(chosen)} ${TOP}V${floor}`),
    circleMark(stepOfRound(trace, chosen) === null ? "round-knob away" : "round-knob", x(chosen), yAt(chosen), 7),
  ].filter((mark) => mark !== null);
}

/** With as many digits as tell it from the other one. */
function shortNumber(value: number, other: number): string {
  const size = Math.abs(value);
  const isLong = size > 0 && (size < 1e-3 || size >= 1e5);
  const write = (each: number, digits: number) =>
    isLong ? each.toExponential(digits - 3) : String(Number(each.toPrecision(digits)));
  let digits = 3;
  while (digits < MOST_DIGITS && value !== other && write(value, digits) === write(other, digits)) digits += 1;
  return write(value, digits);
}

/** A line through what is finite, broken where a value is not; of `only` these rounds, where that is given. */
function curvePath(
  series: RoundSeries | null,
  x: (n: number) => number,
  y: (value: number) => number,
  only: ReadonlySet<number> | null = null,
): string {
  let d = "";
  let isDown = false;
  for (const { n, value } of series?.points ?? []) {
    const isPoint = Number.isFinite(value) && (only === null || only.has(n));
    if (isPoint) d += `${isDown ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = isPoint;
  }
  return d;
}

/** The rounds that have their number at the axis: round ones, and the last. */
function roundTicks(last: number, width: number): number[] {
  const room = width - PLOT_LEFT - PLOT_RIGHT;
  const every = niceInterval(last, Math.max(1, Math.floor(room / TICK_WIDTH)));
  const ticks = [...Array(Math.floor(last / every) + 1).keys()].map((k) => k * every);
  return [
    ...ticks.filter((n) => n === 0 || ((last - n) / Math.max(last, 1)) * room > TICK_WIDTH / 2),
    ...(last ? [last] : []),
  ];
}

/** The interval of so many ticks at most: 1, 2 or 5 times a power of ten. */
function niceInterval(last: number, ticks: number): number {
  for (let power = 1; ; power *= 10) for (const k of [1, 2, 5]) if (last / (k * power) <= ticks) return k * power;
}

interface InsideFacts {
  phases: PhaseInterval[];
  width: number;
  /** of the drawing, as `phasesHeight` says */
  inside: number;
  step: number;
}

/** Where the steps of a round stand, each as wide as the others. */
function insideScale({ phases, width }: InsideFacts) {
  const first = phases[0]?.from ?? 0;
  const count = (phases.at(-1)?.to ?? first) - first + 1;
  const room = width - PLOT_LEFT - PLOT_RIGHT;
  return { first, count, each: room / count, x: (i: number) => PLOT_LEFT + ((i - first) / count) * room };
}

/** The memory in use after each step of the round, from zero to the round's most. */
export function memoryMarks(bytes: number[], facts: InsideFacts, say: Locale["say"]): VNode[] {
  const { first, count, each, x } = insideScale(facts);
  const inUse = bytes.slice(first, first + count);
  const most = inUse.reduce((a, b) => Math.max(a, b), 0);
  if (facts.inside <= PHASES_HEIGHT || !facts.phases.length || !most) return [];
  const floor = MEMORY_HEIGHT - 1;
  const y = (value: number) => (floor - (value / most) * (floor - 3)).toFixed(1);
  let d = `M${x(first)} ${floor}`;
  inUse.forEach((value, k) => {
    if (value !== inUse[k - 1]) d += `V${y(value)}`;
    d += `H${(x(first + k) + each).toFixed(1)}`;
  });
  return [
    pathMark("round-memory", `${d}V${floor}Z`, { title: say("round_memory", { most: bytesText(most) }) }),
    text(bytesText(most), PLOT_LEFT - 6, floor - 3, "end"),
  ];
}

/** The phases of a round, each as wide as its steps are many, and the step where the reader is. */
export function phaseMarks(facts: InsideFacts, say: Locale["say"]): VNode[] {
  const { phases, inside, step } = facts;
  const { first, count, each, x } = insideScale(facts);
  const top = inside - PHASES_HEIGHT;
  const boxes = phases.flatMap(({ phase, from, to }) => {
    const wide = x(to + 1) - x(from);
    const word = phase === "rest" ? "" : say(`round_phase_${phase}`);
    const width = Math.max(wide - 1, 1);
    return [
      rectMark(`round-phase ${phase}`, x(from), top + 3, width, 15, { rx: 2 }),
      word && word.length * LETTER_WIDTH + 8 < wide ? text(word, (x(from) + x(to + 1)) / 2, top + 15, "middle") : null,
    ];
  });
  const isInside = phases.length > 0 && step >= first && step < first + count;
  const at = x(step) + each / 2;
  const here = isInside ? pathMark("round-step", `M${at - 5} ${top}h10l-5 8z`) : null;
  return [...boxes, here].filter((mark) => mark !== null);
}
