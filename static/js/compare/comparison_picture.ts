/**
 * A place of a comparison as an SVG file: the sentence, both stages with numbered frames, and the list of differences.
 */

import { pictureStylesheets, stageOrSourcePicture } from "../picture/picture.ts";
import { bundledLocale } from "../words/locale.ts";
import { clipLines, svgFileText, wrapText } from "../marks/svg_document.ts";
import { h, parseTranslate, type VNode } from "../browser/svg.ts";
import { differencesAt, type Comparison } from "./comparison.ts";
import { attributesThatDrawProperties } from "./property_attributes.ts";
import {
  groupByName,
  clauseAboutName,
  comparisonLocale,
  lineOfRow,
  outcomeText,
  outputDifferenceText,
  comparisonSummary,
} from "./comparison_words.ts";

interface PictureBox {
  x: number;
  y: number;
  width: number;
  height: number;
}

const COMPARISON_SIDE_PADDING = 24;
/** What each stage is planned for. */
const COMPARED_STAGE_SIZE = { w: 700, h: 900 };
const MIN_COMPARISON_SIDE_WIDTH = 480;
const MAX_LISTED_DIFFERENCES = 12;
const DIFFERENCE_FRAME_MARGIN = 3;

/** The picture as the text of a file. */
export function comparisonPicture(
  comparison: Comparison,
  row: number,
  options: { theme: "light" | "dark"; language: string },
): string {
  const { say } = comparisonLocale(options.language);
  const stepsAtRow = comparison.rows[row] ?? { left: -1, right: -1 };
  const groups = groupByName(differencesAt(comparison, row)).slice(0, MAX_LISTED_DIFFERENCES);
  const left = comparisonSideNodes(comparison, "left", stepsAtRow.left, groups, options.language);
  const right = comparisonSideNodes(comparison, "right", stepsAtRow.right, groups, options.language);
  const width = left.width + right.width;
  const verdict = withoutBackticks(comparisonSummary(comparison, say));
  let y = 14;
  const heading = clipLines(wrapText(verdict, width - 2 * COMPARISON_SIDE_PADDING, 14), 6).map((text) =>
    h("text", { class: "paper-verdict", x: COMPARISON_SIDE_PADDING, y: (y += 19) }, text),
  );
  const top = y + 14;
  const height = Math.max(left.height, right.height);
  const footer = differenceListNodes(comparison, row, groups, width, top + height, options.language);
  const nodes = [
    h("rect", { class: "paper", width, height: footer.end }),
    ...heading,
    h("path", { class: "paper-rule", d: `M0 ${top + 0.5}H${width}M${left.width + 0.5} ${top}v${height}` }),
    h("g", { transform: `translate(0 ${top})` }, left.nodes),
    h("g", { transform: `translate(${left.width} ${top})` }, right.nodes),
    ...footer.nodes,
  ];
  const title = say("compare.title", { line: comparison.rows.length ? lineOfRow(comparison, row) : 1 });
  const picture = { width, height: footer.end, nodes };
  return svgFileText("stage-svg", picture, title, verdict, pictureStylesheets(options));
}

/** One side: its outcome, its line, its stage with the frames of what is different. */
function comparisonSideNodes(
  comparison: Comparison,
  side: "left" | "right",
  step: number,
  groups: ReturnType<typeof groupByName<ReturnType<typeof differencesAt>[number]>>,
  language: string,
) {
  const { say } = comparisonLocale(language);
  const opened = comparison[side];
  const shownStep = Math.max(0, step);
  const picture = stageOrSourcePicture(opened, shownStep, bundledLocale(language).say, COMPARED_STAGE_SIZE);
  const frames = groups.flatMap((group, k) => {
    const uid = group[0][side === "left" ? "leftUid" : "rightUid"];
    const properties = group.map(({ property }) => property);
    return attributesThatDrawProperties(opened, shownStep, uid, properties)
      .map(({ name, value }) => boundingBoxOfNodes(picture.nodes, name, value))
      .flatMap((box) => (box ? [differenceFrameNodes(box, k + 1)] : []));
  });
  const line = opened.trace.steps[shownStep]?.line;
  const code = line === undefined ? "" : (opened.trace.program.source.split("\n")[line - 1] ?? "").trim();
  const label = `${say(`compare.side_${side}`)} · ${outcomeText(opened.trace.outcome, say)}`;
  const width = Math.max(MIN_COMPARISON_SIDE_WIDTH, Math.ceil(picture.width));
  const text =
    clipLines(wrapText(line === undefined ? "" : `${line}  ${code}`, width - 2 * COMPARISON_SIDE_PADDING, 14), 1)[0] ??
    "";
  return {
    width,
    height: Math.ceil(picture.height) + 62,
    nodes: [
      h("text", { class: "paper-at", x: COMPARISON_SIDE_PADDING, y: 24 }, label),
      h("text", { class: "paper-line", x: COMPARISON_SIDE_PADDING, y: 46 }, text),
      h(
        "svg",
        { x: 0, y: 58, width, height: Math.ceil(picture.height), viewBox: `0 0 ${width} ${Math.ceil(picture.height)}` },
        picture.nodes,
        ...frames,
      ),
    ],
  };
}

