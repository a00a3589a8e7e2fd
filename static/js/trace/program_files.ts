/** What lines are called: where the program that is shown has several files, by file and line. */

import type { ProgramFile } from "./wire.ts";

/** of the program that is shown; empty for a single text */
let programFiles: ProgramFile[] = [];

/** Lines are called by the files of this program from here on. */
export function setProgramFiles(program: { files?: ProgramFile[] }) {
  programFiles = program.files ?? [];
}

/** The file that has a line of the source, and its number there; null where the program is a single text. */
export function fileAndLineOf(line: number): { name: string; line: number } | null {
  const file = programFiles.find(({ first_line: first, last_line: last }) => first <= line && line <= last);
  return file ? { name: file.name, line: line - file.first_line + 1 } : null;
}

/** A line as short as it can be told: `12`, or `model.py:12`. */
export function shortLineName(line: number): string {
  const fileLine = fileAndLineOf(line);
  return fileLine ? `${fileLine.name}:${fileLine.line}` : String(line);
}

/**
 * The class of an element that shows `shortLineName` in a column: a file's name needs a row to itself. `className` is
 * that of a number.
 */
export function lineNameClass(className: string, line: number) {
  return fileAndLineOf(line) ? `${className} in-file` : className;
}

/** A line under a picture's label: `line 12`, or `model.py:12`. `prefix` is "line" in the reader's language. */
export function lineLabel(prefix: string, line: number | null | undefined) {
  if (line == null) return `${prefix} ?`;
  return fileAndLineOf(line) ? shortLineName(line) : `${prefix} ${line}`;
}
