/** The sentences of predict mode, by key. */

import en from "../../locales/predict.en.json" with { type: "json" };
import zh from "../../locales/predict.zh.json" with { type: "json" };
import { createLocale, type Locale } from "../words/sentences.ts";

export const predictLocale: (language: string) => Locale = createLocale({ en, zh });
