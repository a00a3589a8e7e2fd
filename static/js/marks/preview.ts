/**
 * The card that a link is shown by elsewhere: title, as much of a picture as is readable, the line, its first sentence.
 */

import { h } from "../browser/svg.ts";
import { pathMark, textMark } from "../browser/shapes.ts";
import { clipLines, wrapText, type PictureCaption, type Picture } from "./svg_document.ts";

const PREVIEW_CARD_SIZE = { width: 1200, height: 630 };

/** What a picture is planned for: about as wide as high as the card's middle. */
export const PREVIEW_PICTURE_ROOM = { w: 860, h: 330 };

/** The same for a whole run, whose columns need the width. */
export const PREVIEW_RUN_ROOM = { w: 1104, h: 404 };

const PREVIEW_CARD_PADDING = 48;
const PREVIEW_CARD_FOOT_HEIGHT = 128;
const MAX_PREVIEW_SCALE = 1.7;
const MIN_PREVIEW_SCALE = 0.62;
const PREVIEW_TITLE_FONT_SIZE = 34;

/** `className` is the class of the picture's own root. */
export function linkPreviewPicture(
  picture: Picture,
  className: string,
  title: string,
  { line, at, sentences }: PictureCaption,
): Picture {
  const { width, height } = PREVIEW_CARD_SIZE;
  const textWidth = width - 2 * PREVIEW_CARD_PADDING;
  const heading = clipLines(wrapText(title || line, textWidth, PREVIEW_TITLE_FONT_SIZE * 0.93), 2);
  const top = PREVIEW_CARD_PADDING + heading.length * (PREVIEW_TITLE_FONT_SIZE + 8);
  const maxPictureHeight = height - PREVIEW_CARD_FOOT_HEIGHT - top - 8;
  const scale = Math.max(
    MIN_PREVIEW_SCALE,
    Math.min(MAX_PREVIEW_SCALE, textWidth / picture.width, maxPictureHeight / picture.height),
  );
  const shownWidth = Math.min(picture.width, textWidth / scale);
  const shownHeight = Math.min(picture.height, maxPictureHeight / scale);
  const centering = scale * picture.width < textWidth ? (textWidth - scale * picture.width) / 2 : 0;
  const said = line ? sentences : sentences.slice(1);
  const sentence = clipLines(wrapText(said[0]?.text ?? (line ? at : ""), textWidth - 150, 17.5), 1);
  const first = line || (sentences[0]?.text ?? "");
  const isCut = picture.height * scale > maxPictureHeight + 1;
  return {
    width,
    height,
    nodes: [
      h("rect", { class: "paper", width, height }),
      h("rect", { class: "card-edge", width: 12, height }),
      ...heading.map((text, i) =>
        textMark(
          "card-title",
          PREVIEW_CARD_PADDING,
          PREVIEW_CARD_PADDING + PREVIEW_TITLE_FONT_SIZE * 0.55 + i * (PREVIEW_TITLE_FONT_SIZE + 8),
          text,
        ),
      ),
      h(
        "svg",
        {
          x: PREVIEW_CARD_PADDING + centering,
          y: top,
          width: shownWidth * scale,
          height: shownHeight * scale,
          viewBox: `0 0 ${shownWidth} ${shownHeight}`,
          class: className,
        },
        picture.nodes,
      ),
      ...(isCut ? bottomFadeMarks(top + maxPictureHeight, textWidth) : []),
      pathMark(
        "paper-rule",
        `M${PREVIEW_CARD_PADDING} ${height - PREVIEW_CARD_FOOT_HEIGHT + 0.5}H${width - PREVIEW_CARD_PADDING}`,
      ),
      textMark(
        line ? "card-line" : "card-said",
        PREVIEW_CARD_PADDING,
        height - PREVIEW_CARD_FOOT_HEIGHT + 48,
        clipLines(wrapText(first, textWidth, 22), 1)[0] ?? "",
      ),
      textMark(
        `card-note ${said[0]?.tone ?? ""}`,
        PREVIEW_CARD_PADDING,
        height - PREVIEW_CARD_FOOT_HEIGHT + 88,
        sentence[0] ?? "",
      ),
      textMark("card-mark", width - PREVIEW_CARD_PADDING, height - PREVIEW_CARD_FOOT_HEIGHT + 88, "Gradbox"),
    ],
  };
}

/** The foot of a picture that goes on below. */
function bottomFadeMarks(bottom: number, width: number) {
  const stops = [h("stop", { class: "card-clear", offset: 0 }), h("stop", { class: "card-full", offset: 1 })];
  return [
    h("defs", {}, h("linearGradient", { id: "card-fade", x1: 0, y1: 0, x2: 0, y2: 1 }, stops)),
    h("rect", { x: PREVIEW_CARD_PADDING, y: bottom - 60, width, height: 60, fill: "url(#card-fade)" }),
  ];
}
