/** The page's sentences by key in the reader's language; those of findings come with the findings. */

import en from "../../locales/en.json" with { type: "json" };
import zh from "../../locales/zh.json" with { type: "json" };
import { createLocale } from "./sentences.js";

/** @typedef {import("./sentences.js").Locale} Locale */

/** @type {(language: string) => Locale} */
export const locale = createLocale({ en, zh });
