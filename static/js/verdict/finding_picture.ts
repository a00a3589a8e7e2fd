/**
 * A verdict as a picture of a given size: headline, the two lines, the rows; for a card, a frame in a page, a film's
 * end.
 */

import { h, type VNode } from "../browser/svg.ts";
import { SHAPES_BY_SEVERITY } from "../marks/finding_shapes.ts";
import {
  clipSpans,
  fitSpans,
  lineWidth,
  plainText,
  richTextMarks,
  parseRichText,
  spanWidth,
  wrapSpans,
} from "./rich_text.ts";
import { findingLinesBlock } from "./finding_lines_picture.ts";
import { findingRowsBlock } from "./finding_rows_picture.ts";
import { moduleListPictureWithin } from "../nets/module_list_picture.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Picture } from "../marks/svg_document.ts";
import type { Verdict } from "./verdict.ts";
import type { Translate } from "../words/sentences.ts";

export interface FindingPictureSize {
  width: number;
  height: number;
}

/** Of a preview of a link. */
export const CARD_SIZE: FindingPictureSize = { width: 1200, height: 630 };
/** Below this width the rows stand under the lines. */
const NARROW = 560;
/** The width at which all is at its usual size. */
const USUAL_WIDTH = 1200;
const SMALLEST_SCALE = 0.56;
/** In less room only the two lines are shown of a list. */
const LEAST_LIST = 190;

interface Measures {
  scale: number;
  edge: number;
  left: number;
  right: number;
  top: number;
  kicker: number;
  headline: { size: number; lines: number }[];
  code: number;
  foot: number;
}

function measuresFor({ width, height }: FindingPictureSize): Measures {
  const scale = Math.max(SMALLEST_SCALE, Math.min(1, width / USUAL_WIDTH, height / 630));
  const isSmall = scale < 0.8;
  const headlines = isSmall ? [20, 18, 16, 15, 14] : [44, 40, 36, 32, 28, 26];
  const most = width < NARROW ? 4 : 3;
  return {
    scale,
    edge: isSmall ? 5 : 14,
    left: isSmall ? 22 : 64,
    right: isSmall ? 20 : 56,
    top: isSmall ? 18 : 44,
    kicker: isSmall ? 13 : 20,
    headline: headlines.map((size, k) => ({ size, lines: k < headlines.length - 2 ? 2 : most })),
    code: isSmall ? 13.5 : 20,
    foot: isSmall ? 12.5 : 18,
  };
}

/** What a verdict is drawn of. */
export interface FindingPictureSubject {
  opened: OpenTrace;
  /** the program's, "" for none; it stands in the foot */
  title: string;
  /** of findings */
  say: Translate;
  language: string;
}

