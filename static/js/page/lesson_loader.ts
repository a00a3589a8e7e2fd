/** The lesson that a page's program belongs to: its script and its sentences are fetched where there is one. */

import { loadCourseLocale } from "../words/page_locale.ts";
import type * as lessonModule from "../lesson/lesson.ts";
import type { Locale } from "../words/sentences.ts";

type StartLessonArguments = Parameters<typeof lessonModule.startLesson>;

/** @param host null where the program belongs to none */
export async function startLessonOf(
  host: HTMLElement | null,
  store: StartLessonArguments[1],
  say: Locale["say"],
  program: StartLessonArguments[3],
) {
  if (!host) return;
  try {
    const [{ startLesson }, { say: own }] = await Promise.all([
      import("../lesson/lesson.ts"),
      loadCourseLocale(document.documentElement.lang),
    ]);
    startLesson(host, store, { page: say, own }, program);
  } catch {
    store.dispatch({ type: "problemFound", problem: { key: "error_network" } });
  }
}
