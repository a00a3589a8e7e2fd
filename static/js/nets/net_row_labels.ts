/** What the rows of a net are called, and what they say of their code. */

import { textOfStatement } from "../syntax/statement_text.ts";
import { textWidth } from "../layout/text/metrics.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { NetRow } from "./net_rows.ts";
import type { Translate } from "../words/sentences.ts";

/** Pixels. */
const NAME_SIZE = 13;
/** Between the rows that a fold holds. */
const FOLD_SEPARATOR = " · ";

/** The names of a row, as it shows them. */
export function netRowLabel({ kind, callSites }: Pick<NetRow, "kind" | "callSites">): string {
  const [first, last] = [callSites[0], callSites[callSites.length - 1]];
  if (kind === "repeat") return `${first.name}–${withoutCommonPrefix(first.name, last.name)}`;
  if (kind === "lines") return [...new Set(callSites.flatMap(({ name }) => name.split(", ")))].join(", ");
  if (kind === "fold") return [...new Set(callSites.map(({ name }) => name))].join(FOLD_SEPARATOR);
  return first.name;
}

/**
 * A row's name in so many pixels: of several the first ones and the last. Code may end in "…"; the name of a module is
 * never shortened, and may be wider.
 */
export function netRowNamesThatFit(name: string, { kind }: Pick<NetRow, "kind">, room: number): string {
  const between = kind === "fold" ? FOLD_SEPARATOR : ", ";
  const parts = name.split(between);
  const names = kind === "callSite" && parts.some(isCode) ? [name] : parts;
  const fits = (text: string) => textWidth(text, NAME_SIZE) <= room;
  if (fits(name)) return name;
  const last = names.pop() ?? "";
  if (!names.length) return isCode(last) ? fitText(last, room, NAME_SIZE) || last : last;
  while (names.length > 1 && !fits(`${names.join(between)} … ${last}`)) names.pop();
  const before = `${names.join(between)} … `;
  if (isCode(last)) return (before + fitText(last, room - textWidth(before, NAME_SIZE), NAME_SIZE)).trimEnd();
  const after = ` … ${last}`;
  const first = names[0];
  const shownFirst = isCode(first)
    ? fitText(first, room - textWidth(after, NAME_SIZE), NAME_SIZE).replace(/…$/, "")
    : first;
  return (names.length === 1 ? shownFirst.trimEnd() : names.join(between)) + after;
}

/** A statement's own words, not the path of a module. */
const isCode = (name: string) => /[^\w.]/.test(name);

/**
 * A path in so many pixels: whole where it fits, else without parts in its middle, for paths differ at their ends.
 */
export function pathThatFits(path: string, room: number, size: number): string {
  if (textWidth(path, size) <= room) return path;
  const parts = path.split(".");
  const first = parts.shift() ?? "";
  while (parts.length > 1) {
    parts.shift();
    const text = `${first}.….${parts.join(".")}`;
    if (textWidth(text, size) <= room) return text;
  }
  return fitText(path, room, size);
}

/** Of the second of two paths what comes after the parts that they share. */
function withoutCommonPrefix(one: string, other: string) {
  const [parts, others] = [one.split("."), other.split(".")];
  const at = others.findIndex((part, k) => part !== parts[k]);
  return others.slice(Math.max(0, at)).join(".");
}

/** What a call site's statement computes, on one line. */
export function codeOfCallSite({ opened }: NetFacts, { invocations, line }: CallSite, lines: string[]): string {
  const [{ stmt }] = invocations;
  return codeText((stmt === null ? "" : textOfStatement(opened.trace.program, stmt)) || (lines[line - 1] ?? ""));
}

/** What is right of a line's assignment. */
function codeText(line: string) {
  const text = line.split("#")[0].trim();
  const at = text.search(/(?<![=!<>+\-*/@|&%])=(?!=)/);
  return (
    at >= 0 && /^[\w.[\], *]+$/.test(text.slice(0, at)) ? text.slice(at + 1) : text.replace(/^return\b/, "")
  ).trim();
}

/** A text cut to so many pixels; empty where nothing of it is readable. */
export function fitText(text: string, room: number, size: number) {
  if (textWidth(text, size) <= room) return text;
  const characters = Array.from(text);
  const fits = (count: number) => textWidth(`${characters.slice(0, count).join("")}…`, size) <= room;
  let [low, high] = [0, Math.min(characters.length, Math.ceil(room))]; // no letter is narrower than a pixel
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low > 2 ? `${characters.slice(0, low).join("").trimEnd()}…` : "";
}

/** The lines of the program that call sites are on. */
export function linesText(callSites: CallSite[], say: Translate) {
  const lines = callSites.map(({ line }) => line);
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  return first === last ? say("net_line", { line: first }) : say("net_lines", { first, last });
}
