/**
 * A film of a run: the steps from the cause of its finding to where it shows, each as the stage draws it, and the
 * verdict at the end.
 */

import tokens from "../../css/base/tokens.css";
import filmStyles from "../../css/findings/film.css";
import { h, vnodeToSvg, type VNode } from "../browser/svg.ts";
import { SHAPES_BY_ROLE } from "../marks/finding_shapes.ts";
import { svgFileText, type Picture } from "../marks/svg_document.ts";
import { runPicture } from "../picture/picture.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import { shownRun, shownSentences, type ShownRun } from "../picture/shown_run.ts";
import { pictureStyles } from "../picture/styles.ts";
import { bundledLocale } from "../words/locale.ts";
import { shortLineName } from "../trace/program_files.ts";
import {
  clipSpans,
  richTextMarks,
  parseRichText,
  spanWidth,
  wrapSpans,
  plainText,
  type TextSpan,
} from "./rich_text.ts";
import { filmSteps, type FilmStep } from "./film_steps.ts";
import { findingPictureCss } from "./finding_svg.ts";
import { findingPicture, findingPictureSentences } from "./finding_picture.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";
import type { Verdict } from "./verdict.ts";

const FRAME = { width: 800, height: 450 };
const EDGE = 24;
const TOP = { baseline: 38, code: 17, role: 14 };
const TRACK = { y: FRAME.height - 22, left: 32, right: FRAME.width - 32 };
const MAX_PICTURE_SCALE = 1.5;
const MIN_PICTURE_SCALE = 0.6;
/** What a step's picture is planned for: it is drawn a little smaller. */
const PICTURE_ROOM = { w: 940, h: 350 };
/** Milliseconds for which a frame is shown. */
const SHOWN_MS = { way: 900, told: 1600, end: 3600 };

/** Bytes of a film, at most. */
const MAX_FILM_BYTES = 1_000_000;
/** Of them for its styles. */
const STYLES_BYTES = 60_000;

interface FilmOptions {
  theme: "light" | "dark";
  language: string;
}

/** What the film is of, in the words of both catalogues. */
export interface FilmSubject {
  opened: OpenTrace;
  /** null for a run without a finding */
  verdict: Verdict | null;
  title: string;
  language: string;
  /** of findings */
  sayFinding: Translate;
}

interface Frame {
  nodes: VNode[];
  ms: number;
  /** it may be left out where the film is too large */
  canGo: boolean;
  bytes: number;
}

/** One SVG that plays by its own styles, in an `img` too; where motion is not wanted it is its last picture. */
export function filmSvg(subject: FilmSubject, options: FilmOptions): string {
  const frames = framesOf(subject);
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let start = 0;
  const rules: string[] = [];
  const groups = frames.map(({ nodes, ms }, k) => {
    rules.push(keyframes(k, start / total, (start + ms) / total, total));
    start += ms;
    const isLast = k === frames.length - 1;
    return h(
      "g",
      { class: `film-frame film-${k}${isLast ? " film-last" : ""}` },
      k ? nodes.map(withoutPatterns) : nodes,
    );
  });
  const motion = h("style", {}, `@media (prefers-reduced-motion:no-preference){${rules.join("")}}`);
  return svgFileText(
    "card",
    { ...FRAME, nodes: [...groups, motion] },
    titleOf(subject),
    sentencesOf(subject),
    styles(options),
  );
}

/** Each frame as a file of its own, with the time for which it is shown. */
export function filmFrames(subject: FilmSubject, options: FilmOptions): { svg: string; ms: number }[] {
  return framesOf(subject).map(({ nodes, ms }) => ({
    svg: svgFileText("card", { ...FRAME, nodes }, titleOf(subject), "", styles(options)),
    ms,
  }));
}

function styles({ theme, language }: FilmOptions) {
  return { css: [pictureStyles, findingPictureCss, filmStyles].join(""), tokens, theme, language };
}

function titleOf({ verdict, title }: FilmSubject) {
  return verdict ? plainText(verdict.headline) : title;
}

function sentencesOf({ verdict }: FilmSubject) {
  return verdict ? findingPictureSentences(verdict) : "";
}

/** A frame's part of the whole time, in which it is seen. */
function keyframes(k: number, from: number, to: number, total: number) {
  const percent = (share: number) => `${Math.round(share * 10000) / 100}%`;
  const before = k ? `0%{visibility:hidden}${percent(from)}{visibility:visible}` : "0%{visibility:visible}";
  const after = to < 1 ? `${percent(to)}{visibility:hidden}100%{visibility:hidden}` : "100%{visibility:visible}";
  return `@keyframes film-${k}{${before}${after}}.film-${k}{animation:film-${k} ${total}ms step-end infinite}`;
}

