/**
 * The sentences of a page of the server's, and of its findings: in the reader's language alone, each a file of its own.
 */

import { loadSentencesOfLanguage, type Locale } from "./sentences.ts";

type SentencesImport = () => Promise<{ default: Record<string, string> }>;

const PAGE_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/zh.json", { with: { type: "json" } }),
};
const FINDING_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/findings.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/findings.zh.json", { with: { type: "json" } }),
};

const LIVE_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/live.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/live.zh.json", { with: { type: "json" } }),
};

const PREDICT_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/predict.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/predict.zh.json", { with: { type: "json" } }),
};

const COURSE_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/course.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/course.zh.json", { with: { type: "json" } }),
};

const SERIES_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/series.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/series.zh.json", { with: { type: "json" } }),
};

const PASTE_SENTENCES: Record<string, SentencesImport> = {
  en: () => import("../../locales/paste.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/paste.zh.json", { with: { type: "json" } }),
};

/** English where the language is not known. */
export const loadLocale = (language: string): Promise<Locale> => loadSentencesOfLanguage(PAGE_SENTENCES, language);

export const loadFindingsLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(FINDING_SENTENCES, language);

/** The sentences of what the stage's foot says while typing. */
export const loadLiveLocale = (language: string): Promise<Locale> => loadSentencesOfLanguage(LIVE_SENTENCES, language);

export const loadPredictLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(PREDICT_SENTENCES, language);

export const loadCourseLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(COURSE_SENTENCES, language);

/** The sentences of the page on which a series is made. */
export const loadSeriesLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(SERIES_SENTENCES, language);

/** The sentences of the first answer to a text that is no program. */
export const loadPasteLocale = (language: string): Promise<Locale> =>
  loadSentencesOfLanguage(PASTE_SENTENCES, language);
