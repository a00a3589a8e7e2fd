/** Changes of a program, line by line, and the same as changes of its text. */

/** @typedef {{from: number, to: number, lines: string[]}} LineEdit   the lines from `from` up to `to` become these */
/** @typedef {{from: number, to: number, insert: string}} Change   of the text, as the editor takes it */

/** The lines after edits that do not overlap. @param {string[]} lines @param {LineEdit[]} edits @returns {string[]} */
export function applyEdits(lines, edits) {
  const out = [...lines];
  for (const edit of sortEdits(edits).reverse()) out.splice(edit.from, edit.to - edit.from, ...edit.lines);
  return out;
}

/** @type {WeakMap<string[], number[]>} */
const knownStarts = new WeakMap();

/** Where each line begins in the text, and the end of all of them. @param {string[]} lines that nobody changes @returns {number[]} */
export function lineStarts(lines) {
  const known = knownStarts.get(lines);
  if (known) return known;
  const starts = [0];
  for (const line of lines) starts.push(starts[starts.length - 1] + line.length + 1);
  knownStarts.set(lines, starts);
  return starts;
}

/** @param {string[]} lines @param {LineEdit[]} edits that do not overlap @returns {Change[]} in order */
export function toChanges(lines, edits) {
  const starts = lineStarts(lines);
  const length = starts[lines.length] - 1;
  return sortEdits(edits).map((edit) => {
    if (edit.to < lines.length)
      return { from: starts[edit.from], to: starts[edit.to], insert: edit.lines.map((line) => `${line}\n`).join("") };
    if (edit.from === 0) return { from: 0, to: length, insert: edit.lines.join("\n") };
    return { from: starts[edit.from] - 1, to: length, insert: edit.lines.map((line) => `\n${line}`).join("") };
  });
}

/** Edits at one place become one. @param {LineEdit[]} edits */
function sortEdits(edits) {
  /** @type {LineEdit[]} */
  const out = [];
  for (const edit of [...edits].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const before = out.at(-1);
    if (before && before.to === edit.from && before.to === before.from)
      out[out.length - 1] = { from: before.from, to: edit.to, lines: [...before.lines, ...edit.lines] };
    else if (before && before.to === edit.from && edit.to === edit.from)
      out[out.length - 1] = { ...before, lines: [...before.lines, ...edit.lines] };
    else out.push(edit);
  }
  return out;
}

/** A block in another place's indentation; lines that a string goes over stay as they are.
 * @param {string[]} lines @param {string} from what its first line begins with @param {string} to
 * @param {(k: number) => boolean} isInString whether the k-th line begins within a string */
export function reindent(lines, from, to, isInString) {
  if (from === to) return lines;
  return lines.map((line, k) => {
    if (isInString(k) || !line.startsWith(from) || !line.trim()) return line;
    return to + line.slice(from.length);
  });
}
