/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import tokens from "../../css/tokens.css";
import { locale } from "../words/locale.js";
import { listing } from "../marks/listing.js";
import { loomPicture } from "../marks/loom.js";
import { CARD_ROOM, preview } from "../marks/preview.js";
import { stepPicture } from "../marks/still.js";
import { rowsPicture, thumbnailPicture } from "../marks/thumbnail.js";
import { svgDocument, serialize } from "../marks/svg_document.js";
import { messages } from "../program/messages.js";
import { pictureStyles } from "./styles.js";
import { openTrace } from "../trace/state.js";
import { outcomeSentence, loomLabels, sentences, stageLabels, openingStep, stepHeading } from "../captions/captions.js";

/** @typedef {{theme: "light" | "dark", language: string, tallest?: number}} PictureOptions   tallest: a higher picture is cut, and says so */
/** @typedef {import("../trace/state.js").OpenTrace} Opened */

/** A loom is no higher, or it could be neither drawn as a PNG nor read. */
const MAX_HEIGHT = 16000;

/**
 * @param {any} trace @param {number | null} step null: the one to begin with
 * @param {Partial<PictureOptions>} [options]
 * @returns {string}
 */
export function pictureOf(trace, step, options = {}) {
  const { opened, i } = openTraceAt(trace, step);
  return stageDocument(new Set(), opened, i, { theme: "light", language: "en", ...options });
}

/** The whole run as at a step. @param {any} trace @param {number | null} step @param {Partial<PictureOptions>} [options] @returns {string} */
export function loomOf(trace, step, options = {}) {
  const { opened, i } = openTraceAt(trace, step);
  return loomDocument(opened, i, { theme: "light", language: "en", ...options });
}

/** The card that a link to the step is shown by. @param {any} trace @param {number | null} step @param {string} title
 * @param {Partial<PictureOptions>} [options] @returns {string} */
export function cardOf(trace, step, title, options = {}) {
  const { opened, i } = openTraceAt(trace, step);
  const styles = stylesheets({ theme: "light", language: "en", ...options });
  const { say } = locale(styles.language);
  const captionParts = caption(opened, i, say);
  const cardMarks = preview(stagePicture(opened, i, say, CARD_ROOM), "stage-svg", title, captionParts);
  return serialize(
    "card",
    cardMarks,
    title || captionParts.line,
    captionParts.sentences.map(({ text }) => text).join(" "),
    styles,
  );
}

/** What the last statement did to memory, as small as a palette shows it. @param {any} trace @param {string} title
 * @param {Partial<PictureOptions>} [options] @returns {string} */
export function thumbnailOf(trace, title, options = {}) {
  const styles = stylesheets({ theme: "light", language: "en", ...options });
  return serialize("stage-svg", thumbnailPicture(openTrace(trace)), title, "", styles);
}

/** A step's memory as a card of the gallery shows it. @param {any} trace @param {number | null} step @param {string} title
 * @param {Partial<PictureOptions>} [options] @returns {string} */
export function stillOf(trace, step, title, options = {}) {
  const styles = stylesheets({ theme: "light", language: "en", ...options });
  const { opened, i } = openTraceAt(trace, step);
  return serialize("stage-svg", rowsPicture(opened, i), title, "", styles);
}

/** A step, with the folds as the reader has them. @param {ReadonlySet<string>} toggled those opened or closed
 * @param {Opened} opened @param {number} i @param {PictureOptions} options */
export function stageDocument(toggled, opened, i, options) {
  const { say } = locale(options.language);
  const picture = stagePicture(opened, i, say, { h: options.tallest, toggled });
  const captionParts = caption(opened, i, say);
  return svgDocument(
    "stage",
    picture,
    picture.cut ? withNote(captionParts, say("cut_tall")) : captionParts,
    stylesheets(options),
  );
}

/** @param {Opened} opened @param {number} i @param {PictureOptions} options */
export function loomDocument(opened, i, options) {
  const { say } = locale(options.language);
  if (!opened.count) return stageDocument(new Set(), opened, i, options);
  const captionParts = caption(opened, i, say);
  const picture = loomPicture(opened, i, loomLabels(say), { tallest: options.tallest ?? MAX_HEIGHT });
  return svgDocument(
    "loom",
    picture,
    picture.cut ? withNote(captionParts, say("cut_rows")) : captionParts,
    stylesheets(options),
  );
}

/** The step, or the program's text where there is none. @param {Opened} opened @param {number} i
 * @param {import("../captions/captions.js").Say} say @param {import("../marks/still.js").StillOptions} room */
export function stagePicture(opened, i, say, room) {
  if (opened.count) return stepPicture(opened, i, stageLabels(say), room);
  return listing(
    opened.trace.program.source,
    messages(opened.trace, say, () => {}).filter(({ kind }) => kind === "error"),
  );
}

/** @param {import("../marks/svg_document.js").Caption} captionParts @param {string} text */
function withNote(captionParts, text) {
  return { ...captionParts, sentences: [...captionParts.sentences, { text, tone: "cut" }] };
}

/** @param {PictureOptions} options */
export function stylesheets({ theme, language }) {
  return { css: pictureStyles, tokens, theme, language };
}

/** @param {any} trace @param {number | null} step */
function openTraceAt(trace, step) {
  const opened = openTrace(trace);
  return { opened, i: Math.max(0, Math.min(step ?? openingStep(trace), opened.count - 1)) };
}

/** @param {Opened} opened @param {number} i @param {import("../captions/captions.js").Say} say */
function caption(opened, i, say) {
  if (!opened.count) return { at: say("no_steps"), line: "", sentences: [outcomeSentence(opened.trace, say)] };
  return { ...stepHeading(opened.trace, i, say), sentences: sentences(opened, i, say) };
}
