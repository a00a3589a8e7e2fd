/** The labels of the commands: in the reader's language, and in English, by which they are found as well. */

import { createLocale } from "../words/sentences.js";

/** @type {Record<string, () => Promise<{default: Record<string, string>}>>} */
const SENTENCES = {
  en: () => import("../../locales/commands.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/commands.zh.json", { with: { type: "json" } }),
};

/** @param {string} language @returns {Promise<{say: import("../words/sentences.js").Locale["say"], english: Record<string, string>}>} */
export async function loadCommandLocale(language) {
  const knownLanguage = language in SENTENCES ? language : "en";
  const [sentences, english] = await Promise.all([SENTENCES[knownLanguage](), SENTENCES.en()]);
  return { say: createLocale({ [knownLanguage]: sentences.default })(knownLanguage).say, english: english.default };
}
