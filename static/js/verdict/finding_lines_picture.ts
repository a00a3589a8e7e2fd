/** The two lines of a verdict as SVG: the cause on amber, where it shows on red, what each has to do with it below. */

import { h, type VNode } from "../browser/svg.ts";
import { SHAPES_BY_ROLE } from "../marks/finding_shapes.ts";
import { shortLineName } from "../trace/program_files.ts";
import { clipSpans, richTextMarks, parseRichText, spanWidth, wrapSpans, type TextSpan } from "./rich_text.ts";
import type { Verdict, FindingSummaryLine } from "./verdict.ts";
import type { Translate } from "../words/sentences.ts";

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** a group of marks with the height it takes */
export interface PictureBlock {
  height: number;
  nodes: VNode[];
}

const CODE_LINES = 4;
const ROLE_LINES = 4;
const SMALLEST_CODE = 11;
/** Of the smallest size, where even that is too high. */
const FEWER_LINES: MaxLines[] = [
  { code: 3, role: 2 },
  { code: 2, role: 1 },
  { code: 1, role: 1 },
];
/** Of its usual size, one after the other until all fits. */
const SHRINKING = [1, 0.9, 0.8, 0.7, 0.62, 0.55];

/** `codeSize` is that of the code where there is room. */
export function findingLinesBlock(verdict: Verdict, box: Box, codeSize: number, say: Translate): PictureBlock {
  let block: PictureBlock = { height: 0, nodes: [] };
  for (const share of SHRINKING) {
    const size = Math.max(SMALLEST_CODE, Math.round(codeSize * share * 2) / 2);
    block = linesBlock(verdict, box, size, { code: CODE_LINES, role: ROLE_LINES }, say);
    if (block.height <= box.h) return block;
    if (size === SMALLEST_CODE) break;
  }
  for (const most of FEWER_LINES) {
    block = linesBlock(verdict, box, SMALLEST_CODE, most, say);
    if (block.height <= box.h) break;
  }
  return block;
}

interface MaxLines {
  code: number;
  role: number;
}

function linesBlock(verdict: Verdict, box: Box, size: number, most: MaxLines, say: Translate): PictureBlock {
  const numberWidth =
    Math.max(...verdict.lines.map(({ line }) => spanWidth({ text: shortLineName(line), code: true }, size))) +
    size * 1.3;
  const nodes: VNode[] = [];
  let y = box.y;
  const groundEnds: number[] = [];
  const grounds: number[] = [];
  verdict.lines.forEach((line, k) => {
    if (k && verdict.linesBetween) {
      const between = say("verdict.between", { n: verdict.linesBetween });
      nodes.push(svgText("verdict-quiet", box.x + numberWidth, y + size * 0.95, size * 0.8, between));
      y += size * 1.5;
    }
    const ground = codeBlock(line, { ...box, y }, size, {
      numberWidth,
      most: most.code,
      stopped: verdict.stopped,
    });
    nodes.push(...ground.nodes);
    grounds.push(y);
    y += ground.height;
    groundEnds.push(y);
    const roles = roleRows(line, { ...box, y: y + size * 0.35 }, size, numberWidth, most.role, verdict, say);
    nodes.push(...roles.nodes);
    y += roles.height + size * 0.7;
  });
  const height = y - box.y;
  const thread =
    grounds.length > 1
      ? [
          h("path", {
            class: "verdict-thread",
            d: `M${box.x + size * 0.85} ${groundEnds[0] + 4}V${grounds[1] - 4}`,
          }),
        ]
      : [];
  const frame = h("rect", { class: "verdict-frame", x: box.x, y: box.y, width: box.w, height, rx: 8 });
  return { height, nodes: [...nodes, ...thread, frame] };
}

/** A statement on its ground, with its number. */
function codeBlock(
  line: FindingSummaryLine,
  box: Box,
  size: number,
  { numberWidth, most, stopped }: { numberWidth: number; most: number; stopped: boolean },
): PictureBlock {
  const room = box.w - numberWidth - size * 0.9;
  const spans: TextSpan[] = [{ text: line.code || " ", code: true }];
  const lines = clipSpans(wrapSpans(spans, room, size), most, room, size);
  const leading = size * 1.4;
  const height = lines.length * leading + size * 0.9;
  const tone = toneOfLine(line, stopped);
  const first = box.y + size * 1.5;
  return {
    height,
    nodes: [
      h("rect", { class: `verdict-ground ${tone}`, x: box.x, y: box.y, width: box.w, height }),
      h("rect", { class: `verdict-bar ${line.isCause ? "cause" : tone}`, x: box.x, y: box.y, width: 4, height }),
      svgText("verdict-number", box.x + numberWidth - size * 0.6, first, size, shortLineName(line.line)),
      ...richTextMarks(lines, {
        x: box.x + numberWidth,
        y: first,
        size,
        leading,
        className: line.isCause ? "verdict-statement cause" : "verdict-statement",
      }),
    ],
  };
}

/** Red where it shows, amber for the cause; where both are one line, what is graver. */
function toneOfLine({ isCause, isEffect }: FindingSummaryLine, stopped: boolean) {
  if (isEffect && (stopped || !isCause)) return "effect";
  return isCause ? "cause" : "context";
}

/** What a line has to do with the finding: the mark of the role and its sentence. */
function roleRows(
  line: FindingSummaryLine,
  box: Box,
  size: number,
  numberWidth: number,
  most: number,
  verdict: Verdict,
  say: Translate,
): PictureBlock {
  const words = size * 0.86;
  const leading = words * 1.35;
  const iconScale = size / 16;
  const left = box.x + numberWidth + 26 * iconScale + size * 0.4;
  const room = box.w - (left - box.x) - size * 0.6;
  const nodes: VNode[] = [];
  let y = box.y;
  const links = line.links.map(({ role, text: sentence }) => ({ role, sentence: shortened(sentence, line.code) }));
  const says = links.length
    ? links
    : [{ role: "checked" as const, sentence: verdict.stopped ? say("verdict.stops") : say("verdict.effect") }];
  for (const { role, sentence } of says) {
    const lines = clipSpans(wrapSpans(parseRichText(sentence), room, words), most, room, words);
    nodes.push(
      h(
        "g",
        { transform: `translate(${box.x + numberWidth} ${y + leading * 0.5 - 8 * iconScale}) scale(${iconScale})` },
        SHAPES_BY_ROLE[role].map(([tag, attributes]) => h(tag, attributes)),
      ),
      ...richTextMarks(lines, { x: left, y: y + words * 1.05, size: words, leading, className: "verdict-role" }),
    );
    y += lines.length * leading + size * 0.2;
  }
  return { height: y - box.y, nodes };
}

/** A link's sentence without the statement that stands above it: "`x = f()`: it ends" is "it ends". */
function shortened(sentence: string, code: string) {
  const [, fact = "", rest = ""] = /^`([^`]+)`[:：]?\s*(.+)$/.exec(sentence) ?? [];
  const isStatement = fact === code || (fact.endsWith("…") && code.startsWith(fact.slice(0, -1)));
  return isStatement ? rest : sentence;
}

export function svgText(className: string, x: number, y: number, size: number, content: string): VNode {
  return h("text", { class: className, x, y, "font-size": size }, content);
}
