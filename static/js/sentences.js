/** Sentences of a language by their keys, with holes that facts fill. */

/** @typedef {{language: string, say: (key: string, args?: Record<string, unknown>) => string}} Locale */

/** A function that gives a language's sentences. @param {Record<string, Record<string, string>>} sentences by language, then key
 * @returns {(language: string) => Locale} English where the language is not known, or lacks a sentence */
export function createLocale(sentences) {
  return (language) => {
    const known = language in sentences ? language : "en";
    return {
      language: known,
      say: (key, args = {}) => format(sentences[known][key] ?? sentences.en?.[key] ?? key, args),
    };
  };
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
