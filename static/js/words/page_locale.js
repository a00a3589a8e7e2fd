/** The sentences of a page of the server's, and of its findings: in the reader's language alone, each a file of its own. */

import { loadSentences } from "./sentences.js";

/** @typedef {() => Promise<{default: Record<string, string>}>} LoadSentences */

/** @type {Record<string, LoadSentences>} */
const SENTENCES = {
  en: () => import("../../locales/en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/zh.json", { with: { type: "json" } }),
};
/** @type {Record<string, LoadSentences>} */
const FINDING_SENTENCES = {
  en: () => import("../../locales/findings.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/findings.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, LoadSentences>} */
const LIVE_SENTENCES = {
  en: () => import("../../locales/live.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/live.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, LoadSentences>} */
const PREDICT_SENTENCES = {
  en: () => import("../../locales/predict.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/predict.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, LoadSentences>} */
const COURSE_SENTENCES = {
  en: () => import("../../locales/course.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/course.zh.json", { with: { type: "json" } }),
};

/** @type {Record<string, LoadSentences>} */
const SERIES_SENTENCES = {
  en: () => import("../../locales/series.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/series.zh.json", { with: { type: "json" } }),
};

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} English where the language is not known */
export const loadLocale = (language) => loadSentences(SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the findings */
export const loadFindingLocale = (language) => loadSentences(FINDING_SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of what the stage's foot says while typing */
export const loadLiveLocale = (language) => loadSentences(LIVE_SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of predict mode */
export const loadPredictLocale = (language) => loadSentences(PREDICT_SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the course */
export const loadCourseLocale = (language) => loadSentences(COURSE_SENTENCES, language);

/** @param {string} language @returns {Promise<import("./sentences.js").Locale>} of the page on which a series is made */
export const loadSeriesLocale = (language) => loadSentences(SERIES_SENTENCES, language);
