/** Sentences by key in the reader's language, their holes filled with facts. */

import en from "../locales/en.json" with { type: "json" };
import zh from "../locales/zh.json" with { type: "json" };

/** @type {Record<string, Record<string, string>>} */
const SENTENCES = { en, zh };

/** @typedef {{language: string, say: (key: string, args?: Record<string, unknown>) => string}} Locale */

/** @param {string} language @returns {Locale} */
export function locale(language) {
  const known = language in SENTENCES ? language : "en";
  return { language: known, say: (key, args = {}) => format(SENTENCES[known][key] ?? SENTENCES.en[key] ?? key, args) };
}

/**
 * Fills `{name}`; `{n|one cell|{n} cells}` chooses by number.
 * @param {string} sentence @param {Record<string, unknown>} args
 */
export function format(sentence, args) {
  const chosen = sentence.replace(
    /\{(\w+)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\}/g,
    (_, name, one, many) => (Number(args[name]) === 1 ? one : many),
  );
  return chosen.replace(/\{(\w+)\}/g, (hole, name) => (name in args ? String(args[name]) : hole));
}
