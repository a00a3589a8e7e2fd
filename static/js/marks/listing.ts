/** The picture of a program of which no step was recorded: its text, and under a line what is wrong with it. */

import { textWidth } from "../layout/text/metrics.ts";
import { textMark } from "../browser/shapes.ts";
import { wrapText, type Picture } from "./svg_document.ts";

const LISTING_LEFT = 64;
const LISTING_TOP = 40;
const LISTING_LINE_HEIGHT = 21;
const MAX_LISTING_LINES = 200;

export function programSourcePicture(source: string, problems: { line: number; text: string }[]): Picture {
  const rows = source.trimEnd().split("\n");
  const nodes = [];
  let y = LISTING_TOP;
  let widest = 0;
  for (const [k, row] of rows.slice(0, MAX_LISTING_LINES).entries()) {
    nodes.push(
      textMark("listing-number", LISTING_LEFT - 20, y, String(k + 1)),
      textMark("listing-line", LISTING_LEFT, y, row),
    );
    widest = Math.max(widest, textWidth(row, 14));
    for (const { text } of problems.filter(({ line }) => line === k + 1))
      for (const part of wrapText(text, 640, 11.5)) {
        y += 19;
        nodes.push(textMark("paper-note bad", LISTING_LEFT, y, part));
      }
    y += LISTING_LINE_HEIGHT;
  }
  if (rows.length > MAX_LISTING_LINES) nodes.push(textMark("listing-number", LISTING_LEFT - 20, y, "…"));
  return { width: LISTING_LEFT + Math.min(widest, 1200) + 24, height: y + 4, nodes };
}
