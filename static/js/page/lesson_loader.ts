/** The lesson that a page's program belongs to: its script and its sentences are fetched where there is one. */

import { loadCourseLocale } from "../words/page_locale.ts";
import type * as lessonModule from "../lesson/lesson.ts";
import type { Locale } from "../words/sentences.ts";

type StartLessonArguments = Parameters<typeof lessonModule.startLesson>;

/** `host` is null where the program belongs to no lesson. */
export async function startLessonOf(
  host: HTMLElement | null,
  store: StartLessonArguments[1],
  say: Locale["say"],
  program: StartLessonArguments[3],
) {
  if (!host) return;
  const { at, programs } = JSON.parse(host.dataset.lesson ?? "{}");
  // What stands in a chip may be the answer: none is shown from the beginning, until the question is answered.
  document.body.classList.toggle("question-open", at === programs.length);
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
