/** Changes of a program, line by line, and the same as changes of its text. */

/** the lines from `from` up to `to` become these */
export interface LineEdit {
  from: number;
  to: number;
  lines: string[];
}

/** of the text, as the editor takes it */
export interface TextChange {
  from: number;
  to: number;
  insert: string;
}

/** The lines after edits that do not overlap. */
export function applyLineEdits(lines: string[], edits: LineEdit[]): string[] {
  const linesAfter = [...lines];
  for (const edit of mergeEditsAtOnePlace(edits).reverse())
    linesAfter.splice(edit.from, edit.to - edit.from, ...edit.lines);
  return linesAfter;
}

const lineStartsCache = new WeakMap<string[], number[]>();

/**
 * Where each line begins in the text, and the end of all of them. The result is cached for the array, which nobody may
 * change.
 */
export function offsetsOfLineStarts(lines: string[]): number[] {
  const cachedStarts = lineStartsCache.get(lines);
  if (cachedStarts) return cachedStarts;
  const starts = [0];
  for (const line of lines) starts.push(starts[starts.length - 1] + line.length + 1);
  lineStartsCache.set(lines, starts);
  return starts;
}

/** The changes in order; edits do not overlap. */
export function textChanges(lines: string[], edits: LineEdit[]): TextChange[] {
  const starts = offsetsOfLineStarts(lines);
  const length = starts[lines.length] - 1;
  return mergeEditsAtOnePlace(edits).map((edit) => {
    if (edit.to < lines.length)
      return { from: starts[edit.from], to: starts[edit.to], insert: edit.lines.map((line) => `${line}\n`).join("") };
    if (edit.from === 0) return { from: 0, to: length, insert: edit.lines.join("\n") };
    return { from: starts[edit.from] - 1, to: length, insert: edit.lines.map((line) => `\n${line}`).join("") };
  });
}

/** Edits at one place become one. */
function mergeEditsAtOnePlace(edits: LineEdit[]) {
  const merged: LineEdit[] = [];
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

/**
 * A block in another place's indentation; lines that a string goes over stay as they are. `oldIndent` is what its first
 * line begins with; `isInString` says whether the k-th line begins within a string.
 */
export function reindentBlock(
  lines: string[],
  oldIndent: string,
  newIndent: string,
  isInString: (k: number) => boolean,
) {
  if (oldIndent === newIndent) return lines;
  return lines.map((line, k) => {
    if (isInString(k) || !line.startsWith(oldIndent) || !line.trim()) return line;
    return newIndent + line.slice(oldIndent.length);
  });
}
