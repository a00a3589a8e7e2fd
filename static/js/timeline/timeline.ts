/** The timeline: a slider over the steps, marks for the events of the run, playback, and the keys that step. */

import { roleIcon } from "../explain/finding_icons.ts";
import { callDepthByStep, outermostLoopIterations, stepOutFrom, stepOverFrom } from "../trace/steps/stepping.ts";
import { readPreference, writePreference } from "../browser/preferences.ts";
import { EVENTS } from "../trace/registry.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import type { Step } from "../trace/wire.ts";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const PLAY_STEP_MS = 900;
const PLAY_STEP_MS_REDUCED_MOTION = 1400;
const PLAYBACK_SPEEDS = [0.5, 1, 2, 4];
const PLAYBACK_SPEED_STORAGE_KEY = "gradbox-speed";
/** Pixels around a mark that are its own. */
const TIMELINE_MARK_REACH_PX = 7;
/** Pixels that the mark of a finding needs. */
const CHAIN_MARK_WIDTH = 28;

/** The marks, the gravest first; a step gets one, for its events or for its kind. shape: its top and its height in a
 * box of 1 by 10, for shapes differ as well as colours; its colour is the style of `.mark-NAME`. */
export const TIMELINE_MARKS: Record<string, { shape: [number, number]; isOn?: (step: Step) => boolean }> = {
  raised: { shape: [0, 10], isOn: (traceStep) => traceStep.kind === "raise" },
  broken: { shape: [0, 8] },
  visit: { shape: [5, 5], isOn: (traceStep) => traceStep.kind === "visit" },
  written: { shape: [3, 7] },
  cut: { shape: [6, 4] },
  unseen: { shape: [9, 1], isOn: (traceStep) => Boolean(traceStep.skipped) },
};

/** The name of a step's mark. */
export function timelineMarkOf(traceStep: Step): string | null {
  const marks = new Set(traceStep.log.map((entry) => (entry.kind === "event" ? EVENTS[entry.event]?.mark : null)));
  return Object.keys(TIMELINE_MARKS).find((name) => marks.has(name) || TIMELINE_MARKS[name].isOn?.(traceStep)) ?? null;
}

/**
 * The step of the gravest mark near a point of the timeline, of those the nearest; where there is none, the point's own
 * step; -1 where there are no steps. `share` is where the point is, from 0 to 1, and `maxDistance` how far a mark may
 * be from it.
 */
export function nearestMarkedStep(steps: Step[], share: number, maxDistance: number): number {
  const last = steps.length - 1;
  const position = share * last;
  const names = Object.keys(TIMELINE_MARKS);
  let nearest = { step: Math.max(0, Math.min(Math.round(position), last)), rank: names.length };
  const reach = maxDistance * Math.max(last, 1);
  for (let i = Math.max(0, Math.ceil(position - reach)); i <= Math.min(last, position + reach); i++) {
    const name = timelineMarkOf(steps[i]);
    const rank = name ? names.indexOf(name) : names.length;
    if (rank < nearest.rank || (rank === nearest.rank && Math.abs(i - position) < Math.abs(nearest.step - position)))
      nearest = { step: i, rank };
  }
  return last < 0 ? -1 : nearest.step;
}

interface TimelineParts {
  root: HTMLElement;
  slider: HTMLInputElement;
  marks: HTMLElement;
  /** where the open finding is marked */
  chain: HTMLElement;
  label: HTMLElement;
}

export interface TimelineOptions {
  go: (i: number) => void;
  describe: (i: number) => string;
  /** whether a step is at a breakpoint */
  stopsAt: (i: number) => boolean;
  /** the step that made a step raise, where that is known */
  causeOf: (i: number) => number | null;
  /** the step at which the next row of a view is done, forwards or back; null where steps are taken one by one */
  nextRow: (direction: 1 | -1) => number | null;
  reducedMotion: boolean;
}

interface SetStepsOptions {
  /** steps follow that are not shown */
  hidesMore?: boolean;
  /** whoever steps past the last one asks for more */
  requestsMoreAtEnd?: boolean;
  /** the same run as before, with more steps */
  isContinuation?: boolean;
}

