/**
 * An article's text that its reader edits as a program: its outputs stay beside the statements that stay as they were.
 */

import { commonLines } from "../trace/steps/step_after_edit.ts";
import type { Trace } from "../trace/wire.ts";

/** What may stand before a line of a program: a prompt, the number of a line, blanks. */
const PROMPT = /^\s*(?:>>>|\.\.\.+:?|In \[\d*\]:|\d+[.:|)]?)?\s?$/;
/** Where less of the program stays, it is another one. */
const MIN_SHARE_OF_SAME_LINES = 0.5;

/**
 * The article with its program edited to `text`; null where there was none, or none that can be edited. Only its server
 * can say whether it has this program: prompts are told by guesses.
 */
export function applyEditToArticle({ source, pasted, lines: origins }: Trace["program"], text: string): string | null {
  if (!pasted || !origins?.length) return null;
  const { head, tail, before } = commonLines(source, text);
  if (head + tail < before * MIN_SHARE_OF_SAME_LINES) return null;
  const article = pasted
    .replace(/^\ufeff/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const program = source.split("\n");
  const promptAt = (k: number) => promptBefore(program[k], article[(origins[k] ?? 0) - 1]);
  const changed = before - tail - head;
  const prompts = Array.from({ length: changed }, (_, k) => promptAt(head + k));
  const promptOfLineBefore = head > 0 ? promptAt(head - 1) : "";
  if (prompts.includes(null) || promptOfLineBefore === null) return null;
  const lines = text.split("\n").slice(head, text.split("\n").length - tail);
  const lastPrompt = prompts.at(-1) ?? promptOfLineBefore;
  const edited = lines.map((line, k) => (prompts[k] ?? promptOfNewLine(lastPrompt, line)) + line);
  // what a transcript has between a changed line and the next one was printed by what stood there before
  const next = origins.slice(head + changed).find((origin) => origin !== null);
  const lastOrigin = origins[head + changed - 1] ?? 0;
  const end = lastPrompt.trim() ? (next ? next - 1 : article.length) : lastOrigin;
  const start = changed ? (origins[head] ?? 1) - 1 : end;
  return article.toSpliced(start, end - start, ...edited).join("\n");
}

/** What stands before a line of the program in the article; null where the article does not have the line like that. */
function promptBefore(line: string, written: string | undefined): string | null {
  if (!written?.endsWith(line)) return null;
  const prompt = written.slice(0, written.length - line.length);
  return PROMPT.test(prompt) ? prompt : null;
}

/** `prompt` is that of the line before. */
function promptOfNewLine(prompt: string, line: string) {
  const isContinued = /^\s|^$/.test(line);
  if (/In \[|\.\.\.:/.test(prompt)) return isContinued ? "   ...: " : "In [1]: ";
  if (/>>>|\.\.\./.test(prompt)) return isContinued ? "... " : ">>> ";
  return /\d/.test(prompt) ? "" : prompt;
}
