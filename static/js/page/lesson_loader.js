/** The lesson that a page's program belongs to: its script and its sentences are fetched where there is one. */

import { loadCourseLocale } from "../words/page_locale.js";

/** @typedef {Parameters<typeof import("../lesson/lesson.js").startLesson>} Arguments */

/** @param {HTMLElement | null} host null where the program belongs to none @param {Arguments[1]} store
 * @param {import("../words/locale.js").Locale["say"]} say @param {Arguments[3]} program */
export async function startLessonOf(host, store, say, program) {
  if (!host) return;
  try {
    const [{ startLesson }, { say: own }] = await Promise.all([
      import("../lesson/lesson.js"),
      loadCourseLocale(document.documentElement.lang),
    ]);
    startLesson(host, store, { page: say, own }, program);
  } catch {
    store.dispatch({ type: "problemFound", problem: { key: "error_network" } });
  }
}
