/** The sentences of findings, fixes and their outcomes, by key. */

import en from "../../locales/findings.en.json" with { type: "json" };
import zh from "../../locales/findings.zh.json" with { type: "json" };
import { createLocale, type Locale } from "../words/sentences.ts";

export const findingLocale: (language: string) => Locale = createLocale({ en, zh });
