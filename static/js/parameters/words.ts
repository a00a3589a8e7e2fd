/** The sentences of the table of parameters and of the loom by module; they come with the scripts that say them. */

import en from "../../locales/parameters.en.json" with { type: "json" };
import zh from "../../locales/parameters.zh.json" with { type: "json" };
import { createLocale, type Locale } from "../words/sentences.ts";

export const netsLocale: (language: string) => Locale = createLocale({ en, zh });
