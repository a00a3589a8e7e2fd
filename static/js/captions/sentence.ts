/** A note as a sentence in parts: plain words, names of the program, and the words that say what changed. */

import type { Translate } from "../words/sentences.ts";
import type { CaptionNote, CaptionArgument } from "./note.ts";

/** kind: `name` is written as code, `changed` says what is other than before the step */
export interface SentencePart {
  kind: "plain" | "name" | "changed" | "changed name";
  text: string;
}

/**
 * In a locale: `` ` `` around code, `⟦ ⟧` around what changed. In arguments they are characters like any other, so they
 * travel as private ones.
 */
const ESCAPES: [string, string][] = [
  ["`", "\uE000"],
  ["⟦", "\uE001"],
  ["⟧", "\uE002"],
];
/** As many things as a sentence lists. */
const MAX_LISTED = 3;
const HAN = /\p{Script=Han}/u;
const LATIN = /[\p{Script=Latin}\p{N}\])_]/u;

export function sentenceParts({ key, args }: Pick<CaptionNote, "key" | "args">, say: Translate): SentencePart[] {
  return withSpacesAroundLatin(parseParts(markedSentence({ key, args }, say)));
}

/** The parts of a sentence with names in backticks. */
export function markedParts(marked: string): SentencePart[] {
  return parseParts(marked);
}

export function partsText(parts: SentencePart[]) {
  return parts.map(({ text }) => text).join("");
}

function markedSentence({ key, args }: Pick<CaptionNote, "key" | "args">, say: Translate): string {
  return say(
    key,
    Object.fromEntries(Object.entries(args).map(([name, argument]) => [name, argumentText(argument, say)])),
  );
}

function argumentText(argument: CaptionArgument, say: Translate): unknown {
  if (Array.isArray(argument)) return listText(argument, say);
  if (argument === null || typeof argument !== "object")
    return typeof argument === "string" ? escapeMarks(argument) : argument;
  if ("name" in argument) return `\`${escapeMarks(argument.name)}\``;
  return markedSentence(argument, say);
}

/** `a`, `b` and `c`; of more than that the first two and how many more. */
function listText(list: CaptionArgument[], say: Translate): string {
  const texts = list.map((item) => String(argumentText(item, say)));
  if (texts.length > MAX_LISTED) {
    const more = texts.length - MAX_LISTED + 1;
    texts.splice(MAX_LISTED - 1, more, say("list_more", { n: more }));
  }
  if (texts.length < 2) return texts.join("");
  return texts.slice(0, -1).join(say("list_separator")) + say("list_last") + texts.at(-1);
}

function escapeMarks(text: string) {
  return ESCAPES.reduce((escaped, [mark, stand]) => escaped.replaceAll(mark, stand), text);
}

/** Between a Chinese character and a name or a number stands a blank, in whichever order a sentence's holes bring them
 * together. */
function withSpacesAroundLatin(parts: SentencePart[]): SentencePart[] {
  return parts.map((part, i) => {
    const [last, next] = [part.text.at(-1) ?? "", parts[i + 1]?.text[0] ?? ""];
    const isBoundary = (HAN.test(last) && LATIN.test(next)) || (LATIN.test(last) && HAN.test(next));
    return isBoundary ? { ...part, text: `${part.text} ` } : part;
  });
}

function parseParts(marked: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let isName = false;
  let isChanged = false;
  for (const piece of marked.split(/([`⟦⟧])/)) {
    if (piece === "`") isName = !isName;
    else if (piece === "⟦" || piece === "⟧") isChanged = piece === "⟦";
    else if (piece) {
      const kind = isChanged ? (isName ? "changed name" : "changed") : isName ? "name" : "plain";
      parts.push({ kind, text: ESCAPES.reduce((text, [mark, stand]) => text.replaceAll(stand, mark), piece) });
    }
  }
  return parts;
}
