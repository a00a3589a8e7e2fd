/** The elements of the training axis, and what its reader does with them. */

import { createButton, createElement } from "../browser/elements.ts";
import { SVG_NAMESPACE } from "../browser/svg.ts";
import type { Locale } from "../words/sentences.ts";

type AxisControls = ReturnType<typeof axisControls>;

interface AxisMoves {
  drag: (event: PointerEvent) => void;
  dragInside: (event: PointerEvent) => void;
  /** by a key of the slider */
  move: (key: string) => void;
  chooseTyped: () => void;
  chooseRecorded: (direction: 1 | -1) => void;
  chooseNews: () => void;
  recordChosen: () => void;
  chooseSeries: (index: number) => void;
  resize: () => void;
}

const SLIDER_KEYS = ["ArrowRight", "ArrowLeft", "PageDown", "PageUp", "Home", "End"];
const NEWS_KEY = "r";
const ALT = /mac|iphone|ipad/i.test(globalThis.navigator?.userAgent ?? "") ? "⌥" : "Alt+";

/** Puts them into the host, in the place of what is there. */
export function axisControls(host: HTMLElement, say: Locale["say"]) {
  const slider = createElement("div", "round-slider");
  slider.tabIndex = 0;
  for (const [name, value] of Object.entries({ role: "slider", "aria-label": say("round_axis"), "aria-valuemin": "0" }))
    slider.setAttribute(name, value);
  const curve = hiddenDrawing("round-curves");
  slider.append(curve);
  const inside = hiddenDrawing("round-inside");

  const form = createElement("form", "round-chip");
  const count = createElement("span", "");
  const field = document.createElement("input");
  field.autocomplete = "off";
  field.spellcheck = false;
  const label = createElement("label", "");
  label.append(say("round_go"), " ", field);
  const previous = createButton("quiet", "‹", undefined, { label: `${say("round_previous")} (${ALT}←)` });
  const next = createButton("quiet", "›", undefined, { label: `${say("round_next")} (${ALT}→)` });
  const news = createButton("quiet", "");
  const choices = document.createElement("select");
  choices.setAttribute("aria-label", say("round_losses"));
  const again = createButton("quiet", say("round_record"));
  const status = createElement("output", "");
  const moves = createElement("span", "round-moves");
  moves.append(previous, next, news, choices);
  const told = createElement("p", "round-told");
  told.append(status, again);
  form.append(count, label, moves);
  host.replaceChildren(form, slider, inside, told);
  return { slider, curve, inside, form, count, field, previous, next, news, choices, status, again };
}

function hiddenDrawing(name: string) {
  const drawing = document.createElementNS(SVG_NAMESPACE, "svg");
  drawing.setAttribute("class", name);
  drawing.setAttribute("aria-hidden", "true");
  return drawing;
}

/** Whether a key that is pressed there is no shortcut. */
function isForTyping(target: EventTarget | null) {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=range]), textarea, select, [contenteditable=true], dialog") !== null
  );
}

export function listenToAxis(host: HTMLElement, controls: AxisControls, moves: AxisMoves) {
  const { slider, inside, form, field, choices } = controls;
  dragOn(slider, moves.drag);
  dragOn(inside, moves.dragInside);
  slider.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !SLIDER_KEYS.includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys go from step to step
    moves.move(event.key);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    moves.chooseTyped();
  });
  field.addEventListener("input", () => field.removeAttribute("aria-invalid"));
  controls.again.addEventListener("click", moves.recordChosen);
  controls.previous.addEventListener("click", () => moves.chooseRecorded(-1));
  controls.next.addEventListener("click", () => moves.chooseRecorded(1));
  controls.news.addEventListener("click", moves.chooseNews);
  choices.addEventListener("change", () => moves.chooseSeries(choices.selectedIndex));
  document.addEventListener("keydown", (event) => {
    if (host.hidden || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (isForTyping(event.target)) return;
    const isArrow = event.altKey && (event.key === "ArrowRight" || event.key === "ArrowLeft");
    if (isArrow) moves.chooseRecorded(event.key === "ArrowRight" ? 1 : -1);
    else if (!event.altKey && event.key === NEWS_KEY) moves.chooseNews();
    else return;
    event.preventDefault(); // the browser would go back to another page
  });
  new ResizeObserver(moves.resize).observe(slider);
  addEventListener("resize", moves.resize);
}

function dragOn(element: HTMLElement | SVGElement, onDrag: (event: PointerEvent) => void) {
  element.addEventListener("pointerdown", (event) => {
    if (!(event instanceof PointerEvent) || event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    onDrag(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (event instanceof PointerEvent && element.hasPointerCapture(event.pointerId)) onDrag(event);
  });
}
