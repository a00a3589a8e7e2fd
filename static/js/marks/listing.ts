/** The picture of a program of which no step was recorded: its text, and under a line what is wrong with it. */

import { textWidth } from "../layout/metrics.ts";
import { h } from "../browser/svg.ts";
import { wrapText, type Picture } from "./svg_document.ts";

const LEFT = 64;
const TOP = 40;
const LINE = 21;
const MAX_LINES = 200;

export function listing(source: string, problems: { line: number; text: string }[]): Picture {
  const rows = source.trimEnd().split("\n");
  const nodes = [];
  let y = TOP;
  let widest = 0;
  for (const [k, row] of rows.slice(0, MAX_LINES).entries()) {
    nodes.push(
      h("text", { class: "listing-number", x: LEFT - 20, y }, String(k + 1)),
      h("text", { class: "listing-line", x: LEFT, y }, row),
    );
    widest = Math.max(widest, textWidth(row, 14));
    for (const { text } of problems.filter(({ line }) => line === k + 1))
      for (const part of wrapText(text, 640, 11.5)) {
        y += 19;
        nodes.push(h("text", { class: "paper-note bad", x: LEFT, y }, part));
      }
    y += LINE;
  }
  if (rows.length > MAX_LINES) nodes.push(h("text", { class: "listing-number", x: LEFT - 20, y }, "…"));
  return { width: LEFT + Math.min(widest, 1200) + 24, height: y + 4, nodes };
}
