/** The page of specimens: every mark in every state, drawn from small traces by the same code as the stage. */

import { locale } from "../words/locale.js";
import { stepPicture } from "../marks/still.js";
import { openTrace } from "../trace/state.js";
import { SPECIMENS } from "./mark_specimens.js";
import { patch, SVG } from "../browser/svg.js";
import { sentences, stepHeading } from "../captions/captions.js";
import { startTheme } from "../browser/theme.js";

const PADDING = 14;
const SCALE = 0.84;
const { language, say } = locale(document.documentElement.lang);
/** A specimen brings its names along: the locales have none of them. @param {import("./mark_specimens.js").Name} name */
const nameInLanguage = (name) => name[/** @type {keyof typeof name} */ (language)];
const host = /** @type {HTMLElement} */ (document.getElementById("sheet"));

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {string} text @returns {HTMLElementTagNameMap[T]} */
function createElement(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** The part of a step's picture that shows the mark. @param {import("./mark_specimens.js").Specimen} specimen @param {HTMLElement} figure */
function drawSpecimen({ trace, step, find }, figure) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "stage-svg");
  figure.prepend(svg);
  const opened = openTrace(trace);
  patch(document, svg, stepPicture(opened, step, {}).nodes);
  for (const element of svg.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  const matches = [...svg.querySelectorAll(find)];
  if (!matches.length) throw new Error(`nothing matches: ${find}`);
  const boxes = matches.map(boxOf);
  const x = Math.min(...boxes.map((box) => box.x)) - PADDING;
  const y = Math.min(...boxes.map((box) => box.y)) - PADDING;
  const w = Math.max(...boxes.map((box) => box.x + box.width)) + PADDING - x;
  const h = Math.max(...boxes.map((box) => box.y + box.height)) + PADDING - y;
  for (const element of svg.querySelectorAll(
    ":scope > :not(g, defs), :scope > g > :not(title), .moves > :not(title)",
  )) {
    const box = boxOf(element);
    const isInside = box.x >= x && box.y >= y && box.x + box.width <= x + w && box.y + box.height <= y + h;
    if (!isInside && !matches.some((match) => element.contains(match))) element.remove(); // a scrap of something else
  }
  svg.setAttribute("viewBox", [x, y, w, h].join(" "));
  svg.setAttribute("width", String(w * SCALE));
  svg.setAttribute("height", String(h * SCALE));
}

/** Where an element is in its picture, whatever groups have moved it. @param {Element} element */
function boxOf(element) {
  const graphics = /** @type {SVGGraphicsElement} */ (element);
  const { x, y, width, height } = graphics.getBBox();
  const { e = 0, f = 0 } = graphics.getCTM() ?? {};
  return { x: x + e, y: y + f, width, height };
}

for (const { mark, name, specimens } of SPECIMENS) {
  const section = document.createElement("section");
  const list = document.createElement("div");
  list.className = "specimens";
  section.append(createElement("h2", nameInLanguage(name)), list);
  host.append(section);
  for (const specimen of specimens) {
    const { state, trace, step } = specimen;
    const figure = document.createElement("figure");
    figure.dataset.specimen = `${mark} ${state}`;
    const caption = document.createElement("figcaption");
    caption.append(
      createElement("strong", nameInLanguage(specimen.name)),
      createElement("code", stepHeading(trace, step, say).line),
    );
    const warning = sentences(openTrace(trace), step, say).find(({ tone }) => tone !== "plain");
    if (warning) caption.append(createElement("span", warning.text));
    figure.append(caption);
    list.append(figure);
    drawSpecimen(specimen, figure);
  }
}

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));