/** A pattern is there once: all frames are one document. */
function withoutPatterns(node: VNode): VNode {
  return { ...node, children: node.children.filter(({ tag }) => tag !== "defs").map(withoutPatterns) };
}

function framesOf(subject: FilmSubject): Frame[] {
  const { opened, verdict, sayFinding, title, language } = subject;
  const steps = filmSteps(opened, verdict);
  const shown = shownRun(opened, null, language);
  const isOfWholeRun = !verdict && shown.view === "run";
  const count = steps.length + (verdict || isOfWholeRun ? 1 : 0);
  const frames = steps.map((step, k) => stepFrame(subject, step, k, count));
  if (verdict)
    frames.push(
      makeFrame(
        findingPicture(verdict, FRAME, { opened, title, say: sayFinding, language }).nodes,
        SHOWN_MS.end,
        false,
      ),
    );
  else if (isOfWholeRun) frames.push(wholeRunFrame(subject, shown, frames.length));
  else if (frames.length) frames[frames.length - 1].ms = SHOWN_MS.end;
  return withinSizeLimit(frames);
}

/** Without the largest of those that can be spared, then without their pictures. */
function withinSizeLimit(frames: Frame[]): Frame[] {
  let kept = frames;
  const bytes = () => kept.reduce((sum, frame) => sum + frame.bytes, STYLES_BYTES);
  while (bytes() > MAX_FILM_BYTES) {
    const spared = kept.filter(({ canGo }) => canGo);
    if (!spared.length) break;
    const largest = spared.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    kept = kept.filter((frame) => frame !== largest);
  }
  if (bytes() <= MAX_FILM_BYTES) return kept;
  return kept.map(({ nodes, ms, canGo }) =>
    makeFrame(
      nodes.filter(({ key }) => key !== "picture"),
      ms,
      canGo,
    ),
  );
}

function makeFrame(nodes: VNode[], ms: number, canGo: boolean): Frame {
  return { nodes, ms, canGo, bytes: nodes.reduce((sum, node) => sum + vnodeToSvg(node).length, 0) };
}

function stepFrame(subject: FilmSubject, step: FilmStep, k: number, count: number): Frame {
  const { opened, language, sayFinding } = subject;
  const traceStep = opened.trace.steps[step.i];
  const tone = step.isEffect ? "effect" : step.isCause ? "cause" : "context";
  const top = headMarks(step, sentenceOf(subject, step), tone);
  const room = pictureOfRun(opened) === "list" ? roomBelow(top.height) : PICTURE_ROOM;
  const picture = runPicture(opened, shownRunAt(subject, step), language, room);
  const at = sayFinding("verdict.frame", { i: step.i + 1, n: opened.count, line: shortLineName(traceStep.line) });
  const nodes = [
    h("rect", { class: "verdict-paper", ...FRAME }),
    ...top.nodes,
    fittedPicture(picture, top.height),
    ...trackMarks(k, count, at),
  ];
  const isTold = step.isCause || step.isEffect;
  return makeFrame(nodes, isTold ? SHOWN_MS.told : SHOWN_MS.way, !isTold);
}

function shownRunAt({ verdict }: FilmSubject, { i }: FilmStep): ShownRun {
  return { i, view: "step", chain: verdict?.list?.chain ?? [], found: null, why: null };
}

/** The end of a training without a finding, as its page opens. */
function wholeRunFrame({ opened, language }: FilmSubject, shown: ShownRun, k: number): Frame {
  const [{ text = "" } = {}] = shownSentences(opened, shown, language);
  const words = wrapSpans([{ text, code: false }], FRAME.width - 2 * EDGE - 120, TOP.code);
  const lines = clipSpans(words, 2, FRAME.width - 2 * EDGE - 120, TOP.code);
  const leading = TOP.code * 1.35;
  const top = 30 + lines.length * leading;
  const nodes = [
    h("rect", { class: "verdict-paper", ...FRAME }),
    ...richTextMarks(lines, { x: EDGE, y: TOP.baseline, size: TOP.code, leading, className: "verdict-role" }),
    wordmark(),
    fittedPicture(runPicture(opened, shown, language, roomBelow(top)), top),
    ...trackMarks(k, k + 1, bundledLocale(language).say("whole_run")),
  ];
  return makeFrame(nodes, SHOWN_MS.end, false);
}

