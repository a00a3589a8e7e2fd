/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import tokens from "../../css/tokens.css";
import { locale } from "../words/locale.ts";
import { listing } from "../marks/listing.ts";
import { loomPicture } from "../marks/loom.ts";
import { CARD_ROOM, preview } from "../marks/preview.ts";
import { stepPicture, type StillOptions } from "../marks/still.ts";
import { rowsPicture, thumbnailPicture } from "../marks/thumbnail.ts";
import { svgDocument, serialize, type Caption } from "../marks/svg_document.ts";
import { programMessages } from "../program/messages.ts";
import { pictureStyles } from "./styles.ts";
import { openTrace, type OpenTrace as Opened } from "../trace/state.ts";
import { outcomeSentence, loomLabels, sentences, stageLabels, openingStep, stepHeading } from "../captions/captions.ts";
import type { Trace } from "../trace/wire.ts";
import type { Say } from "../words/sentences.ts";

interface PictureOptions {
  theme: "light" | "dark";
  language: string;
  /** a higher picture is cut, and says so */
  tallest?: number;
}

/** A loom is no higher, or it could be neither drawn as a PNG nor read. */
const MAX_HEIGHT = 16000;

/** @param step null: the one to begin with */
export function pictureOf(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const { opened, i } = openTraceAt(trace, step);
  return stageDocument(new Set(), opened, i, { theme: "light", language: "en", ...options });
}

/** The whole run as at a step. */
export function loomOf(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const { opened, i } = openTraceAt(trace, step);
  return loomDocument(opened, i, { theme: "light", language: "en", ...options });
}

/** The card that a link to the step is shown by. */
export function cardOf(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
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

/** What the last statement did to memory, as small as a palette shows it. */
export function thumbnailOf(trace: Trace, title: string, options: Partial<PictureOptions> = {}): string {
  const styles = stylesheets({ theme: "light", language: "en", ...options });
  return serialize("stage-svg", thumbnailPicture(openTrace(trace)), title, "", styles);
}

/** A step's memory as a card of the gallery shows it. */
export function stillOf(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
  const styles = stylesheets({ theme: "light", language: "en", ...options });
  const { opened, i } = openTraceAt(trace, step);
  return serialize("stage-svg", rowsPicture(opened, i), title, "", styles);
}

/** A step, with the folds as the reader has them. @param toggled those opened or closed */
export function stageDocument(toggled: ReadonlySet<string>, opened: Opened, i: number, options: PictureOptions) {
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

export function loomDocument(opened: Opened, i: number, options: PictureOptions) {
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

/** The step, or the program's text where there is none. */
export function stagePicture(opened: Opened, i: number, say: Say, room: StillOptions) {
  if (opened.count) return stepPicture(opened, i, stageLabels(say), room);
  return listing(
    opened.trace.program.source,
    programMessages(opened.trace, say, () => {}).filter(({ kind }) => kind === "error"),
  );
}

function withNote(captionParts: Caption, text: string) {
  return { ...captionParts, sentences: [...captionParts.sentences, { text, tone: "cut" }] };
}

export function stylesheets({ theme, language }: PictureOptions) {
  return { css: pictureStyles, tokens, theme, language };
}

function openTraceAt(trace: Trace, step: number | null) {
  const opened = openTrace(trace);
  return { opened, i: Math.max(0, Math.min(step ?? openingStep(trace), opened.count - 1)) };
}

function caption(opened: Opened, i: number, say: Say) {
  if (!opened.count) return { at: say("no_steps"), line: "", sentences: [outcomeSentence(opened.trace, say)] };
  return { ...stepHeading(opened.trace, i, say), sentences: sentences(opened, i, say) };
}
