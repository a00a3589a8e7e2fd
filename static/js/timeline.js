/** The timeline: a slider over the steps, marks for the events of the run, playback, and the keys that step. */

import { roleIcon } from "./finding_icons.js";
import { callDepths, loopIterations, stepOut, stepOver } from "./stepping.js";
import { readPreference, writePreference } from "./preferences.js";
import { EVENTS } from "./registry.js";

/** @typedef {import("./trace.js").Step} Step */

const SVG = "http://www.w3.org/2000/svg";
const STEP_MS = 900;
const STEP_MS_REDUCED = 1400;
const SPEEDS = [0.5, 1, 2, 4];
const SPEED_KEY = "gradbox-speed";
/** Pixels around a mark that are its own. */
const MARK_REACH = 7;
/** Pixels that the mark of a finding needs. */
const CHAIN_MARK = 28;

/**
 * The marks, the gravest first; a step gets one, for its events or for its kind. shape: its top and its height in a box of
 * 1 by 10, for shapes differ as well as colours; its colour is the style of `.mark-NAME`.
 * @type {Record<string, {shape: [number, number], isOn?: (step: Step) => boolean}>}
 */
export const MARKS = {
  raised: { shape: [0, 10], isOn: (traceStep) => traceStep.kind === "raise" },
  broken: { shape: [0, 8] },
  visit: { shape: [5, 5], isOn: (traceStep) => traceStep.kind === "visit" },
  written: { shape: [3, 7] },
  cut: { shape: [6, 4] },
  unseen: { shape: [9, 1], isOn: (traceStep) => Boolean(traceStep.skipped) },
};

/** The name of a step's mark. @param {Step} traceStep @returns {string | null} */
export function stepMark(traceStep) {
  const marks = new Set(traceStep.log.map((entry) => (entry.kind === "event" ? EVENTS[entry.event]?.mark : null)));
  return Object.keys(MARKS).find((name) => marks.has(name) || MARKS[name].isOn?.(traceStep)) ?? null;
}

/**
 * The step of the gravest mark near a point of the timeline, of those the nearest; where there is none, the point's own step.
 * @param {Step[]} steps @param {number} share where the point is, from 0 to 1 @param {number} near how far a mark may be from it
 * @returns {number} -1 where there are no steps
 */
export function markedStep(steps, share, near) {
  const last = steps.length - 1;
  const at = share * last;
  const names = Object.keys(MARKS);
  let best = { step: Math.max(0, Math.min(Math.round(at), last)), rank: names.length };
  const reach = near * Math.max(last, 1);
  for (let i = Math.max(0, Math.ceil(at - reach)); i <= Math.min(last, at + reach); i++) {
    const name = stepMark(steps[i]);
    const rank = name ? names.indexOf(name) : names.length;
    if (rank < best.rank || (rank === best.rank && Math.abs(i - at) < Math.abs(best.step - at)))
      best = { step: i, rank };
  }
  return last < 0 ? -1 : best.step;
}

/**
 * @param {{root: HTMLElement, slider: HTMLInputElement, marks: HTMLElement, chain: HTMLElement, label: HTMLElement}} parts
 *   chain: where the open finding is marked
 * @param {{go: (i: number) => void, describe: (i: number) => string, stopsAt: (i: number) => boolean,
 *   causeOf: (i: number) => number | null, reducedMotion: boolean}} how
 *   stopsAt: whether a step is at a breakpoint. causeOf: the step that made a step raise, where that is known
 */
