/** The sentences of predict mode, by key. */

import en from "../../locales/predict.en.json" with { type: "json" };
import zh from "../../locales/predict.zh.json" with { type: "json" };
import { createLocale } from "../words/sentences.js";

/** @type {(language: string) => import("../words/sentences.js").Locale} */
export const predictLocale = createLocale({ en, zh });
