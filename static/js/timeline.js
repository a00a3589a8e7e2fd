/** The timeline under the stage: a slider over the steps, marks where something happened, and playing. */

import { depths, out, over, turns } from "./course.js";
import { recall, remember } from "./remembered.js";

const SVG = "http://www.w3.org/2000/svg";
const PACE = 900;
const CALM = 1400;
const SPEEDS = [0.5, 1, 2, 4];
const SPEED = "gradbox-speed";

/** What a step is remembered for, the gravest first. @param {any} step @returns {string | null} */
export function mark(step) {
  const events = new Set(step.log.map((/** @type {any} */ entry) => entry.event));
  if (step.kind === "raise") return "raised";
  if (events.has("saved_stale") || events.has("saved_changed_silently") || events.has("saved_detached"))
    return "broken";
  if (step.kind === "visit") return "visit";
  if (events.has("written")) return "written";
  if (events.has("path_cut")) return "cut";
  if (step.skipped) return "unseen";
  return null;
}

/** The shape of each mark, drawn in a box of 1 by 10: shapes differ as well as colours. */
const SHAPES = { raised: [0, 10], broken: [0, 8], visit: [5, 5], written: [3, 7], cut: [6, 4], unseen: [9, 1] };

/**
 * @param {{root: HTMLElement, slider: HTMLInputElement, marks: HTMLElement, label: HTMLElement}} parts
 * @param {{go: (i: number) => void, describe: (i: number) => string, halts: (i: number) => boolean, calm: boolean}} how
 *   halts: whether the reader wants to stop there
 */
export function createTimeline({ root, slider, marks, label }, { go, describe, halts, calm }) {
  let count = 0;
  let at = 0;
  let timer = 0;
  let speed = SPEEDS.includes(Number(recall(SPEED))) ? Number(recall(SPEED)) : 1;
  /** @type {Set<number>} the steps that have a mark */
  let marked = new Set();
  /** @type {number[]} how deep in calls each step is */
  let deep = [];
  const button = (/** @type {string} */ name) =>
    /** @type {HTMLButtonElement} */ (root.querySelector(`[data-go="${name}"]`));
  const play = button("play");

  /** @param {number} i */
  function to(i) {
    go(Math.max(0, Math.min(i, count - 1)));
  }

  /** The next step, that way, that has a mark or where the reader wants to stop. @param {1 | -1} way */
  function telling(way) {
    for (let i = at + way; i >= 0 && i < count; i += way) if (marked.has(i) || halts(i)) return i;
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
    if (at >= count - 1) to(0);
    beat();
    play.dataset.playing = "true";
    play.setAttribute("aria-pressed", "true");
  }

  function beat() {
    clearInterval(timer);
    timer = window.setInterval(
      () => {
        if (at < count - 1) to(at + 1);
        if (at >= count - 1 || halts(at)) pause();
      },
      (calm ? CALM : PACE) / speed,
    );
  }

  const pace = button("speed");
  function tellPace() {
    pace.textContent = `${speed}×`;
    pace.setAttribute("aria-label", `${speed}×, ${pace.title}`);
  }
  /** @param {number} by */
  function quicken(by) {
    const next = SPEEDS.indexOf(speed) + by;
    speed = SPEEDS[by === 1 && next === SPEEDS.length ? 0 : Math.max(0, Math.min(next, SPEEDS.length - 1))];
    remember(SPEED, String(speed));
    tellPace();
    if (timer) beat();
  }
  tellPace();
  pace.addEventListener("click", () => quicken(1));

  slider.addEventListener("input", () => {
    pause();
    to(Number(slider.value));
  });
  for (const [name, move] of /** @type {[string, () => void][]} */ ([
    ["first", () => to(0)],
    ["previous", () => to(at - 1)],
    ["next", () => to(at + 1)],
    ["last", () => to(count - 1)],
  ]))
    button(name).addEventListener("click", () => {
      pause();
      move();
    });
  play.addEventListener("click", toggle);

  return {
    /** @param {any[]} steps */
    open(steps) {
      pause();
      count = steps.length;
      slider.max = String(Math.max(count - 1, 0));
      slider.disabled = !count;
      deep = depths(steps);
      marked = new Set(steps.flatMap((step, i) => (mark(step) ? [i] : [])));
      for (const name of ["first", "previous", "next", "last", "play"]) button(name).disabled = !count;
      draw(marks, steps);
    },
    /** @param {number} i */
    show(i) {
      at = i;
      slider.value = String(i);
      slider.setAttribute("aria-valuetext", describe(i));
      label.textContent = describe(i);
      root.style.setProperty("--at", count > 1 ? String(i / (count - 1)) : "0");
    },
    /** A key pressed outside of any field. @param {string} key @param {boolean} [shift] @returns {boolean} whether it was ours */
    key(key, shift = false) {
      if (key === " ") toggle();
      else {
        /** @type {Record<string, () => number>} */
        const moves = {
          ArrowRight: () => (shift ? over(deep, at, 1) : at + 1),
          ArrowLeft: () => (shift ? over(deep, at, -1) : at - 1),
          Home: () => 0,
          End: () => count - 1,
          n: () => telling(1),
          p: () => telling(-1),
          o: () => out(deep, at),
        };
        const step = moves[key]?.();
        if (step === undefined) return false;
        pause();
        to(step);
      }
      return true;
    },
    pause,
  };
}

/** @param {HTMLElement} host @param {any[]} steps */
function draw(host, steps) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(steps.length - 1, 1)} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const { from, to, odd } of turns(steps)) {
    const turn = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x: from - 0.5, width: to - from + 1, y: 0, height: 10 }))
      turn.setAttribute(name, String(value));
    turn.setAttribute("class", odd ? "turn odd" : "turn");
    svg.append(turn);
  }
  /** @type {Record<string, string>} */
  const paths = {};
  const deep = depths(steps);
  const inside = deep
    .map((d, i) => (d && !steps[i].visit ? `M${i - 0.5} ${Math.max(0, 11 - d * 1.5)}h1` : ""))
    .join("");
  if (inside) paths.inside = inside;
  steps.forEach((step, i) => {
    const kind = mark(step);
    if (!kind) return;
    const [from, height] = SHAPES[/** @type {keyof typeof SHAPES} */ (kind)];
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