export function createTimeline(
  { root, slider, marks, chain, label },
  { go, describe, stopsAt, causeOf, reducedMotion },
) {
  let count = 0;
  let at = 0;
  let timer = 0;
  let speed = SPEEDS.includes(Number(readPreference(SPEED_KEY))) ? Number(readPreference(SPEED_KEY)) : 1;
  /** @type {Step[]} */
  let all = [];
  /** Going past the last step asks for those that are not shown. */
  let goesPast = false;
  /** @type {Set<number>} the steps that have a mark */
  let marked = new Set();
  /** @type {number[]} call depth of each step */
  let depths = [];
  const button = (/** @type {string} */ name) =>
    /** @type {HTMLButtonElement} */ (root.querySelector(`[data-go="${name}"]`));
  const play = button("play");

  /** @param {number} i */
  function goTo(i) {
    go(Math.max(0, Math.min(i, goesPast ? count : count - 1)));
  }

  /** The next step in that direction that has a mark or a breakpoint. @param {1 | -1} direction */
  function nextMarked(direction) {
    for (let i = at + direction; i >= 0 && i < count; i += direction) if (marked.has(i) || stopsAt(i)) return i;
    return at;
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
    if (at >= count - 1 && !goesPast) goTo(0);
    startTicking();
    play.dataset.playing = "true";
    play.setAttribute("aria-pressed", "true");
  }

  function startTicking() {
    clearInterval(timer);
    timer = window.setInterval(
      () => {
        const before = at;
        if (at < count - 1 || goesPast) goTo(at + 1);
        if (at === before || (at >= count - 1 && !goesPast) || stopsAt(at)) pause();
      },
      (reducedMotion ? STEP_MS_REDUCED : STEP_MS) / speed,
    );
  }

  const speedButton = button("speed");
  function showSpeed() {
    speedButton.textContent = `${speed}×`;
    speedButton.setAttribute("aria-label", `${speed}×, ${speedButton.title}`);
  }
  /** @param {number} by */
  function changeSpeed(by) {
    const next = SPEEDS.indexOf(speed) + by;
    speed = SPEEDS[by === 1 && next === SPEEDS.length ? 0 : Math.max(0, Math.min(next, SPEEDS.length - 1))];
    writePreference(SPEED_KEY, String(speed));
    showSpeed();
    if (timer) startTicking();
  }
  showSpeed();
  speedButton.addEventListener("click", () => changeSpeed(1));

  slider.addEventListener("input", () => {
    pause();
    goTo(Number(slider.value));
  });
  for (const [name, move] of /** @type {[string, () => void][]} */ ([
    ["first", () => goTo(0)],
    ["previous", () => goTo(at - 1)],
    ["next", () => goTo(at + 1)],
    ["last", () => goTo(count - 1)],
  ]))
    button(name).addEventListener("click", () => {
      pause();
      move();
    });
  play.addEventListener("click", toggle);
  marks.addEventListener("click", (event) => {
    const box = marks.getBoundingClientRect();
    const step = markedStep(all, (event.clientX - box.left) / box.width, MARK_REACH / box.width);
    if (step < 0) return;
    pause();
    const cause = causeOf(step);
    goTo(cause === null || cause === at ? step : cause); // once more, and it is the step itself
  });

  chain.addEventListener("click", (event) => {
    const mark = event.target instanceof Element ? event.target.closest("[data-step]") : null;
    if (!mark) return;
    pause();
    goTo(Number(mark.getAttribute("data-step")));
  });

  /** The step that a key leads to; undefined where it is no key of the timeline. @param {string} key @param {boolean} shift @returns {number | undefined} */
  function target(key, shift) {
    /** @type {Record<string, () => number>} */
    const moves = {
      ArrowRight: () => (shift && at < count - 1 ? stepOver(depths, at, 1) : at + 1),
      ArrowLeft: () => (shift ? stepOver(depths, at, -1) : at - 1),
      Home: () => 0,
      End: () => count - 1,
      n: () => nextMarked(1),
      p: () => nextMarked(-1),
      o: () => stepOut(depths, at),
    };
    return moves[key]?.();
  }

  return {
    /** Mark the steps of a finding's chain: cause and effect, and those between them for which there is room.
     * @param {import("./findings_card.js").ChainMark[]} chainMarks */
    markChain(chainMarks) {
      if (chain.hidden && !chainMarks.length) return; // to ask for the width costs a layout
      chain.hidden = !chainMarks.length;
      chain.replaceChildren(...(chainMarks.length ? chainElements(chainMarks, count, marks.clientWidth) : []));
    },
    /** @param {Step[]} steps @param {{hidesMore?: boolean, goesPast?: boolean, goesOn?: boolean}} [how] hidesMore: steps follow that are not shown;
     * goesPast: whoever steps past the last one asks for more; goesOn: the same run as before, with more steps */
    open(steps, how = {}) {
      if (!how.goesOn) pause();
      goesPast = how.goesPast ?? false;
      root.classList.toggle("hides-more", how.hidesMore ?? false);
      all = steps;
      count = steps.length;
      slider.max = String(Math.max(count - 1, 0));
      slider.disabled = !count;
      depths = callDepths(steps);
      marked = new Set(steps.flatMap((traceStep, i) => (stepMark(traceStep) ? [i] : [])));
      for (const name of ["first", "previous", "next", "last", "play"]) button(name).disabled = !count;
      draw(marks, steps);
    },
    /** @param {number} i */
    show(i) {
      at = i;
      slider.value = String(i);
      slider.setAttribute("aria-valuetext", describe(i));
      label.textContent = describe(i);
      slider.style.setProperty("--at", count > 1 ? String(i / (count - 1)) : "0");
    },
    /** A key pressed outside of any field. @param {string} key @param {boolean} [shift] @returns {boolean} whether the timeline handled it */
    key(key, shift = false) {
      if (key === " ") toggle();
      else {
        const step = target(key, shift);
        if (step === undefined) return false;
        pause();
        goTo(step);
      }
      return true;
    },
    /** Whether a key leads to another step. @param {string} key @param {boolean} [shift] */
    canMove(key, shift = false) {
      const step = target(key, shift);
      return step !== undefined && step !== at && step >= 0 && (step < count || goesPast);
    },
    toggle,
    isPlaying: () => timer !== 0,
    pause,
  };
}