function wordmark() {
  return h(
    "text",
    { class: "verdict-wordmark", x: FRAME.width - EDGE, y: TOP.baseline, "font-size": TOP.code },
    h("tspan", {}, "Grad"),
    h("tspan", { class: "verdict-wordmark-end" }, "box"),
  );
}

/** What the finding says of a step, else what the step did. */
function sentenceOf(subject: FilmSubject, step: FilmStep): string {
  return step.link?.text || shownSentences(subject.opened, shownRunAt(subject, step), subject.language)[0]?.text || "";
}

function headMarks(step: FilmStep, sentence: string, tone: string): { height: number; nodes: VNode[] } {
  const number = shortLineName(step.line);
  const numberWidth = spanWidth({ text: number, code: true }, TOP.code) + 14;
  const mark = spanWidth({ text: "Gradbox", code: false }, TOP.code, true) + 24;
  const room = FRAME.width - 2 * EDGE - numberWidth - mark - 16;
  const spans: TextSpan[] = [{ text: step.code || " ", code: true }];
  const code = clipSpans(wrapSpans(spans, room, TOP.code), 2, room, TOP.code);
  const leading = TOP.code * 1.35;
  const ground = code.length * leading + 16;
  const wordsTop = 14 + ground;
  const x = EDGE + numberWidth + 12;
  const wordsRoom = FRAME.width - EDGE - x - (step.link ? 34 : 0);
  const words = clipSpans(wrapSpans(parseRichText(sentence), wordsRoom, TOP.role), 2, wordsRoom, TOP.role);
  const nodes: VNode[] = [
    h("rect", {
      class: `verdict-ground ${tone}`,
      x: EDGE,
      y: 14,
      width: FRAME.width - 2 * EDGE - mark,
      height: ground,
    }),
    h("rect", { class: `verdict-bar ${tone}`, x: EDGE, y: 14, width: 4, height: ground }),
    h("text", { class: "verdict-number", x: EDGE + numberWidth, y: TOP.baseline, "font-size": TOP.code }, number),
    ...richTextMarks(code, { x, y: TOP.baseline, size: TOP.code, leading, className: "verdict-statement film" }),
    wordmark(),
    ...richTextMarks(words, {
      x: x + (step.link ? 34 : 0),
      y: wordsTop + 20,
      size: TOP.role,
      leading: TOP.role * 1.35,
      className: "verdict-role",
    }),
  ];
  if (step.link)
    nodes.push(
      h(
        "g",
        { transform: `translate(${x} ${wordsTop + 7})` },
        SHAPES_BY_ROLE[step.link.role].map(([tag, attributes]) => h(tag, attributes)),
      ),
    );
  return { height: wordsTop + 10 + Math.max(1, words.length) * TOP.role * 1.35 + 8, nodes };
}

/** What is left of the frame: a list fills it at its own size. */
function roomBelow(top: number) {
  return { w: FRAME.width - 2 * EDGE, h: TRACK.y - 18 - top };
}

/** A step's picture in what is left of the frame; of a larger one as much as can be read. */
function fittedPicture({ width, height, nodes }: Picture, top: number): VNode {
  const room = roomBelow(top);
  const scale = Math.max(MIN_PICTURE_SCALE, Math.min(MAX_PICTURE_SCALE, room.w / width, room.h / height));
  const shown = { w: Math.min(width, room.w / scale), h: Math.min(height, room.h / scale) };
  const x = EDGE + Math.max(0, (room.w - shown.w * scale) / 2);
  return h(
    "svg",
    {
      key: "picture",
      class: "stage-svg",
      x,
      y: top,
      width: shown.w * scale,
      height: shown.h * scale,
      viewBox: `0 0 ${Math.ceil(shown.w)} ${Math.ceil(shown.h)}`,
    },
    nodes,
  );
}

/** Where the film is. */
function trackMarks(k: number, count: number, at: string): VNode[] {
  const size = 12;
  const words = spanWidth({ text: at, code: false }, size);
  const right = TRACK.right - words - 20;
  const gap = count > 1 ? Math.min(34, (right - TRACK.left) / (count - 1)) : 0;
  const dots = Array.from({ length: count }, (_, i) =>
    h("circle", {
      class: i <= k ? "film-dot on" : "film-dot",
      cx: TRACK.left + i * gap,
      cy: TRACK.y,
      r: i === k ? 6 : 4,
    }),
  );
  return [
    h("path", { class: "film-track", d: `M${TRACK.left} ${TRACK.y}H${TRACK.left + (count - 1) * gap}` }),
    ...dots,
    h("text", { class: "verdict-title end", x: TRACK.right, y: TRACK.y + 4, "font-size": size }, at),
  ];
}
