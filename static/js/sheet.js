/** The sheet of marks: every mark in every state, drawn from small true traces by the same code as the stage. */

import { plan } from "./layout/plan.js";
import { locale } from "./locale.js";
import { whole } from "./marks/paper.js";
import { openTrace } from "./state.js";
import { STATES } from "./states.js";
import { patch, SVG } from "./svg.js";
import { sentences, where } from "./telling.js";
import { startTheme } from "./theme.js";

const AROUND = 14;
const SCALE = 0.84;
const { say } = locale(document.documentElement.lang);
const host = /** @type {HTMLElement} */ (document.getElementById("sheet"));

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {string} text @returns {HTMLElementTagNameMap[T]} */
function made(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** The part of a step's picture that shows the mark. @param {import("./states.js").Specimen} specimen @param {HTMLElement} figure */
function draw({ trace, step, find }, figure) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "stage-svg");
  figure.prepend(svg);
  const opened = openTrace(trace);
  patch(document, svg, whole(plan(opened), opened, step, {}).nodes);
  for (const element of svg.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  const sought = [...svg.querySelectorAll(find)];
  if (!sought.length) throw new Error(`nothing to look at: ${find}`);
  const boxes = sought.map((element) => /** @type {SVGGraphicsElement} */ (element).getBBox());
  const x = Math.min(...boxes.map((box) => box.x)) - AROUND;
  const y = Math.min(...boxes.map((box) => box.y)) - AROUND;
  const w = Math.max(...boxes.map((box) => box.x + box.width)) + AROUND - x;
  const h = Math.max(...boxes.map((box) => box.y + box.height)) + AROUND - y;
  for (const element of svg.querySelectorAll(":scope > :not(g, defs), :scope > g > *")) {
    const box = /** @type {SVGGraphicsElement} */ (element).getBBox();
    const inside = box.x >= x && box.y >= y && box.x + box.width <= x + w && box.y + box.height <= y + h;
    if (!inside && !sought.some((one) => element.contains(one))) element.remove(); // a scrap of something else
  }
  svg.setAttribute("viewBox", [x, y, w, h].join(" "));
  svg.setAttribute("width", String(w * SCALE));
  svg.setAttribute("height", String(h * SCALE));
}

for (const mark of new Set(STATES.map((one) => one.mark))) {
  const section = document.createElement("section");
  const list = document.createElement("div");
  list.className = "specimens";
  section.append(made("h2", say(`sheet_${mark}`)), list);
  host.append(section);
  for (const specimen of STATES.filter((one) => one.mark === mark)) {
    const { state, trace, step } = specimen;
    const figure = document.createElement("figure");
    figure.dataset.specimen = `${mark} ${state}`;
    const caption = document.createElement("figcaption");
    caption.append(made("strong", say(`sheet_${mark}_${state}`)), made("code", where(trace, step, say).line));
    const grave = sentences(openTrace(trace), step, say).find(({ tone }) => tone !== "plain");
    if (grave) caption.append(made("span", grave.text));
    figure.append(caption);
    list.append(figure);
    draw(specimen, figure);
  }
}

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));