export function createTimeline(
  { root, slider, marks: marksHost, chain: chainHost, label }: TimelineParts,
  { go, describe, stopsAt, causeOf, nextRow, reducedMotion }: TimelineOptions,
) {
  let count = 0;
  let currentStep = 0;
  let timer = 0;
  let speed = PLAYBACK_SPEEDS.includes(Number(readPreference(PLAYBACK_SPEED_STORAGE_KEY)))
    ? Number(readPreference(PLAYBACK_SPEED_STORAGE_KEY))
    : 1;
  let shownSteps: Step[] = [];
  /** Going past the last step asks for those that are not shown. */
  let requestsMoreAtEnd = false;
  /** the steps that have a mark */
  let markedSteps = new Set<number>();
  /** call depth of each step */
  let depths: number[] = [];
  // the workbench has the speed in its menu
  const buttonNamed = (name: string) =>
    (root.querySelector(`[data-go="${name}"]`) ?? document.querySelector(`[data-go="${name}"]`)) as HTMLButtonElement;
  const play = buttonNamed("play");

  function goTo(i: number) {
    go(Math.max(0, Math.min(i, requestsMoreAtEnd ? count : count - 1)));
  }

  /** The next step in that direction that has a mark or a breakpoint. */
  function nextMarked(direction: 1 | -1) {
    for (let i = currentStep + direction; i >= 0 && i < count; i += direction)
      if (markedSteps.has(i) || stopsAt(i)) return i;
    return currentStep;
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    play.dataset.playing = "false";
    play.setAttribute("aria-pressed", "false");
  }

  function toggle() {
    if (timer) return pause();
    if (!count) return;
    if (currentStep >= count - 1 && !requestsMoreAtEnd) goTo(0);
    startTicking();
    play.dataset.playing = "true";
    play.setAttribute("aria-pressed", "true");
  }

  function startTicking() {
    clearInterval(timer);
    timer = window.setInterval(
      () => {
        const stepBefore = currentStep;
        if (currentStep < count - 1 || requestsMoreAtEnd) goTo(currentStep + 1);
        if (currentStep === stepBefore || (currentStep >= count - 1 && !requestsMoreAtEnd) || stopsAt(currentStep))
          pause();
      },
      (reducedMotion ? PLAY_STEP_MS_REDUCED_MOTION : PLAY_STEP_MS) / speed,
    );
  }

  const speedButton = buttonNamed("speed");
  function showSpeed() {
    speedButton.textContent = `${speed}×`;
    speedButton.setAttribute("aria-label", `${speed}×, ${speedButton.title}`);
  }
  function changeSpeed(offset: number) {
    const index = PLAYBACK_SPEEDS.indexOf(speed) + offset;
    speed =
      PLAYBACK_SPEEDS[
        offset === 1 && index === PLAYBACK_SPEEDS.length ? 0 : Math.max(0, Math.min(index, PLAYBACK_SPEEDS.length - 1))
      ];
    writePreference(PLAYBACK_SPEED_STORAGE_KEY, String(speed));
    showSpeed();
    if (timer) startTicking();
  }
  showSpeed();
  speedButton.addEventListener("click", () => changeSpeed(1));

  slider.addEventListener("input", () => {
    pause();
    goTo(Number(slider.value));
  });
  for (const [name, move] of [
    ["first", () => goTo(0)],
    ["previous", () => goTo(currentStep - 1)],
    ["next", () => goTo(currentStep + 1)],
    ["last", () => goTo(count - 1)],
  ] as [string, () => void][])
    buttonNamed(name).addEventListener("click", () => {
      pause();
      move();
    });
  play.addEventListener("click", toggle);
  marksHost.addEventListener("click", (event) => {
    const box = marksHost.getBoundingClientRect();
    const step = nearestMarkedStep(
      shownSteps,
      (event.clientX - box.left) / box.width,
      TIMELINE_MARK_REACH_PX / box.width,
    );
    if (step < 0) return;
    pause();
    const cause = causeOf(step);
    goTo(cause === null || cause === currentStep ? step : cause); // once more, and it is the step itself
  });

  function goToMark(step: number) {
    pause();
    goTo(step);
  }

  /** By rows of a view, and with Shift into them; else step by step, and with Shift over calls. */
  function arrowStep(direction: 1 | -1, shift: boolean) {
    const row = nextRow(direction);
    if (row !== null) return shift ? currentStep + direction : row;
    const goesOver = shift && (direction < 0 || currentStep < count - 1);
    return goesOver ? stepOverFrom(depths, currentStep, direction) : currentStep + direction;
  }

  /** The step that a key leads to; undefined where it is no key of the timeline. */
  function stepOfKey(key: string, shift: boolean): number | undefined {
    const moves: Record<string, () => number> = {
      ArrowRight: () => arrowStep(1, shift),
      ArrowLeft: () => arrowStep(-1, shift),
      Home: () => 0,
      End: () => count - 1,
      n: () => nextMarked(1),
      p: () => nextMarked(-1),
      o: () => stepOutFrom(depths, currentStep),
    };
    return moves[key]?.();
  }

  return {
    /** Mark the steps of a finding's chain: cause and effect, and those between them for which there is room. */
    markChain(chainMarks: ChainMark[]) {
      if (chainHost.hidden && !chainMarks.length) return; // to ask for the width costs a layout
      chainHost.hidden = !chainMarks.length;
      chainHost.replaceChildren(
        ...(chainMarks.length ? findingChainElements(chainMarks, count, marksHost.clientWidth, goToMark) : []),
      );
    },
    setSteps(steps: Step[], options: SetStepsOptions = {}) {
      if (!options.isContinuation) pause();
      requestsMoreAtEnd = options.requestsMoreAtEnd ?? false;
      root.classList.toggle("hides-more", options.hidesMore ?? false);
      shownSteps = steps;
      count = steps.length;
      slider.max = String(Math.max(count - 1, 0));
      slider.disabled = !count;
      depths = callDepthByStep(steps);
      markedSteps = new Set(steps.flatMap((traceStep, i) => (timelineMarkOf(traceStep) ? [i] : [])));
      for (const name of ["first", "previous", "next", "last", "play"]) buttonNamed(name).disabled = !count;
      drawTimelineMarks(marksHost, steps);
    },
    show(i: number) {
      currentStep = i;
      slider.value = String(i);
      slider.setAttribute("aria-valuetext", describe(i));
      label.textContent = describe(i);
      slider.style.setProperty("--at", count > 1 ? String(i / (count - 1)) : "0");
    },
    /** Takes a key pressed outside of any field. Returns whether the timeline handled it. */
    key(key: string, shift = false): boolean {
      if (key === " ") toggle();
      else {
        const step = stepOfKey(key, shift);
        if (step === undefined) return false;
        pause();
        goTo(step);
      }
      return true;
    },
    /** Whether a key leads to another step. */
    canMove(key: string, shift = false) {
      const step = stepOfKey(key, shift);
      return step !== undefined && step !== currentStep && step >= 0 && (step < count || requestsMoreAtEnd);
    },
    toggle,
    isPlaying: () => timer !== 0,
    pause,
  };
}

