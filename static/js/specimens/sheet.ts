/** The page of specimens: every mark in every state, drawn from small traces by the same code as the stage. */

import { bundledLocale } from "../words/locale.ts";
import { stepPicture } from "../marks/still.ts";
import { openTrace } from "../trace/state.ts";
import { SPECIMENS_BY_MARK, type LocalizedName, type Specimen } from "./mark_specimens.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { captionSentences, stepHeading } from "../captions/captions.ts";
import { startThemeButton } from "../browser/theme.ts";

const SPECIMEN_PADDING = 14;
const SPECIMEN_SCALE = 0.84;
const { language, say } = bundledLocale(document.documentElement.lang);
/** A specimen brings its names along: the locales have none of them. */
const nameInLanguage = (name: LocalizedName) => name[language as keyof typeof name];
const sheetElement = document.getElementById("sheet") as HTMLElement;

function createElement<T extends keyof HTMLElementTagNameMap>(tag: T, text: string): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** The part of a step's picture that shows the mark. */
function drawSpecimen({ trace, step, find }: Specimen, figure: HTMLElement) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("class", "stage-svg");
  figure.prepend(svg);
  const opened = openTrace(trace);
  patchHost(document, svg, stepPicture(opened, step, {}).nodes);
  for (const element of svg.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  const matches = [...svg.querySelectorAll(find)];
  if (!matches.length) throw new Error(`nothing matches: ${find}`);
  const boxes = matches.map(boxOfElement);
  const x = Math.min(...boxes.map((box) => box.x)) - SPECIMEN_PADDING;
  const y = Math.min(...boxes.map((box) => box.y)) - SPECIMEN_PADDING;
  const w = Math.max(...boxes.map((box) => box.x + box.width)) + SPECIMEN_PADDING - x;
  const h = Math.max(...boxes.map((box) => box.y + box.height)) + SPECIMEN_PADDING - y;
  for (const element of svg.querySelectorAll(
    ":scope > :not(g, defs), :scope > g > :not(title), .moves > :not(title)",
  )) {
    const box = boxOfElement(element);
    const isInside = box.x >= x && box.y >= y && box.x + box.width <= x + w && box.y + box.height <= y + h;
    if (!isInside && !matches.some((match) => element.contains(match))) element.remove(); // a scrap of something else
  }
  svg.setAttribute("viewBox", [x, y, w, h].join(" "));
  svg.setAttribute("width", String(w * SPECIMEN_SCALE));
  svg.setAttribute("height", String(h * SPECIMEN_SCALE));
}

/** Where an element is in its picture, whatever groups have moved it. */
function boxOfElement(element: Element) {
  const graphics = element as SVGGraphicsElement;
  const { x, y, width, height } = graphics.getBBox();
  const { e = 0, f = 0 } = graphics.getCTM() ?? {};
  return { x: x + e, y: y + f, width, height };
}

for (const { mark, name, specimens } of SPECIMENS_BY_MARK) {
  const section = document.createElement("section");
  const list = document.createElement("div");
  list.className = "specimens";
  section.append(createElement("h2", nameInLanguage(name)), list);
  sheetElement.append(section);
  for (const specimen of specimens) {
    const { state, trace, step } = specimen;
    const figure = document.createElement("figure");
    figure.dataset.specimen = `${mark} ${state}`;
    const caption = document.createElement("figcaption");
    caption.append(
      createElement("strong", nameInLanguage(specimen.name)),
      createElement("code", stepHeading(trace, step, say).line),
    );
    const warning = captionSentences(openTrace(trace), step, say).find(({ tone }) => tone !== "plain");
    if (warning) caption.append(createElement("span", warning.text));
    figure.append(caption);
    list.append(figure);
    drawSpecimen(specimen, figure);
  }
}

startThemeButton(document.getElementById("theme") as HTMLElement);
