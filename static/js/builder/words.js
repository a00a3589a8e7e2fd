/** The builder's sentences, in the reader's language alone. */

import { loadSentences } from "../words/sentences.js";

/** @type {Record<string, () => Promise<{default: Record<string, string>}>>} */
const SENTENCES = {
  en: () => import("../../locales/builder.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/builder.zh.json", { with: { type: "json" } }),
};

/** @param {string} language @returns {Promise<import("../words/sentences.js").Locale>} */
export const loadBuilderLocale = (language) => loadSentences(SENTENCES, language);
