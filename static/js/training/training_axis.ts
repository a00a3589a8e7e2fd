/**
 * The axis of rounds over the timeline: curves that are sliders, the phases of a round, and a field that takes the
 * number of any round.
 */

import {
  focusOfRound,
  iterationOfRound,
  recordedRounds,
  roundAtStep,
  stepOfRound,
} from "../trace/steps/training_rounds.ts";
import { axisControls, listenToAxis } from "./axis_controls.ts";
import { axisHeight, axisMarks, phasesHeight, memoryMarks, PLOT_LEFT, PLOT_RIGHT, phaseMarks } from "./axis_marks.ts";
import { lastIterations, parseRoundInput } from "./round_input.ts";
import { notableRounds, type NotableRound } from "./notable_rounds.ts";
import { roundPhases, type PhaseInterval } from "./phases.ts";
import { roundSeries, type RoundSeries } from "./round_series.ts";
import { setText } from "../browser/elements.ts";
import { patchHost } from "../browser/svg.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

export type TrainingAxis = ReturnType<typeof createTrainingAxis>;

interface AxisOptions {
  go: (step: number) => void;
  /** null where nothing can be run from here */
  record: ((n: number) => void) | null;
}

const MIN_WIDTH = 200;
const VALUE_DIGITS = 4;

/** A round as it is called: its number, and that of its loops where it is another. */
function roundLabel(trace: Trace, n: number): string {
  const iteration = iterationOfRound(trace, n);
  return iteration.length < 2 ? String(n) : `${n} (${iteration.join("·")})`;
}

