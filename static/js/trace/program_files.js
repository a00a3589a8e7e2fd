/** What lines are called: where the program that is shown has several files, by file and line. */

/** @typedef {import("./wire.js").ProgramFile} ProgramFile */

/** @type {ProgramFile[]} of the program that is shown; empty for a single text */
let files = [];

/** Lines are called by these files from here on. @param {{files?: ProgramFile[]}} program that is shown */
export function setProgramFiles(program) {
  files = program.files ?? [];
}

/** The file that has a line of the source, and its number there; null where the program is a single text.
 * @param {number} line @returns {{name: string, line: number} | null} */
export function fileLineOf(line) {
  const file = files.find(({ first_line: first, last_line: last }) => first <= line && line <= last);
  return file ? { name: file.name, line: line - file.first_line + 1 } : null;
}

/** A line as short as it can be told: `12`, or `model.py:12`. @param {number} line @returns {string} */
export function shortLineName(line) {
  const fileLine = fileLineOf(line);
  return fileLine ? `${fileLine.name}:${fileLine.line}` : String(line);
}

/** The class of an element that shows `shortLineName` in a column: a file's name needs a row to itself.
 * @param {string} className of a number @param {number} line */
export function lineNameClass(className, line) {
  return fileLineOf(line) ? `${className} in-file` : className;
}

/** A line under a picture's label: `line 12`, or `model.py:12`. @param {string} prefix "line" in the reader's language
 * @param {number | null | undefined} line */
export function lineLabel(prefix, line) {
  if (line == null) return `${prefix} ?`;
  return fileLineOf(line) ? shortLineName(line) : `${prefix} ${line}`;
}
