/** The axis of rounds over the timeline: the loss as a slider, and a field that takes the number of any round. */

import { focusOfRound, iterationOfRound, roundAtStep, stepOfRound } from "../trace/training_rounds.ts";
import { h, patchHost, SVG_NAMESPACE, type VNode } from "../browser/svg.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** Pixels: of the drawing, and of what stands beside and below the curve. */
const HEIGHT = 92;
const LEFT = 58;
const RIGHT = 14;
const TOP = 8;
const BOTTOM = 24;
/** A loss that spans more is drawn logarithmically. */
const LOGARITHMIC_SPAN = 30;
const TICK_WIDTH = 70;

export type TrainingAxis = ReturnType<typeof createTrainingAxis>;

interface AxisOptions {
  go: (step: number) => void;
  /** null where nothing can be run from here */
  record: ((n: number) => void) | null;
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (!value || typeof value !== "object" || !("$f" in value)) return null;
  return value.$f === "nan" ? Number.NaN : value.$f === "inf" ? Infinity : -Infinity;
}

/** What a backward began at, as its statement says it. */
export function lossName(trace: Trace, stmt: number | null): string {
  const place = trace.program.statements?.[stmt ?? -1];
  const line = place ? (trace.program.source.split("\n")[place.line - 1] ?? "") : "";
  return /([\w.[\]]+)\.backward\(/.exec(line)?.[1] ?? "loss";
}

/** A round as it is called: its number, and that of its loops where it is another. */
export function roundLabel(trace: Trace, n: number): string {
  const iteration = iterationOfRound(trace, n);
  return iteration.length < 2 ? String(n) : `${n} (${iteration.join("·")})`;
}

export function createTrainingAxis(host: HTMLElement, say: Locale["say"], { go, record }: AxisOptions) {
  let trace: Trace | null = null;
  let step = 0;
  let chosen = 0;
  let series = 0;
  const drawing = document.createElementNS(SVG_NAMESPACE, "svg");
  drawing.setAttribute("aria-hidden", "true");
  const slider = document.createElement("div");
  slider.className = "round-slider";
  slider.tabIndex = 0;
  slider.setAttribute("role", "slider");
  slider.setAttribute("aria-label", say("round_axis"));
  slider.setAttribute("aria-valuemin", "0");
  slider.append(drawing);
  const form = document.createElement("form");
  form.className = "round-chip";
  const count = document.createElement("span");
  const label = document.createElement("label");
  const field = document.createElement("input");
  field.inputMode = "numeric";
  field.autocomplete = "off";
  label.append(say("round_go"), " ", field);
  const losses = document.createElement("select");
  losses.setAttribute("aria-label", say("round_losses"));
  const status = document.createElement("output");
  const again = document.createElement("button");
  again.type = "button";
  again.className = "quiet";
  again.textContent = say("round_record");
  form.append(count, label, losses, status, again);
  host.replaceChildren(slider, form);

  const last = () => (trace?.rounds?.count ?? 1) - 1;
  const lossAt = (n: number) => {
    const loss = trace?.rounds?.losses[series];
    return loss && n % loss.every === 0 ? numberOf(loss.values[n / loss.every]) : null;
  };

  /** Go to a round, or say what is known of it. */
  function choose(n: number) {
    if (!trace) return;
    chosen = Math.max(0, Math.min(n, last()));
    const at = stepOfRound(trace, chosen);
    if (at !== null) go(at);
    else draw();
  }

  function sentence(): string {
    if (!trace) return "";
    const value = lossAt(chosen);
    const loss =
      value === null
        ? ""
        : ` · ${lossName(trace, trace.rounds?.losses[series]?.stmt ?? null)} ${Number(value.toPrecision(4))}`;
    const round = say("round_of", { n: roundLabel(trace, chosen), count: last() + 1 });
    if (stepOfRound(trace, chosen) !== null) return round + loss;
    const how = record ? "" : ` · ${trace.runtime.recorded ? `gradbox open --rounds ${chosen}` : say("round_on_page")}`;
    return `${round}${loss} · ${say("round_unrecorded")}${how}`;
  }

  function marks(width: number): VNode[] {
    const rounds = trace?.rounds;
    if (!trace || !rounds) return [];
    const loss = rounds.losses[series];
    const points = (loss?.values ?? []).map((value, k) => ({ n: k * loss.every, value: numberOf(value) }));
    const finite = points.flatMap(({ value }) => (value !== null && Number.isFinite(value) ? [value] : []));
    const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
    const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    const isLogarithmic = low > 0 && high / low > LOGARITHMIC_SPAN;
    const scaled = (value: number) => (isLogarithmic ? Math.log(value) : value);
    const span = scaled(high) - scaled(low) || 1;
    const x = (n: number) => LEFT + (n / Math.max(last(), 1)) * (width - LEFT - RIGHT);
    const y = (value: number) => HEIGHT - BOTTOM - ((scaled(value) - scaled(low)) / span) * (HEIGHT - BOTTOM - TOP);
    let d = "";
    let isDown = false;
    for (const { n, value } of points) {
      const isPoint = value !== null && Number.isFinite(value);
      if (isPoint) d += `${isDown ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = isPoint;
    }
    const floor = HEIGHT - BOTTOM;
    const yAt = (n: number) => {
      const value = lossAt(n);
      return value !== null && Number.isFinite(value) ? y(value) : value === null ? floor : TOP;
    };
    const every = niceInterval(last(), Math.max(1, Math.floor((width - LEFT - RIGHT) / TICK_WIDTH)));
    const ticks = [...new Set([...Array(Math.floor(last() / every) + 1).keys()].map((k) => k * every))].filter(
      (n) => n === 0 || x(last()) - x(n) > TICK_WIDTH / 2,
    );
    const text = (content: string, tx: number, ty: number, anchor: string) =>
      h("text", { class: "round-text", x: tx, y: ty, "text-anchor": anchor }, [content]);
    return [
      h("path", { class: "round-base", d: `M${LEFT} ${floor}H${width - RIGHT}` }),
      ...[...ticks, ...(last() ? [last()] : [])].map((n) =>
        text(String(n), x(n), HEIGHT - 8, n === last() ? "end" : "middle"),
      ),
      ...(finite.length
        ? [text(high.toPrecision(3), LEFT - 10, TOP + 8, "end"), text(low.toPrecision(3), LEFT - 10, floor, "end")]
        : []),
      text(isLogarithmic ? say("round_log") : "", LEFT - 10, (TOP + floor) / 2 + 6, "end"),
      h("path", { class: "round-curve", d }),
      ...rounds.recorded.map(({ n }) => h("circle", { class: "round-ring", cx: x(n), cy: yAt(n), r: 3.6 })),
      h("path", { class: "round-now", d: `M${x(chosen)} ${TOP}V${floor}` }),
      h("circle", {
        class: stepOfRound(trace, chosen) === null ? "round-knob away" : "round-knob",
        cx: x(chosen),
        cy: yAt(chosen),
        r: 7,
      }),
    ];
  }

  function draw() {
    const rounds = trace?.rounds;
    if (!trace || !rounds) return;
    const width = Math.max(slider.clientWidth, 200);
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    patchHost(document, drawing, marks(width));
    const isRecorded = stepOfRound(trace, chosen) !== null;
    status.textContent = sentence();
    again.hidden = isRecorded || !record || !focusOfRound(trace, chosen);
    slider.setAttribute("aria-valuemax", String(last()));
    slider.setAttribute("aria-valuenow", String(chosen));
    slider.setAttribute("aria-valuetext", sentence());
  }

  function goToPointer(event: PointerEvent) {
    const box = slider.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / Math.max(box.width - LEFT - RIGHT, 1);
    choose(Math.round(share * last()));
  }
  slider.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    slider.setPointerCapture(event.pointerId);
    goToPointer(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) goToPointer(event);
  });
  slider.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const told = trace?.rounds?.recorded ?? [];
    const target = {
      ArrowRight: chosen + 1,
      ArrowLeft: chosen - 1,
      PageDown: told.find(({ n }) => n > chosen)?.n ?? chosen,
      PageUp: told.findLast(({ n }) => n < chosen)?.n ?? chosen,
      Home: 0,
      End: last(),
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys go from step to step
    choose(target);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const n = Number(field.value.trim());
    if (!trace || !field.value.trim()) return;
    if (!Number.isInteger(n) || n < 0 || n > last()) status.textContent = say("round_last", { n: last() });
    else if (n === chosen && stepOfRound(trace, n) === null && !again.hidden) record?.(n);
    else choose(n);
  });
  again.addEventListener("click", () => record?.(chosen));
  losses.addEventListener("change", () => {
    series = losses.selectedIndex;
    draw();
  });
  new ResizeObserver(draw).observe(slider);

  return {
    show(shown: Trace, at: number) {
      const isNew = shown !== trace;
      trace = shown;
      if (isNew) {
        series = 0;
        const named = (shown.rounds?.losses ?? []).map(({ stmt }) => new Option(lossName(shown, stmt)));
        losses.replaceChildren(...named);
        losses.hidden = named.length < 2;
        const total = last() + 1;
        const recorded = shown.rounds?.recorded.length ?? 0;
        count.textContent = say(recorded < total ? "round_count" : "round_all", { n: recorded, count: total });
      }
      if (isNew || at !== step) chosen = roundAtStep(shown, at) ?? 0;
      step = at;
      draw();
    },
  };
}

/** The interval of so many ticks at most: 1, 2 or 5 times a power of ten. */
function niceInterval(last: number, ticks: number): number {
  for (let power = 1; ; power *= 10) for (const k of [1, 2, 5]) if (last / (k * power) <= ticks) return k * power;
}
