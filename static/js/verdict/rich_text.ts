/**
 * Prose with names in it, as SVG: how wide it is, where its lines break, and how it is written. Names stand in
 * backticks.
 */

import { CHARACTER_WIDTH_EM } from "../layout/text/metrics.ts";
import { h, type VNode } from "../browser/svg.ts";

export interface TextSpan {
  text: string;
  code: boolean;
}

/** Hundredths of an em of the printable ASCII characters in DejaVu Sans Bold, the widest of the faces that pages and
 * servers have; the regular ones are narrower. */
const BOLD_WIDTHS = [
  35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40, 84,
  84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85, 73, 85, 77, 72, 68, 81, 77, 110, 77, 72,
  73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72, 71, 34, 34, 67, 34, 104, 71, 69, 72, 72, 49, 60, 48, 71, 65,
  92, 65, 65, 58, 71, 37, 71, 84,
];
const REGULAR_SHARE = 0.93;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/;
/** A word with the blanks after it; East Asian characters may be parted anywhere. */
const WORDS =
  /[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|[^\s\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]+|\s+/gu;

export function parseRichText(text: string): TextSpan[] {
  return text.split("`").flatMap((part, k) => (part ? [{ text: part, code: k % 2 === 1 }] : []));
}

/** Prose without its backticks. */
export function plainText(text: string) {
  return text.replaceAll("`", "");
}

export function spanWidth({ text, code }: TextSpan, size: number, bold = false) {
  let width = 0;
  for (const c of text) width += WIDE.test(c) ? 1 : code ? CHARACTER_WIDTH_EM : proseWidth(c, bold);
  return width * size;
}

function proseWidth(c: string, bold: boolean) {
  const width = (BOLD_WIDTHS[c.charCodeAt(0) - 32] ?? 75) / 100;
  return bold ? width : width * REGULAR_SHARE;
}

export function lineWidth(line: TextSpan[], size: number, bold = false) {
  return line.reduce((sum, span) => sum + spanWidth(span, size, bold), 0);
}

/** Runs in lines of at most that width: broken at blanks, between East Asian characters, else where they must. */
export function wrapSpans(spans: TextSpan[], maxWidth: number, size: number, bold = false): TextSpan[][] {
  const lines: TextSpan[][] = [[]];
  let used = 0;
  const startLine = () => {
    lines.push([]);
    used = 0;
  };
  const add = (piece: TextSpan) => {
    const line = lines[lines.length - 1];
    const last = line.at(-1);
    if (last?.code === piece.code) line[line.length - 1] = { ...last, text: last.text + piece.text };
    else line.push(piece);
    used += spanWidth(piece, size, bold);
  };
  for (const word of unbrokenWords(spans)) {
    const width = lineWidth(word, size, bold);
    const isBlank = word.every(({ text }) => !text.trim());
    if (used + width <= maxWidth) {
      if (used || !isBlank) for (const piece of word) add(piece);
      continue;
    }
    if (used) startLine();
    if (isBlank) continue;
    if (width <= maxWidth) for (const piece of word) add(piece);
    else
      for (const { text, code } of word)
        for (const c of text) {
          if (used + spanWidth({ text: c, code }, size, bold) > maxWidth) startLine();
          add({ text: c, code });
        }
  }
  return lines.map(withoutBlankEnd).filter((line, k) => line.length || !k);
}

/** What is not parted, if it fits: a name with the comma after it is one. */
function unbrokenWords(spans: TextSpan[]): TextSpan[][] {
  const words: TextSpan[][] = [];
  let isOpen = false;
  for (const { text, code } of spans)
    for (const piece of text.match(WORDS) ?? []) {
      const isAlone = !piece.trim() || WIDE.test(piece);
      if (isOpen && !isAlone) words[words.length - 1].push({ text: piece, code });
      else words.push([{ text: piece, code }]);
      isOpen = !isAlone;
    }
  return words;
}

function withoutBlankEnd(line: TextSpan[]): TextSpan[] {
  const last = line.at(-1);
  if (!last) return line;
  const text = last.text.trimEnd();
  return text ? [...line.slice(0, -1), { ...last, text }] : line.slice(0, -1);
}

/** At most so many lines; the last says that there was more. */
export function clipSpans(
  lines: TextSpan[][],
  maxLines: number,
  maxWidth: number,
  size: number,
  bold = false,
): TextSpan[][] {
  if (lines.length <= maxLines) return lines;
  const last = lines[maxLines - 1].map((span) => ({ ...span }));
  const ellipsis = { text: "…", code: false };
  while (last.length && lineWidth([...last, ellipsis], size, bold) > maxWidth) {
    const end = last[last.length - 1];
    end.text = Array.from(end.text).slice(0, -1).join("");
    if (!end.text) last.pop();
  }
  return [...lines.slice(0, maxLines - 1), [...last, ellipsis]];
}

interface TextPlace {
  x: number;
  y: number;
  size: number;
  /** from one line to the next */
  leading: number;
  className: string;
}

/** Lines of spans, one `text` each. */
export function richTextMarks(lines: TextSpan[][], { x, y, size, leading, className }: TextPlace): VNode[] {
  return lines.map((line, k) =>
    h(
      "text",
      { class: className, x, y: y + k * leading, "font-size": size },
      line.map(({ text, code }) => h("tspan", { class: code ? "verdict-code" : null }, text)),
    ),
  );
}

/** The largest of the sizes at which a text has at most so many lines. */
export function fitSpans(
  spans: TextSpan[],
  maxWidth: number,
  sizes: { size: number; lines: number }[],
  bold = false,
): { size: number; lines: TextSpan[][] } {
  for (const { size, lines: most } of sizes) {
    const lines = wrapSpans(spans, maxWidth, size, bold);
    if (lines.length <= most) return { size, lines };
  }
  const { size, lines: most } = sizes[sizes.length - 1];
  return { size, lines: clipSpans(wrapSpans(spans, maxWidth, size, bold), most, maxWidth, size, bold) };
}