/** `count` is the number of steps, `width` is in pixels. `onChosen` is called with the step of a mark. */
function findingChainElements(chainMarks: ChainMark[], count: number, width: number, onChosen: (step: number) => void) {
  const shareOf = ({ step }: { step: number }) => (count > 1 ? step / (count - 1) : 0);
  const cause = chainMarks.find(({ isCause }) => isCause) ?? chainMarks[0];
  const effect = chainMarks.at(-1);
  if (!cause || !effect) return [];
  const placedMarks: ChainMark[] = [];
  for (const mark of [cause, effect, ...chainMarks])
    if (!placedMarks.some((other) => Math.abs(shareOf(other) - shareOf(mark)) * width < CHAIN_MARK_WIDTH))
      placedMarks.push(mark);
  const wayElement = document.createElement("i");
  wayElement.className = chainMarks.some(({ isCause }) => isCause) ? "chain-way" : "chain-way parts";
  wayElement.style.setProperty("--from", String(Math.min(shareOf(cause), shareOf(effect))));
  wayElement.style.setProperty("--to", String(Math.max(shareOf(cause), shareOf(effect))));
  const icons = placedMarks.map((mark) => {
    const box = document.createElement("span");
    box.className = `chain-mark${mark.isCause ? " cause" : ""}`;
    box.dataset.step = String(mark.step);
    box.addEventListener("click", () => onChosen(mark.step));
    box.style.setProperty("--at", String(shareOf(mark)));
    box.append(roleIcon(mark.role));
    return box;
  });
  return [wayElement, ...icons];
}

function drawTimelineMarks(host: HTMLElement, steps: Step[]) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(steps.length - 1, 1)} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const iterationBands = document.createElementNS(SVG_NAMESPACE, "path");
  const oddIterations = outermostLoopIterations(steps).filter((iteration) => iteration.odd);
  iterationBands.setAttribute("class", "iterations");
  iterationBands.setAttribute(
    "d",
    oddIterations.map(({ from, to }) => `M${from - 0.5} 0h${to - from + 1}v10h${from - to - 1}z`).join(""),
  );
  svg.append(iterationBands);
  const paths: Record<string, string> = {};
  const depths = callDepthByStep(steps);
  const callDepthPath = depths
    .map((d, i) => (d && !steps[i].visit ? `M${i - 0.5} ${Math.max(0, 11 - d * 1.5)}h1` : ""))
    .join("");
  if (callDepthPath) paths.inside = callDepthPath;
  steps.forEach((traceStep, i) => {
    const kind = timelineMarkOf(traceStep);
    if (!kind) return;
    const [from, height] = TIMELINE_MARKS[kind].shape;
    paths[kind] = `${paths[kind] ?? ""}M${i} ${from}v${height}`;
  });
  for (const [kind, d] of Object.entries(paths)) {
    const path = document.createElementNS(SVG_NAMESPACE, "path");
    path.setAttribute("class", `mark-${kind}`);
    path.setAttribute("d", d);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  }
  host.replaceChildren(svg);
}
