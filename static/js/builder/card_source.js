/** The source on a card: its characters in their colours, with the names of the program marked. */

import { highlightTree } from "@lezer/highlight";
import { highlightStyle } from "../syntax.js";
import { lineStarts } from "./line_edits.js";
import { nameMarks } from "./names.js";

/** @typedef {import("./statements.js").Program} Program */
/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./names.js").NameMark} NameMark */

/** @typedef {string | {text: string, style: string, name?: string}} Part   of the source: plain, or with its style and the name that it is */

/** @param {Program} program */
export function createSourcePainter(program) {
  /** @type {{from: number, to: number, style: string}[]} */
  const colours = [];
  highlightTree(program.tree, highlightStyle, (from, to, style) => colours.push({ from, to, style }));
  const marks = nameMarks(program);
  const starts = lineStarts(program.lines);

  /** @param {Item} item @returns {NameMark[]} those on the card's own lines */
  function namesOf({ first, last }) {
    return rangesWithin(marks, starts[first], starts[last + 1]);
  }

  /** The text of a card's own lines without its indentation. @param {Item} item @returns {Part[]} */
  function paint(item) {
    const own = namesOf(item);
    /** @type {Part[]} */
    const out = [];
    for (let line = item.first; line <= item.last; line++) {
      if (line > item.first) out.push("\n");
      const text = program.lines[line];
      const skipped = text.startsWith(item.indent) ? item.indent.length : 0;
      out.push(...paintRange(starts[line] + skipped, starts[line] + text.length, own));
    }
    return out;
  }

  /** @param {number} from @param {number} to @param {NameMark[]} names @returns {Part[]} */
  function paintRange(from, to, names) {
    /** @type {{from: number, to: number, style: string, name?: string}[]} */
    const spans = names
      .filter((mark) => mark.from >= from && mark.to <= to)
      .map((mark) => ({ ...mark, style: `card-name ${mark.role}` }));
    for (const colour of rangesWithin(colours, from, to)) {
      if (spans.some((span) => span.from < colour.to && span.to > colour.from)) continue;
      spans.push({ ...colour, from: Math.max(from, colour.from), to: Math.min(to, colour.to) });
    }
    spans.sort((a, b) => a.from - b.from);
    /** @type {Part[]} */
    const out = [];
    let at = from;
    for (const span of spans) {
      if (span.from > at) out.push(program.source.slice(at, span.from));
      const { style, name } = span;
      out.push({ text: program.source.slice(span.from, span.to), style, name });
      at = span.to;
    }
    if (at < to) out.push(program.source.slice(at, to));
    return out;
  }

  return { paint, namesOf };
}

/** Those of ranges in order that reach into another one. @template {{from: number, to: number}} T
 * @param {T[]} ranges that do not overlap @param {number} from @param {number} to @returns {T[]} */
function rangesWithin(ranges, from, to) {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle].to <= from) low = middle + 1;
    else high = middle;
  }
  const out = [];
  for (let k = low; k < ranges.length && ranges[k].from < to; k++) out.push(ranges[k]);
  return out;
}
