/** What a reader has answered, kept in the browser for each program. */

import { readPreference, writePreference } from "../preferences.js";

/** @typedef {import("./mode.js").Answer} Answer */
/** @typedef {{answers: Answer[], reached: number, of: number, isDone: boolean, best: number}} Progress   of: how many questions; best: right answers of the best time through */

const KEY = "gradbox-predict";
const MAX_PROGRAMS = 60;

/** A short name for a program's text. @param {string} text @returns {string} */
export function programKey(text) {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    a = Math.imul(a ^ code, 0x01000193) >>> 0;
    b = Math.imul(b + code, 0x85ebca6b) >>> 0;
    b ^= b >>> 13;
  }
  return `${a.toString(36)}${(b >>> 0).toString(36)}`;
}

/** @returns {Record<string, Progress>} the program that was answered last comes last */
function readAll() {
  try {
    const all = JSON.parse(readPreference(KEY) ?? "{}");
    return all && typeof all === "object" && !Array.isArray(all) ? all : {};
  } catch {
    return {};
  }
}

/** @param {string} source @returns {Progress | null} null where nothing was answered */
export function readProgress(source) {
  const found = readAll()[programKey(source)];
  const isWhole =
    found && Array.isArray(found.answers) && Number.isInteger(found.reached) && Number.isInteger(found.best);
  return isWhole ? found : null;
}

/** @param {string} source @param {Progress} progress */
export function writeProgress(source, progress) {
  const all = readAll();
  const key = programKey(source);
  delete all[key];
  const entries = Object.entries(all).slice(1 - MAX_PROGRAMS);
  writePreference(KEY, JSON.stringify(Object.fromEntries([...entries, [key, progress]])));
}
