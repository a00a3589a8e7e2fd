/** A program's lines in the editor's colours, where there is no editor: its grammar alone is a tenth of it. */

import { highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/python";
import { pythonHighlighter } from "./python_highlighter.ts";

/** of a line: its text, and the class of its colour, empty for none */
export interface HighlightedText {
  text: string;
  style: string;
}

/** The parts of each line. */
export function highlightPython(source: string): HighlightedText[][] {
  const lines: HighlightedText[][] = [[]];
  highlightCode(
    source,
    parser.parse(source),
    pythonHighlighter,
    (text, style) => lines[lines.length - 1].push({ text, style }),
    () => lines.push([]),
  );
  return lines;
}
