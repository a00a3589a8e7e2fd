/** The sentences of findings, fixes and their outcomes, by key. */

import en from "../../locales/findings.en.json" with { type: "json" };
import zh from "../../locales/findings.zh.json" with { type: "json" };
import { createLocale } from "../words/sentences.js";

/** @type {(language: string) => import("../words/sentences.js").Locale} */
export const findingLocale = createLocale({ en, zh });
