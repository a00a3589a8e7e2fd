/** The card that a link is shown by elsewhere: title, as much of a picture as is readable, the line, its first sentence. */

import { h } from "../browser/svg.ts";
import { clipLines, wrapText, type Caption, type Picture } from "./svg_document.ts";

const CARD = { width: 1200, height: 630 };

/** What a picture is planned for: about as wide as high as the card's middle. */
export const CARD_ROOM = { w: 860, h: 330 };

const CARD_PADDING = 48;
const CARD_FOOT_HEIGHT = 128;
const MAX_SCALE = 1.7;
const MIN_SCALE = 0.62;
const TITLE_SIZE = 34;

/** @param className the class of the picture's own root */
export function preview(picture: Picture, className: string, title: string, { line, at, sentences }: Caption): Picture {
  const { width, height } = CARD;
  const textWidth = width - 2 * CARD_PADDING;
  const heading = clipLines(wrapText(title || line, textWidth, TITLE_SIZE * 0.93), 2);
  const top = CARD_PADDING + heading.length * (TITLE_SIZE + 8);
  const maxPictureHeight = height - CARD_FOOT_HEIGHT - top - 8;
  const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, textWidth / picture.width, maxPictureHeight / picture.height));
  const shownWidth = Math.min(picture.width, textWidth / scale);
  const shownHeight = Math.min(picture.height, maxPictureHeight / scale);
  const centering = scale * picture.width < textWidth ? (textWidth - scale * picture.width) / 2 : 0;
  const sentence = clipLines(wrapText(sentences[0]?.text ?? at, textWidth - 150, 17.5), 1);
  const isCut = picture.height * scale > maxPictureHeight + 1;
  return {
    width,
    height,
    nodes: [
      h("rect", { class: "paper", width, height }),
      h("rect", { class: "card-edge", width: 12, height }),
      ...heading.map((text, i) =>
        h(
          "text",
          { class: "card-title", x: CARD_PADDING, y: CARD_PADDING + TITLE_SIZE * 0.55 + i * (TITLE_SIZE + 8) },
          text,
        ),
      ),
      h(
        "svg",
        {
          x: CARD_PADDING + centering,
          y: top,
          width: shownWidth * scale,
          height: shownHeight * scale,
          viewBox: `0 0 ${shownWidth} ${shownHeight}`,
          class: className,
        },
        picture.nodes,
      ),
      ...(isCut ? fadeMarks(top + maxPictureHeight, textWidth) : []),
      h("path", {
        class: "paper-rule",
        d: `M${CARD_PADDING} ${height - CARD_FOOT_HEIGHT + 0.5}H${width - CARD_PADDING}`,
      }),
      h(
        "text",
        { class: "card-line", x: CARD_PADDING, y: height - CARD_FOOT_HEIGHT + 48 },
        clipLines(wrapText(line, textWidth, 22), 1)[0] ?? "",
      ),
      h(
        "text",
        { class: `card-note ${sentences[0]?.tone ?? ""}`, x: CARD_PADDING, y: height - CARD_FOOT_HEIGHT + 88 },
        sentence[0] ?? "",
      ),
      h("text", { class: "card-mark", x: width - CARD_PADDING, y: height - CARD_FOOT_HEIGHT + 88 }, "Gradbox"),
    ],
  };
}

/** The foot of a picture that goes on below. */
function fadeMarks(bottom: number, width: number) {
  const stops = [h("stop", { class: "card-clear", offset: 0 }), h("stop", { class: "card-full", offset: 1 })];
  return [
    h("defs", {}, h("linearGradient", { id: "card-fade", x1: 0, y1: 0, x2: 0, y2: 1 }, stops)),
    h("rect", { x: CARD_PADDING, y: bottom - 60, width, height: 60, fill: "url(#card-fade)" }),
  ];
}