export function findingPicture(verdict: Verdict, size: FindingPictureSize, subject: FindingPictureSubject): Picture {
  const { title } = subject;
  const { width, height } = size;
  const m = measuresFor(size);
  const contentWidth = width - m.left - m.right;
  const nodes: VNode[] = [
    h("rect", { class: "verdict-paper", width, height }),
    h("rect", { class: `verdict-edge-bar ${verdict.severity}`, width: m.edge, height }),
    ...kickerMarks(verdict, m, width),
  ];
  const headline = fitSpans(parseRichText(verdict.headline), contentWidth, m.headline, true);
  const leading = headline.size * 1.24;
  let y = m.top + m.kicker * 1.1 + headline.size * 1.15;
  nodes.push(
    ...richTextMarks(headline.lines, { x: m.left, y, size: headline.size, leading, className: "verdict-headline" }),
  );
  y += (headline.lines.length - 1) * leading + headline.size * 0.9;
  const foot = footMarks(verdict, title, m, size);
  nodes.push(...foot.nodes);
  const room = height - y - foot.height - m.foot * 0.6;
  nodes.push(...bodyMarks(verdict, { x: m.left, y, w: contentWidth, h: room }, m, width < NARROW, subject));
  return { width, height, nodes };
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The lines at the left and the rows at the right, each in the middle of its height; or the rows below. */
function bodyMarks(
  verdict: Verdict,
  box: Box,
  m: Measures,
  isNarrow: boolean,
  subject: FindingPictureSubject,
): VNode[] {
  const { say } = subject;
  const gap = 40 * m.scale;
  if (isNarrow) {
    const lines = findingLinesBlock(verdict, box, m.code, say);
    const rowsTop = box.y + lines.height + gap / 2;
    if (verdict.list) {
      const room = { ...box, y: rowsTop, h: box.y + box.h - rowsTop };
      return room.h < LEAST_LIST ? lines.nodes : [...lines.nodes, ...listMarks(verdict.list, room, subject).nodes];
    }
    const rows = findingRowsBlock(verdict, { ...box, y: rowsTop, h: box.y + box.h - rowsTop }, m.scale, say);
    return [...lines.nodes, ...rows.nodes];
  }
  const isList = verdict.list !== null && box.h >= LEAST_LIST;
  const hasRows = isList || verdict.rows.length + verdict.rowsAfterCut.length > 0;
  const linesWidth = hasRows ? Math.round(box.w * (isList ? 0.32 : 0.44)) : box.w;
  const lines = { ...box, w: linesWidth };
  const rows = { ...box, x: box.x + linesWidth + gap, w: box.w - linesWidth - gap };
  const drawLines = (at: Box) => findingLinesBlock(verdict, at, m.code, say);
  const drawRows = (at: Box) => {
    if (isList && verdict.list) return listMarks(verdict.list, at, subject);
    return hasRows ? findingRowsBlock(verdict, at, Math.max(m.scale, 0.7), say) : { height: 0, nodes: [] };
  };
  const taken = Math.max(drawLines(lines).height, drawRows(rows).height);
  const shift = Math.max(0, (box.h - taken) * 0.42);
  const lowered = (place: Box) => ({ ...place, y: place.y + shift, h: place.h - shift });
  return [...drawLines(lowered(lines)).nodes, ...drawRows(lowered(rows)).nodes];
}

/** The rows of the list with both ends of the finding open. */
function listMarks(list: NonNullable<Verdict["list"]>, { x, y, w, h: room }: Box, subject: FindingPictureSubject) {
  const { opened, language } = subject;
  const drawn = moduleListPictureWithin(opened, list, { width: Math.floor(w), height: room }, language);
  const [width, height] = [drawn.width * drawn.scale, drawn.height * drawn.scale];
  const viewBox = `0 0 ${drawn.width} ${drawn.height}`;
  const frame = h("rect", { class: "verdict-list", x: x - 1, y: y - 1, width: width + 2, height: height + 2 });
  return { height, nodes: [frame, h("svg", { class: "stage-svg", x, y, width, height, viewBox }, drawn.nodes)] };
}

/** All that a verdict says of its two lines, for those who can't see it. */
export function findingPictureSentences({ kicker, lines, why, todo }: Verdict) {
  const links = lines.flatMap(({ links: ofLine }) => ofLine.map(({ text }) => text));
  return plainText([kicker, ...links, why, todo].filter(Boolean).join(". "));
}

function kickerMarks({ severity, kicker }: Verdict, m: Measures, width: number): VNode[] {
  const icon = (m.kicker * 1.1) / 16;
  const mark = spanWidth({ text: "Gradbox", code: false }, m.kicker, true);
  const x = m.left + m.kicker * 1.6;
  const room = width - m.right - mark - m.kicker - x;
  const words = clipSpans(wrapSpans(parseRichText(kicker), room, m.kicker, true), 1, room, m.kicker, true);
  return [
    h(
      "g",
      { transform: `translate(${m.left} ${m.top - m.kicker * 0.9}) scale(${icon})` },
      SHAPES_BY_SEVERITY[severity].map(([tag, attributes]) => h(tag, attributes)),
    ),
    ...richTextMarks(words, {
      x,
      y: m.top,
      size: m.kicker,
      leading: 0,
      className: `verdict-kicker ${severity}`,
    }),
    h(
      "text",
      { class: "verdict-wordmark", x: width - m.right, y: m.top, "font-size": m.kicker },
      h("tspan", {}, "Grad"),
      h("tspan", { class: "verdict-wordmark-end" }, "box"),
    ),
  ];
}

/** What to do, over the program's title. */
function footMarks(
  { todo, why, headline }: Verdict,
  title: string,
  m: Measures,
  { width, height }: FindingPictureSize,
): { height: number; nodes: VNode[] } {
  const contentWidth = width - m.left - m.right;
  const leading = m.foot * 1.42;
  const words = wrapSpans(parseRichText(todo || why), contentWidth, m.foot);
  const lines = clipSpans(words, 2, contentWidth, m.foot);
  const ownTitle =
    title.trim() && !headline.replaceAll("`", "").startsWith(title.trim().replace(/…$/, "")) ? title : "";
  const small = m.foot * 0.88;
  const last = lines.at(-1);
  // beside the last line, where there is room
  const room = contentWidth - (last ? lineWidth(last, m.foot) + m.foot * 2 : 0);
  const fits = ownTitle && spanWidth({ text: ownTitle, code: false }, small) <= room;
  const titleLines = ownTitle
    ? clipSpans(wrapSpans([{ text: ownTitle, code: false }], contentWidth, small), 1, contentWidth, small)
    : [];
  const rowCount = lines.length + (ownTitle && !fits ? 1 : 0);
  const taken = rowCount * leading + m.foot * 1.5;
  const top = height - taken;
  const titleY = top + m.foot * 1.5 + (rowCount - 1) * leading;
  return {
    height: taken,
    nodes: [
      h("path", { class: "verdict-rule", d: `M${m.left} ${Math.round(top) + 0.5}H${width - m.right}` }),
      ...richTextMarks(lines, { x: m.left, y: top + m.foot * 1.5, size: m.foot, leading, className: "verdict-todo" }),
      ...titleLines.map(([run]) =>
        fits
          ? h("text", { class: "verdict-title end", x: width - m.right, y: titleY, "font-size": small }, run.text)
          : h(
              "text",
              { class: "verdict-title", x: m.left, y: titleY, "font-size": small },
              titleLines[0].map((r) => r.text).join(""),
            ),
      ),
    ],
  };
}
