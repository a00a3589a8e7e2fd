/** The source on a card: its characters in their colours, with the names of the program marked. */

import { highlightTree } from "@lezer/highlight";
import { pythonHighlighter } from "../editor/python_highlighter.ts";
import { offsetsOfLineStarts } from "./line_edits.ts";
import { nameOccurrences, type NameOccurrence } from "./names.ts";
import type { ProgramItem, ParsedProgram } from "./statements.ts";

/** of the source: plain, or with its style and the name that it is */
export type SourcePart = string | { text: string; style: string; name?: string };

export function createSourceHighlighter(program: ParsedProgram) {
  const colouredRanges: { from: number; to: number; style: string }[] = [];
  highlightTree(program.tree, pythonHighlighter, (from, to, style) => colouredRanges.push({ from, to, style }));
  const nameRanges = nameOccurrences(program);
  const lineOffsets = offsetsOfLineStarts(program.lines);

  /** The names on the card's own lines. */
  function nameOccurrencesOf({ first, last }: ProgramItem): NameOccurrence[] {
    return rangesOverlapping(nameRanges, lineOffsets[first], lineOffsets[last + 1]);
  }

  /** The text of a card's own lines without its indentation. */
  function sourceParts(item: ProgramItem): SourcePart[] {
    const itemNames = nameOccurrencesOf(item);
    const parts: SourcePart[] = [];
    for (let line = item.first; line <= item.last; line++) {
      if (line > item.first) parts.push("\n");
      const text = program.lines[line];
      const indentLength = text.startsWith(item.indent) ? item.indent.length : 0;
      parts.push(...partsOfRange(lineOffsets[line] + indentLength, lineOffsets[line] + text.length, itemNames));
    }
    return parts;
  }

  function partsOfRange(from: number, to: number, names: NameOccurrence[]): SourcePart[] {
    const styledSpans: { from: number; to: number; style: string; name?: string }[] = names
      .filter((mark) => mark.from >= from && mark.to <= to)
      .map((mark) => ({ ...mark, style: `card-name ${mark.role}` }));
    for (const colour of rangesOverlapping(colouredRanges, from, to)) {
      if (styledSpans.some((span) => span.from < colour.to && span.to > colour.from)) continue;
      styledSpans.push({ ...colour, from: Math.max(from, colour.from), to: Math.min(to, colour.to) });
    }
    styledSpans.sort((a, b) => a.from - b.from);
    const parts: SourcePart[] = [];
    let paintedTo = from;
    for (const span of styledSpans) {
      if (span.from > paintedTo) parts.push(program.source.slice(paintedTo, span.from));
      const { style, name } = span;
      parts.push({ text: program.source.slice(span.from, span.to), style, name });
      paintedTo = span.to;
    }
    if (paintedTo < to) parts.push(program.source.slice(paintedTo, to));
    return parts;
  }

  return { paint: sourceParts, nameOccurrencesOf };
}

/** Those of ranges in order, which do not overlap, that reach into another one. */
function rangesOverlapping<T extends { from: number; to: number }>(ranges: T[], from: number, to: number): T[] {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle].to <= from) low = middle + 1;
    else high = middle;
  }
  const within = [];
  for (let k = low; k < ranges.length && ranges[k].from < to; k++) within.push(ranges[k]);
  return within;
}