export function createTrainingAxis(host: HTMLElement, say: Locale["say"], { go, record }: AxisOptions) {
  let trace: Trace | null = null;
  let step = 0;
  let chosen = 0;
  let list: RoundSeries[] = [];
  let series: RoundSeries | null = null;
  let phases: PhaseInterval[] = [];
  let news: NotableRound[] = [];
  let findingSteps: number[] = [];
  /** what was wrong with what was typed */
  let complaint = "";
  /** in use after each step */
  let bytes: number[] = [];
  /** in pixels; null until it is measured */
  let size: { width: number; height: number; inside: number } | null = null;
  /** what the curve was drawn from */
  let drawnAxisInputs: unknown[] = [];
  const controls = axisControls(host, say);
  const { slider, curve, inside, field, status, again, count, choices } = controls;

  const last = () => (trace?.rounds?.count ?? 1) - 1;
  const isRecorded = (n: number) => trace !== null && stepOfRound(trace, n) !== null;
  const nextNews = () => news.find(({ n }) => n > chosen) ?? news.find(({ n }) => n < chosen) ?? null;

  /** Go to a round, or say what is known of it. */
  function choose(n: number) {
    if (!trace) return;
    complaint = "";
    chosen = Math.max(0, Math.min(n, last()));
    const at = stepOfRound(trace, chosen);
    if (at !== null && at !== step) go(at);
    else draw();
  }

  /** To the recorded round before this one, or after it. */
  function chooseRecorded(direction: 1 | -1) {
    const rounds = trace ? recordedRounds(trace) : [];
    const target = direction > 0 ? rounds.find(({ n }) => n > chosen) : rounds.findLast(({ n }) => n < chosen);
    if (target) choose(target.n);
  }

  /** To a round that was asked for by its number: it is recorded where it was not. */
  function chooseAndRecord(n: number) {
    choose(n);
    if (trace && !isRecorded(n) && record && focusOfRound(trace, n)) record(n);
  }

  function chooseTyped() {
    if (!trace || !field.value.trim()) return;
    const n = parseRoundInput(trace, field.value);
    field.setAttribute("aria-invalid", String(n === null));
    if (n !== null) return chooseAndRecord(n);
    const pair = lastIterations(trace);
    complaint = say(pair ? "round_range_pair" : "round_range", { last: last(), pair });
    field.select();
    draw();
  }

  function valueText(): string {
    const value = series?.valueAt(chosen) ?? null;
    return series && value !== null ? ` · ${series.name} ${Number(value.toPrecision(VALUE_DIGITS))}` : "";
  }

  function newsText(): string {
    const found = news.find(({ n }) => n === chosen);
    return found ? ` · ${say(`round_news_${found.why}`)}` : "";
  }

  /** How an unrecorded round can be had where this page can't run anything. */
  function whereToRecord(shown: Trace): string {
    if (record) return focusOfRound(shown, chosen) ? "" : ` · ${say("round_in_no_loop")}`;
    const near = [
      recordedRounds(shown).findLast(({ n }) => n < chosen),
      recordedRounds(shown).find(({ n }) => n > chosen),
    ].flatMap((round) => (round ? [round.n] : []));
    const command = shown.rounds?.optimizers === 1 ? `gradbox open --rounds ${chosen}` : null;
    const where = shown.runtime.recorded ? command : say("round_on_page");
    return ` · ${[say("round_near", { rounds: near.join(", ") }), where].filter(Boolean).join(" · ")}`;
  }

  function sentence(): string {
    if (!trace) return "";
    const ended = recordedRounds(trace).findLast(({ n }) => n === last());
    const isAfter = ended !== undefined && chosen === last() && step > ended.to;
    const round = say(isAfter ? "round_after" : "round_of", { n: roundLabel(trace, chosen), count: last() + 1 });
    if (isAfter) return round;
    const known = round + valueText() + newsText();
    if (isRecorded(chosen)) return known;
    const drawn = roundAtStep(trace, step);
    const unrecorded = drawn === null ? say("round_unrecorded") : say("round_not_drawn", { n: drawn });
    return `${known} · ${unrecorded}${whereToRecord(trace)}`;
  }

  /** Asked at every step, its size would be laid out anew at every step. */
  function measure() {
    size = { width: Math.max(slider.clientWidth, MIN_WIDTH), height: axisHeight(), inside: phasesHeight() };
    return size;
  }

  function drawAxis(shown: Trace, { width, height }: { width: number; height: number }) {
    const from = [shown, width, height, series, chosen, news];
    if (from.every((part, i) => part === drawnAxisInputs[i])) return;
    drawnAxisInputs = from;
    patchHost(document, curve, axisMarks(shown, { width, height, series, chosen, news }, say));
    curve.setAttribute("viewBox", `0 0 ${width} ${height}`);
    curve.style.height = `${height}px`;
  }

  function draw() {
    if (!trace?.rounds) return;
    const measured = size ?? measure();
    drawAxis(trace, measured);
    phases = isRecorded(chosen) ? roundPhases(trace, recordedRounds(trace), chosen) : [];
    const stretch = { phases, step, ...measured };
    patchHost(document, inside, [...memoryMarks(bytes, stretch, say), ...phaseMarks(stretch, say)]);
    inside.setAttribute("viewBox", `0 0 ${measured.width} ${measured.inside}`);
    inside.style.height = `${measured.inside}px`;
    const told = sentence();
    setText(status, complaint || told);
    status.classList.toggle("complaint", complaint !== "");
    again.hidden = complaint !== "" || isRecorded(chosen) || !record || !focusOfRound(trace, chosen);
    slider.setAttribute("aria-valuemax", String(last()));
    slider.setAttribute("aria-valuenow", String(chosen));
    slider.setAttribute("aria-valuetext", told);
    showMoves(trace);
  }

  function showMoves(shown: Trace) {
    const rounds = recordedRounds(shown);
    controls.previous.disabled = !rounds.some(({ n }) => n < chosen);
    controls.next.disabled = !rounds.some(({ n }) => n > chosen);
    const ahead = nextNews();
    controls.news.hidden = !news.some(({ n }) => n !== chosen);
    controls.news.disabled = !ahead;
    setText(controls.news, say("round_next_news", { n: ahead?.n ?? chosen }));
    controls.news.title = `${ahead ? say(`round_news_${ahead.why}`) : say("round_news")} (r)`;
  }

  function open(shown: Trace) {
    const name = series?.name;
    list = roundSeries(shown, say("round_loss"));
    series = list.find((other) => other.name === name) ?? list[0] ?? null;
    news = notableRounds(shown, findingSteps);
    choices.replaceChildren(...list.map((other) => new Option(other.name, "", other === series, other === series)));
    choices.hidden = list.length < 2;
    const total = last() + 1;
    const recorded = recordedRounds(shown).length;
    count.textContent = say(recorded < total ? "round_count" : "round_all", { n: recorded, count: total });
  }

  function roundAtPointer(event: PointerEvent) {
    const box = slider.getBoundingClientRect();
    const share = (event.clientX - box.left - PLOT_LEFT) / Math.max(box.width - PLOT_LEFT - PLOT_RIGHT, 1);
    return Math.round(share * last());
  }

  function stepAtPointer(event: PointerEvent): number | null {
    const box = inside.getBoundingClientRect();
    const share = (event.clientX - box.left - PLOT_LEFT) / Math.max(box.width - PLOT_LEFT - PLOT_RIGHT, 1);
    const first = phases[0]?.from;
    const end = phases[phases.length - 1]?.to;
    if (first === undefined || end === undefined) return null;
    return Math.max(first, Math.min(first + Math.floor(share * (end - first + 1)), end));
  }

  listenToAxis(host, controls, {
    drag: (event) => choose(roundAtPointer(event)),
    dragInside(event) {
      const at = stepAtPointer(event);
      if (at !== null) go(at);
    },
    move: (key) => {
      if (key === "PageDown") chooseRecorded(1);
      else if (key === "PageUp") chooseRecorded(-1);
      else choose({ ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0 }[key] ?? last());
    },
    chooseTyped,
    chooseRecorded,
    chooseNews: () => choose(nextNews()?.n ?? chosen),
    recordChosen: () => record?.(chosen),
    chooseSeries(index) {
      series = list[index] ?? null;
      draw();
    },
    resize() {
      measure();
      draw();
    },
  });

  return {
    /** `causes` are the steps at which findings have their cause. */
    markFindings(causes: number[]) {
      findingSteps = causes;
      if (!trace) return;
      news = notableRounds(trace, findingSteps);
      draw();
    },
    show(shown: Trace, at: number, inUse: number[]) {
      const isNew = shown !== trace;
      trace = shown;
      if (isNew) open(shown);
      if (isNew || at !== step) {
        chosen = roundAtStep(shown, at) ?? 0;
        complaint = "";
      }
      step = at;
      bytes = inUse;
      draw();
    },
  };
}
