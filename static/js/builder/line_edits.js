/** Changes of a program, line by line, and the same as changes of its text. */

/** @typedef {{from: number, to: number, lines: string[]}} LineEdit   the lines from `from` up to `to` become these */
/** @typedef {{from: number, to: number, insert: string}} Change   of the text, as the editor takes it */

/** The lines after edits that do not overlap. @param {string[]} lines @param {LineEdit[]} edits @returns {string[]} */
export function applyEdits(lines, edits) {
  const linesAfter = [...lines];
  for (const edit of mergedEdits(edits).reverse()) linesAfter.splice(edit.from, edit.to - edit.from, ...edit.lines);
  return linesAfter;
}

/** @type {WeakMap<string[], number[]>} */
const startsOfLines = new WeakMap();

/** Where each line begins in the text, and the end of all of them. @param {string[]} lines that nobody changes @returns {number[]} */
export function lineStarts(lines) {
  const cachedStarts = startsOfLines.get(lines);
  if (cachedStarts) return cachedStarts;
  const starts = [0];
  for (const line of lines) starts.push(starts[starts.length - 1] + line.length + 1);
  startsOfLines.set(lines, starts);
  return starts;
}

/** @param {string[]} lines @param {LineEdit[]} edits that do not overlap @returns {Change[]} in order */
export function textChanges(lines, edits) {
  const starts = lineStarts(lines);
  const length = starts[lines.length] - 1;
  return mergedEdits(edits).map((edit) => {
    if (edit.to < lines.length)
      return { from: starts[edit.from], to: starts[edit.to], insert: edit.lines.map((line) => `${line}\n`).join("") };
    if (edit.from === 0) return { from: 0, to: length, insert: edit.lines.join("\n") };
    return { from: starts[edit.from] - 1, to: length, insert: edit.lines.map((line) => `\n${line}`).join("") };
  });
}

/** Edits at one place become one. @param {LineEdit[]} edits */
function mergedEdits(edits) {
  /** @type {LineEdit[]} */
  const merged = [];
  for (const edit of [...edits].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const previous = merged.at(-1);
    if (previous && previous.to === edit.from && previous.to === previous.from)
      merged[merged.length - 1] = { from: previous.from, to: edit.to, lines: [...previous.lines, ...edit.lines] };
    else if (previous && previous.to === edit.from && edit.to === edit.from)
      merged[merged.length - 1] = { ...previous, lines: [...previous.lines, ...edit.lines] };
    else merged.push(edit);
  }
  return merged;
}

/** A block in another place's indentation; lines that a string goes over stay as they are.
 * @param {string[]} lines @param {string} oldIndent what its first line begins with @param {string} newIndent
 * @param {(k: number) => boolean} isInString whether the k-th line begins within a string */
export function reindent(lines, oldIndent, newIndent, isInString) {
  if (oldIndent === newIndent) return lines;
  return lines.map((line, k) => {
    if (isInString(k) || !line.startsWith(oldIndent) || !line.trim()) return line;
    return newIndent + line.slice(oldIndent.length);
  });
}
