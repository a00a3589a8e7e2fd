/** Sentences of a language by their keys, with placeholders that facts fill. */

import { fileAndLineOf } from "../trace/program_files.ts";

/** The sentence of a key in the reader's language, its placeholders filled with the arguments. */
export type Translate = (key: string, args?: Record<string, unknown>) => string;

export interface Locale {
  language: string;
  say: Translate;
}

/**
 * A function that gives a language's sentences; English where the language is not known, or lacks a sentence.
 * `sentences` are by language, then key.
 */
export function createLocale(sentences: Record<string, Record<string, string>>): (language: string) => Locale {
  return (language) => {
    const knownLanguage = language in sentences ? language : "en";
    return {
      language: knownLanguage,
      say: (key, args = {}) => fillPlaceholders(sentences[knownLanguage][key] ?? sentences.en?.[key] ?? key, args),
    };
  };
}

/** The sentences of one language, where each has a file of its own; English where the language is not known. */
export async function loadSentencesOfLanguage(
  files: Record<string, () => Promise<{ default: Record<string, string> }>>,
  language: string,
): Promise<Locale> {
  const knownLanguage = language in files ? language : "en";
  return createLocale({ [knownLanguage]: (await files[knownLanguage]()).default })(knownLanguage);
}

/** A line's placeholder with the words around it in either language, or any placeholder. */
const PLACEHOLDER_PATTERN = /(?:\bon )?([Ll])ine \{(\w+)\}|第 ?\{(\w+)\} ?行|\{(\w+)\}/g;

/** Fills `{name}`; `{n|one cell|{n} cells}` chooses by number. Where the program has several files, a line has its
 * file's name; an empty line is one before the recording. Code within code has no marks of its own. */
export function fillPlaceholders(sentence: string, args: Record<string, unknown>) {
  const pluralChosen = sentence.replace(
    /\{(\w+)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\}/g,
    (_, name, one, many) => (Number(args[name]) === 1 ? one : many),
  );
  return pluralChosen.replace(PLACEHOLDER_PATTERN, (placeholder, letter, english, chinese, plain, holeIndex) => {
    const name = english ?? chinese ?? plain;
    if (!(name in args)) return placeholder;
    if (!plain && args[name] === "") return chinese ? "记录开始之前" : "before the recording";
    const fileLine = plain ? null : fileAndLineOf(Number(args[name]));
    const isWithinCode = pluralChosen.slice(0, holeIndex).split("`").length % 2 === 0;
    const text = isWithinCode ? String(args[name]).replace(/^`([^`]*)`$/, "$1") : String(args[name]);
    if (!fileLine) return placeholder.replace(`{${name}}`, () => text);
    if (chinese)
      return `${/[\u4e00-\u9fff]/.test(pluralChosen[holeIndex - 1] ?? "") ? " " : ""}${fileLine.name} 第 ${fileLine.line} 行`;
    const isLabel = holeIndex === 0 && letter === "l";
    return isLabel
      ? `${fileLine.name}, line ${fileLine.line}`
      : placeholder.replace(`{${name}}`, () => `${fileLine.line} of ${fileLine.name}`);
  });
}