function differenceListNodes(
  comparison: Comparison,
  row: number,
  groups: ReturnType<typeof differencesAt>[],
  width: number,
  top: number,
  language: string,
) {
  const { say } = comparisonLocale(language);
  let y = top + 14;
  const nodes = [h("path", { class: "paper-rule", d: `M0 ${top + 0.5}H${width}` })];
  const clauses = groups.map((group) => withoutBackticks(clauseAboutName(group, say)));
  const output = comparison.output
    .filter((difference) => difference.row === row)
    .map((difference) => withoutBackticks(outputDifferenceText(difference, say)));
  for (const [k, text] of [...clauses, ...output].entries())
    for (const [part, words] of clipLines(
      wrapText(text, width - 2 * COMPARISON_SIDE_PADDING - 26, 11.5),
      3,
    ).entries()) {
      y += 21;
      if (!part && k < clauses.length) nodes.push(...differenceNumberNodes(COMPARISON_SIDE_PADDING + 8, y - 4, k + 1));
      nodes.push(h("text", { class: "paper-note", x: COMPARISON_SIDE_PADDING + 26, y }, words));
    }
  if (!clauses.length && !output.length)
    nodes.push(
      h("text", { class: "paper-note", x: COMPARISON_SIDE_PADDING, y: (y += 21) }, say("compare.no_difference_here")),
    );
  return { nodes, end: y + 20 };
}

function differenceFrameNodes({ x, y, width, height }: PictureBox, number: number) {
  const frame = {
    x: x - DIFFERENCE_FRAME_MARGIN,
    y: y - DIFFERENCE_FRAME_MARGIN,
    width: width + 2 * DIFFERENCE_FRAME_MARGIN,
    height: height + 2 * DIFFERENCE_FRAME_MARGIN,
    rx: 8,
  };
  return [
    h("rect", { class: "difference-frame", ...frame }),
    ...differenceNumberNodes(x - DIFFERENCE_FRAME_MARGIN, y - DIFFERENCE_FRAME_MARGIN, number),
  ];
}

/** `y` is that of its centre. */
function differenceNumberNodes(x: number, y: number, number: number) {
  return [
    h("circle", { class: "difference-disc", cx: x, cy: y, r: 8.5 }),
    h("text", { class: "difference-number", x, y: y + 4 }, String(number)),
  ];
}

/** The rectangles of what has an attribute, as one box. */
function boundingBoxOfNodes(nodes: VNode[], name: string, value: string): PictureBox | null {
  let box: { x: number; y: number; right: number; bottom: number } | null = null;
  const addRectangles = (list: VNode[], parentOrigin: { x: number; y: number }, parentIsInside: boolean) => {
    for (const { tag, attrs, children } of list) {
      const origin = originOfChildren(tag, attrs, parentOrigin);
      const isInside = parentIsInside || attrs[name] === value;
      if (isInside && tag === "rect") {
        const [x, y] = [parentOrigin.x + Number(attrs.x ?? 0), parentOrigin.y + Number(attrs.y ?? 0)];
        const [right, bottom] = [x + Number(attrs.width ?? 0), y + Number(attrs.height ?? 0)];
        box = {
          x: Math.min(box?.x ?? x, x),
          y: Math.min(box?.y ?? y, y),
          right: Math.max(box?.right ?? right, right),
          bottom: Math.max(box?.bottom ?? bottom, bottom),
        };
      }
      addRectangles(children, origin, isInside);
    }
  };
  addRectangles(nodes, { x: 0, y: 0 }, false);
  if (box === null) return null;
  const { x, y, right, bottom } = box as { x: number; y: number; right: number; bottom: number };
  return { x, y, width: right - x, height: bottom - y };
}

/** Where the children of an element begin: a group may be moved, and a nested picture scrolled. */
function originOfChildren(tag: string, attrs: Record<string, string>, parentOrigin: { x: number; y: number }) {
  if (tag === "svg") {
    const [left = 0, top = 0] = (attrs.viewBox ?? "").split(" ").map(Number);
    return { x: parentOrigin.x + Number(attrs.x ?? 0) - left, y: parentOrigin.y + Number(attrs.y ?? 0) - top };
  }
  const [dx, dy] = parseTranslate(attrs.transform);
  return { x: parentOrigin.x + dx, y: parentOrigin.y + dy };
}

function withoutBackticks(text: string) {
  return text.replaceAll("`", "");
}
