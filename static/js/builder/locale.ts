/** The builder's sentences, in the reader's language alone. */

import { loadSentencesOfLanguage, type Locale } from "../words/sentences.ts";

const SENTENCE_LOADERS: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import("../../locales/builder.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/builder.zh.json", { with: { type: "json" } }),
};

export const loadBuilderLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(SENTENCE_LOADERS, language);
