/** The builder's sentences, in the reader's language alone. */

import { createLocale } from "../sentences.js";

/** @type {Record<string, () => Promise<{default: Record<string, string>}>>} */
const SENTENCES = {
  en: () => import("../../locales/builder.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/builder.zh.json", { with: { type: "json" } }),
};

/** @param {string} language @returns {Promise<import("../sentences.js").Locale>} English where the language is not known */
export async function loadBuilderLocale(language) {
  const known = language in SENTENCES ? language : "en";
  return createLocale({ [known]: (await SENTENCES[known]()).default })(known);
}
