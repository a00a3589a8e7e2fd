/** The sentences of a page of the server's, and of its findings: in the reader's language alone, each a file of its own. */

import { loadSentences } from "./sentences.js";

/** @typedef {() => Promise<{default: Record<string, string>}>} Load */

/** @type {Record<string, Load>} */
const SENTENCES = {
  en: () => import("../locales/en.json", { with: { type: "json" } }),
  zh: () => import("../locales/zh.json", { with: { type: "json" } }),
};
/** @type {Record<string, Load>} */
const FINDINGS = {
  en: () => import("../locales/findings.en.json", { with: { type: "json" } }),
  zh: () => import("../locales/findings.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, Load>} */
const LIVE = {
  en: () => import("../locales/live.en.json", { with: { type: "json" } }),
  zh: () => import("../locales/live.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, Load>} */
const PREDICT = {
  en: () => import("../locales/predict.en.json", { with: { type: "json" } }),
  zh: () => import("../locales/predict.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, Load>} */
const COURSE = {
  en: () => import("../locales/course.en.json", { with: { type: "json" } }),
  zh: () => import("../locales/course.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, Load>} */
const SERIES = {
  en: () => import("../locales/series.en.json", { with: { type: "json" } }),
  zh: () => import("../locales/series.zh.json", { with: { type: "json" } }),
};

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} English where the language is not known */
export const loadLocale = (language) => loadSentences(SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the findings */
export const loadFindingLocale = (language) => loadSentences(FINDINGS, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of what the stage's foot says while typing */
export const loadLiveLocale = (language) => loadSentences(LIVE, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of predict mode */
export const loadPredictLocale = (language) => loadSentences(PREDICT, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the course */
export const loadCourseLocale = (language) => loadSentences(COURSE, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the page on which a series is made */
export const loadSeriesLocale = (language) => loadSentences(SERIES, language);
