/** The card that a link is shown by elsewhere: title, as much of a picture as is readable, the line, its first sentence. */

import { h } from "../svg.js";
import { clipLines, wrapText } from "./svg_document.js";

export const CARD = { width: 1200, height: 630 };

/** What a picture is planned for: about as wide as high as the card's middle. */
export const CARD_ROOM = { w: 860, h: 330 };

const EDGE = 48;
const FOOT = 128;
const LARGEST = 1.7;
const SMALLEST = 0.62;
const TITLE = 34;

/**
 * @param {import("./svg_document.js").Picture} picture @param {string} className the class of the picture's own root
 * @param {string} title @param {import("./svg_document.js").Caption} caption
 * @returns {import("./svg_document.js").Picture}
 */
export function preview(picture, className, title, { line, at, sentences }) {
  const { width, height } = CARD;
  const room = width - 2 * EDGE;
  const heading = clipLines(wrapText(title || line, room, TITLE * 0.93), 2);
  const top = EDGE + heading.length * (TITLE + 8);
  const tall = height - FOOT - top - 8;
  const k = Math.max(SMALLEST, Math.min(LARGEST, room / picture.width, tall / picture.height));
  const w = Math.min(picture.width, room / k);
  const t = Math.min(picture.height, tall / k);
  const across = k * picture.width < room ? (room - k * picture.width) / 2 : 0;
  const sentence = clipLines(wrapText(sentences[0]?.text ?? at, room - 150, 17.5), 1);
  const faded = picture.height * k > tall + 1;
  return {
    width,
    height,
    nodes: [
      h("rect", { class: "paper", width, height }),
      h("rect", { class: "card-edge", width: 12, height }),
      ...heading.map((text, i) =>
        h("text", { class: "card-title", x: EDGE, y: EDGE + TITLE * 0.55 + i * (TITLE + 8) }, text),
      ),
      h(
        "svg",
        { x: EDGE + across, y: top, width: w * k, height: t * k, viewBox: `0 0 ${w} ${t}`, class: className },
        picture.nodes,
      ),
      ...(faded ? fadeMarks(top + tall, room) : []),
      h("path", { class: "paper-rule", d: `M${EDGE} ${height - FOOT + 0.5}H${width - EDGE}` }),
      h(
        "text",
        { class: "card-line", x: EDGE, y: height - FOOT + 48 },
        clipLines(wrapText(line, room, 22), 1)[0] ?? "",
      ),
      h("text", { class: `card-note ${sentences[0]?.tone ?? ""}`, x: EDGE, y: height - FOOT + 88 }, sentence[0] ?? ""),
      h("text", { class: "card-mark", x: width - EDGE, y: height - FOOT + 88 }, "Gradbox"),
    ],
  };
}

/** The foot of a picture that goes on below. @param {number} bottom @param {number} width */
function fadeMarks(bottom, width) {
  const stops = [h("stop", { class: "card-clear", offset: 0 }), h("stop", { class: "card-full", offset: 1 })];
  return [
    h("defs", {}, h("linearGradient", { id: "card-fade", x1: 0, y1: 0, x2: 0, y2: 1 }, stops)),
    h("rect", { x: EDGE, y: bottom - 60, width, height: 60, fill: "url(#card-fade)" }),
  ];
}
