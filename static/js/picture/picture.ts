/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import tokens from "../../css/base/tokens.css";
import { locale } from "../words/locale.ts";
import { programListingPicture } from "../marks/listing.ts";
import { loomPicture } from "../marks/loom/loom.ts";
import { PREVIEW_PICTURE_ROOM, linkPreviewPicture } from "../marks/preview.ts";
import { stepPicture, type StepPictureOptions } from "../marks/still.ts";
import { snapshotPicture, thumbnailPicture } from "../marks/thumbnail.ts";
import { svgFileWithCaption, svgFileText, type PictureCaption } from "../marks/svg_document.ts";
import { programMessages } from "../program/messages.ts";
import { pictureStyles } from "./styles.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import { outcomeSentence, loomLabels, captionSentences, stageLabels, stepHeading } from "../captions/captions.ts";
import { openingStep } from "../trace/steps/landing.ts";
import type { Trace } from "../trace/wire.ts";
import type { Say } from "../words/sentences.ts";

interface PictureOptions {
  theme: "light" | "dark";
  language: string;
  /** a higher picture is cut, and says so */
  tallest?: number;
}

/** A loom is no higher, or it could be neither drawn as a PNG nor read. */
const MAX_LOOM_HEIGHT = 16000;

/** A null step is the one to begin with. */
export function stageSvg(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const { opened, i } = openTraceAtStep(trace, step);
  return stageSvgAsShown(new Set(), opened, i, { theme: "light", language: "en", ...options });
}

/** The whole run as at a step. */
export function loomSvg(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const { opened, i } = openTraceAtStep(trace, step);
  return loomSvgAsShown(opened, i, { theme: "light", language: "en", ...options });
}

/** The card that a link to the step is shown by. */
export function linkCardSvg(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
  const { opened, i } = openTraceAtStep(trace, step);
  const styles = pictureStylesheets({ theme: "light", language: "en", ...options });
  const { say } = locale(styles.language);
  const captionParts = pictureCaption(opened, i, say);
  const cardMarks = linkPreviewPicture(
    stageOrListingPicture(opened, i, say, PREVIEW_PICTURE_ROOM),
    "stage-svg",
    title,
    captionParts,
  );
  return svgFileText(
    "card",
    cardMarks,
    title || captionParts.line,
    captionParts.sentences.map(({ text }) => text).join(" "),
    styles,
  );
}

/** What the last statement did to memory, as small as a palette shows it. */
export function thumbnailSvg(trace: Trace, title: string, options: Partial<PictureOptions> = {}): string {
  const styles = pictureStylesheets({ theme: "light", language: "en", ...options });
  return svgFileText("stage-svg", thumbnailPicture(openTrace(trace)), title, "", styles);
}

/** A step's memory as a card of the gallery shows it. */
export function galleryCardSvg(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
  const styles = pictureStylesheets({ theme: "light", language: "en", ...options });
  const { opened, i } = openTraceAtStep(trace, step);
  return svgFileText("stage-svg", snapshotPicture(opened, i), title, "", styles);
}

/** A step, with the folds as the reader has them: `toggled` are those that he opened or closed. */
export function stageSvgAsShown(toggled: ReadonlySet<string>, opened: OpenTrace, i: number, options: PictureOptions) {
  const { say } = locale(options.language);
  const picture = stageOrListingPicture(opened, i, say, { h: options.tallest, toggled });
  const captionParts = pictureCaption(opened, i, say);
  return svgFileWithCaption(
    "stage",
    picture,
    picture.cut ? withCaptionSentence(captionParts, say("cut_tall")) : captionParts,
    pictureStylesheets(options),
  );
}

export function loomSvgAsShown(opened: OpenTrace, i: number, options: PictureOptions) {
  const { say } = locale(options.language);
  if (!opened.count) return stageSvgAsShown(new Set(), opened, i, options);
  const captionParts = pictureCaption(opened, i, say);
  const picture = loomPicture(opened, i, loomLabels(say), { tallest: options.tallest ?? MAX_LOOM_HEIGHT });
  return svgFileWithCaption(
    "loom",
    picture,
    picture.cut ? withCaptionSentence(captionParts, say("cut_rows")) : captionParts,
    pictureStylesheets(options),
  );
}

/** The step, or the program's text where there is none. */
export function stageOrListingPicture(opened: OpenTrace, i: number, say: Say, room: StepPictureOptions) {
  if (opened.count) return stepPicture(opened, i, stageLabels(say), room);
  return programListingPicture(
    opened.trace.program.source,
    programMessages(opened.trace, say, () => {}).filter(({ kind }) => kind === "error"),
  );
}

function withCaptionSentence(captionParts: PictureCaption, text: string) {
  return { ...captionParts, sentences: [...captionParts.sentences, { text, tone: "cut" }] };
}

export function pictureStylesheets({ theme, language }: PictureOptions) {
  return { css: pictureStyles, tokens, theme, language };
}

function openTraceAtStep(trace: Trace, step: number | null) {
  const opened = openTrace(trace);
  return { opened, i: Math.max(0, Math.min(step ?? openingStep(opened), opened.count - 1)) };
}

function pictureCaption(opened: OpenTrace, i: number, say: Say) {
  if (!opened.count) return { at: say("no_steps"), line: "", sentences: [outcomeSentence(opened.trace, say)] };
  return { ...stepHeading(opened.trace, i, say), sentences: captionSentences(opened, i, say) };
}
