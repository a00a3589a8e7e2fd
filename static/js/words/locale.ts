/** The page's sentences by key in the reader's language; those of findings come with the findings. */

import en from "../../locales/en.json" with { type: "json" };
import zh from "../../locales/zh.json" with { type: "json" };
import { createLocale, type Locale } from "./sentences.ts";

export const bundledLocale: (language: string) => Locale = createLocale({ en, zh });
