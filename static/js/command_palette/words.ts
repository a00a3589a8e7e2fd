/** The labels of the commands: in the reader's language, and in English, by which they are found as well. */

import { createLocale, type Locale } from "../words/sentences.ts";

const LABEL_LOADERS: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import("../../locales/commands.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/commands.zh.json", { with: { type: "json" } }),
};

export async function loadCommandLocale(
  language: string,
): Promise<{ say: Locale["say"]; english: Record<string, string> }> {
  const knownLanguage = language in LABEL_LOADERS ? language : "en";
  const [sentences, english] = await Promise.all([LABEL_LOADERS[knownLanguage](), LABEL_LOADERS.en()]);
  return { say: createLocale({ [knownLanguage]: sentences.default })(knownLanguage).say, english: english.default };
}
