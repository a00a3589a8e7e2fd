/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import tokens from "../../css/base/tokens.css";
import { bundledLocale } from "../words/locale.ts";
import { programSourcePicture } from "../marks/listing.ts";
import { loomPicture } from "../marks/loom/loom.ts";
import { PREVIEW_PICTURE_ROOM, PREVIEW_RUN_ROOM, linkPreviewPicture } from "../marks/preview.ts";
import { stepPicture, type StepPictureOptions } from "../marks/still.ts";
import { snapshotPicture, thumbnailPicture } from "../marks/thumbnail.ts";
import { svgFileWithCaption, svgFileText, type Picture, type PictureCaption } from "../marks/svg_document.ts";
import { programMessages } from "../program/program_messages.ts";
import { pictureStyles } from "./styles.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import { moduleListPictureWithin, moduleListPicture } from "../nets/module_list_picture.ts";
import { shownRun, shownSentences, type ShownRun } from "./shown_run.ts";
import { landingStep } from "../trace/steps/landing.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import { outcomeSentence, loomLabels, stageLabels, stepHeading } from "../captions/captions.ts";
import type { Trace } from "../trace/wire.ts";
import type { Translate } from "../words/sentences.ts";

interface PictureOptions {
  theme: "light" | "dark";
  language: string;
  /** a higher picture is cut, and says so */
  tallest?: number;
}

const DEFAULT_OPTIONS: PictureOptions = { theme: "light", language: "en" };

/** A loom is no higher, or it could be neither drawn as a PNG nor read. */
const MAX_LOOM_HEIGHT = 16000;
/** What a list is laid out in, as on a desktop. */
const LIST_ROOM = { width: 960, height: 640 };
/** A list in a card of the gallery: rows at the left with their names, at two thirds of their size. */
const STILL_ROOM = { width: 440, height: 188 };

/** A null step is the one to begin with. */
export function stageSvg(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const opened = openTrace(trace);
  const drawing = { ...DEFAULT_OPTIONS, ...options };
  return runPictureSvg(opened, shownRun(opened, step, drawing.language), drawing);
}

/** The whole run as at a step. */
export function loomSvg(trace: Trace, step: number | null, options: Partial<PictureOptions> = {}): string {
  const opened = openTrace(trace);
  const drawing = { ...DEFAULT_OPTIONS, ...options };
  const shown = shownRun(opened, step, drawing.language);
  return pictureOfRun(opened) === "list"
    ? runPictureSvg(opened, { ...shown, view: "run" }, drawing)
    : loomSvgAsShown(opened, shown.i, drawing);
}

/** The card that a link to the step is shown by; null for the step at which its reader lands. */
export function linkCardSvg(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
  const opened = openTrace(trace);
  const styles = pictureStylesheets({ ...DEFAULT_OPTIONS, ...options });
  const landing = pictureOfRun(opened) === "stage" ? landingStep(opened) : null;
  const shown = shownRun(opened, step ?? landing, styles.language);
  const captionParts = pictureCaption(opened, shown, styles.language);
  const cardMarks = linkPreviewPicture(
    runPicture(opened, shown, styles.language, shown.view === "run" ? PREVIEW_RUN_ROOM : PREVIEW_PICTURE_ROOM),
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
  const styles = pictureStylesheets({ ...DEFAULT_OPTIONS, ...options });
  return svgFileText("stage-svg", thumbnailPicture(openTrace(trace)), title, "", styles);
}

/** A step as a card of the gallery shows it: its memory, or the rows of its list. */
export function galleryCardSvg(
  trace: Trace,
  step: number | null,
  title: string,
  options: Partial<PictureOptions> = {},
): string {
  const styles = pictureStylesheets({ ...DEFAULT_OPTIONS, ...options });
  const opened = openTrace(trace);
  const shown = shownRun(opened, step, styles.language);
  const picture =
    pictureOfRun(opened) === "list"
      ? moduleListPicture(opened, shown, { ...STILL_ROOM, most: STILL_ROOM.height }, styles.language)
      : snapshotPicture(opened, shown.i);
  return svgFileText("stage-svg", picture, title, "", styles);
}

/**
 * What the page shows of a run, with its caption. `toggled`: the folds of the stage that the reader opened or closed.
 */
export function runPictureSvg(
  opened: OpenTrace,
  shown: ShownRun,
  options: PictureOptions,
  toggled: ReadonlySet<string> = new Set(),
): string {
  const { say } = bundledLocale(options.language);
  const picture = runPicture(opened, shown, options.language, { h: options.tallest, toggled });
  const captionParts = pictureCaption(opened, shown, options.language);
  return svgFileWithCaption(
    "stage",
    picture,
    picture.cut ? withCaptionSentence(captionParts, say("cut_tall")) : captionParts,
    pictureStylesheets(options),
  );
}

/** The whole run by storage. */
export function loomSvgAsShown(opened: OpenTrace, i: number, options: PictureOptions) {
  const { say } = bundledLocale(options.language);
  const shown: ShownRun = { i, view: "step", chain: [], found: null, why: null };
  if (!opened.count) return runPictureSvg(opened, shown, options);
  const captionParts = pictureCaption(opened, shown, options.language);
  const picture = loomPicture(opened, i, loomLabels(say), { tallest: options.tallest ?? MAX_LOOM_HEIGHT });
  return svgFileWithCaption(
    "loom",
    picture,
    picture.cut ? withCaptionSentence(captionParts, say("cut_rows")) : captionParts,
    pictureStylesheets(options),
  );
}

/**
 * The picture that the page has of a run: the stage, or the list at a step or for the whole run; the program's text
 * where there is no step. `w` and `h` are the room that it is planned for.
 */
export function runPicture(
  opened: OpenTrace,
  shown: ShownRun,
  language: string,
  { w, h, toggled }: StepPictureOptions,
): Picture {
  if (!opened.count || pictureOfRun(opened) === "stage")
    return stageOrSourcePicture(opened, shown.i, bundledLocale(language).say, { w, h, toggled });
  // a file is as high as the list
  if (w === undefined || h === undefined) return moduleListPicture(opened, shown, { ...LIST_ROOM, most: h }, language);
  return moduleListPictureWithin(opened, shown, { width: w, height: h }, language);
}

/** The step on the stage, or the program's text where there is none. */
export function stageOrSourcePicture(opened: OpenTrace, i: number, say: Translate, room: StepPictureOptions) {
  if (opened.count) return stepPicture(opened, i, stageLabels(say), room);
  return programSourcePicture(
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

function pictureCaption(opened: OpenTrace, shown: ShownRun, language: string): PictureCaption {
  const { say } = bundledLocale(language);
  if (!opened.count) return { at: say("no_steps"), line: "", sentences: [outcomeSentence(opened.trace, say)] };
  const sentences = shownSentences(opened, shown, language);
  if (shown.view === "run") return { at: say("whole_run"), line: "", sentences };
  return { ...stepHeading(opened.trace, shown.i, say), sentences };
}
