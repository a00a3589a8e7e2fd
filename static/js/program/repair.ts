/** Repairs as a trace offers them, made in the program and in the text that was pasted. */

import { commonLines, lineAfterEdit } from "../trace/steps/step_after_edit.ts";
import type { Edit, Repair } from "../trace/wire.ts";

interface LineEdit {
  line: number;
  old: string;
  new: string | null;
}

/** Sizes with commas between: `4, 4`. */
export function isShapeText(text: string) {
  return /^\s*[1-9]\d{0,5}(\s*,\s*[1-9]\d{0,5}){0,5}\s*,?\s*$/.test(text);
}

/** The text to run after a repair: the pasted one where it can be made there, for that holds the article's outputs. */
export function textAfterRepair(
  { source, pasted }: { source: string; pasted?: string | null },
  repair: Repair,
  shape: string | null = repair.shape ?? null,
) {
  if (!pasted || !repair.pasted) return textWithRepairEdits(source, repair.edits ?? [], shape);
  return textWithRepairEdits(pasted.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"), repair.pasted, shape);
}

/** The program after a fix. */
export function textAfterFix({ source }: { source: string }, edits: LineEdit[]) {
  return withReplacedLines(source.split("\n"), edits);
}

/**
 * The text to run after a fix of a program whose text in the editor was edited since; null where a line of the fix is
 * another one there.
 */
export function editedTextAfterFix(program: { source: string }, text: string, edits: LineEdit[]) {
  if (text === program.source) return textAfterFix(program, edits);
  const common = commonLines(program.source, text);
  const lines = text.split("\n");
  const movedEdits = edits.map((edit) => ({ ...edit, line: lineAfterEdit(common, edit.line) }));
  return movedEdits.every(({ line, old }) => lines[line - 1] === old) ? withReplacedLines(lines, movedEdits) : null;
}

function withReplacedLines(lines: string[], edits: { line: number; new: string | null }[]) {
  const newTextByLine = new Map(edits.map((edit) => [edit.line, edit.new]));
  return lines.flatMap((line, k) => (newTextByLine.has(k + 1) ? (newTextByLine.get(k + 1) ?? []) : line)).join("\n");
}

function textWithRepairEdits(text: string, edits: Edit[], shape: string | null): string {
  const lines = text.split("\n");
  const sizes = shape?.trim().replace(/\s*,$/, "");
  for (const edit of [...edits].sort((a, b) => b.line - a.line || b.col - a.col)) {
    const inserted = sizes
      ? edit.text.replaceAll("{shape}", sizes).replaceAll("{n}", sizes.split(",")[0].trim())
      : edit.text;
    const head = [...lines[edit.line - 1]].slice(0, edit.col).join("");
    const tail = [...lines[edit.end_line - 1]].slice(edit.end_col).join("");
    lines.splice(edit.line - 1, edit.end_line - edit.line + 1, ...(head + inserted + tail).split("\n"));
  }
  return lines.join("\n");
}