/** @param {import("./findings_card.js").ChainMark[]} chainMarks @param {number} count of steps @param {number} width in pixels */
function chainElements(chainMarks, count, width) {
  const at = (/** @type {{step: number}} */ { step }) => (count > 1 ? step / (count - 1) : 0);
  const cause = chainMarks.find(({ isCause }) => isCause) ?? chainMarks[0];
  const effect = chainMarks.at(-1);
  if (!cause || !effect) return [];
  /** @type {import("./findings_card.js").ChainMark[]} */
  const placed = [];
  for (const mark of [cause, effect, ...chainMarks])
    if (!placed.some((other) => Math.abs(at(other) - at(mark)) * width < CHAIN_MARK)) placed.push(mark);
  const way = document.createElement("i");
  way.className = chainMarks.some(({ isCause }) => isCause) ? "chain-way" : "chain-way parts";
  way.style.setProperty("--from", String(Math.min(at(cause), at(effect))));
  way.style.setProperty("--to", String(Math.max(at(cause), at(effect))));
  const icons = placed.map((mark) => {
    const box = document.createElement("span");
    box.className = `chain-mark${mark.isCause ? " cause" : ""}`;
    box.dataset.step = String(mark.step);
    box.style.setProperty("--at", String(at(mark)));
    box.append(roleIcon(mark.role));
    return box;
  });
  return [way, ...icons];
}

/** @param {HTMLElement} host @param {Step[]} steps */
function draw(host, steps) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(steps.length - 1, 1)} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const bands = document.createElementNS(SVG, "path");
  const odd = loopIterations(steps).filter((iteration) => iteration.odd);
  bands.setAttribute("class", "iterations");
  bands.setAttribute("d", odd.map(({ from, to }) => `M${from - 0.5} 0h${to - from + 1}v10h${from - to - 1}z`).join(""));
  svg.append(bands);
  /** @type {Record<string, string>} */
  const paths = {};
  const depths = callDepths(steps);
  const inside = depths
    .map((d, i) => (d && !steps[i].visit ? `M${i - 0.5} ${Math.max(0, 11 - d * 1.5)}h1` : ""))
    .join("");
  if (inside) paths.inside = inside;
  steps.forEach((traceStep, i) => {
    const kind = stepMark(traceStep);
    if (!kind) return;
    const [from, height] = MARKS[kind].shape;
    paths[kind] = `${paths[kind] ?? ""}M${i} ${from}v${height}`;
  });
  for (const [kind, d] of Object.entries(paths)) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", `mark-${kind}`);
    path.setAttribute("d", d);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  }
  host.replaceChildren(svg);
}
