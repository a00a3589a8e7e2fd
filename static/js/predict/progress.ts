/** What a reader has answered, kept in the browser for each program. */

import { readPreference, writePreference } from "../browser/preferences.ts";
import type { GivenAnswer } from "../page_state/predict_state.ts";

interface PredictProgress {
  answers: GivenAnswer[];
  reached: number;
  /** how many questions */
  of: number;
  isDone: boolean;
  /** right answers of the best time through */
  best: number;
}

const PREDICT_STORAGE_KEY = "gradbox-predict";
const MAX_STORED_PROGRAMS = 60;

/** A short name for a program's text. */
function programHash(text: string): string {
  let [hashA, hashB] = [0x811c9dc5, 0x1b873593];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    hashA = Math.imul(hashA ^ code, 0x01000193) >>> 0;
    hashB = Math.imul(hashB + code, 0x85ebca6b) >>> 0;
    hashB ^= hashB >>> 13;
  }
  return `${hashA.toString(36)}${(hashB >>> 0).toString(36)}`;
}

/** The program that was answered last comes last. */
function readAllPredictProgress(): Record<string, PredictProgress> {
  try {
    const allProgress = JSON.parse(readPreference(PREDICT_STORAGE_KEY) ?? "{}");
    return allProgress && typeof allProgress === "object" && !Array.isArray(allProgress) ? allProgress : {};
  } catch {
    return {};
  }
}

/** Null where nothing was answered. */
export function readPredictProgress(source: string): PredictProgress | null {
  const saved = readAllPredictProgress()[programHash(source)];
  const isWhole =
    saved && Array.isArray(saved.answers) && Number.isInteger(saved.reached) && Number.isInteger(saved.best);
  return isWhole ? saved : null;
}

export function writePredictProgress(source: string, progress: PredictProgress) {
  const allProgress = readAllPredictProgress();
  const key = programHash(source);
  delete allProgress[key];
  const entries = Object.entries(allProgress).slice(1 - MAX_STORED_PROGRAMS);
  writePreference(PREDICT_STORAGE_KEY, JSON.stringify(Object.fromEntries([...entries, [key, progress]])));
}
