/** The page of the course and that of a lesson: what their reader has done, from the browser's storage. */

import {
  isStorageBlocked,
  progressOfLesson,
  onCourseWrittenByOtherTab,
  readCourseProgress,
  scoreOfLessons,
  writeCourseProgress,
  type LessonProgress,
  type QuestionProgress,
} from "./course_progress.ts";

export function startCoursePage(host: HTMLElement) {
  const summary = host.querySelector("#course-sum");
  const clearButton = host.querySelector("#course-clear") as HTMLButtonElement | null;

  function render() {
    const course = readCourseProgress();
    const lessonName = host.dataset.lesson;
    if (lessonName) {
      const { programs, question } = progressOfLesson(course, lessonName);
      for (const [name, item] of itemsBy("program")) {
        const programProgress = Object.hasOwn(programs, name) ? programs[name] : null;
        showProgressOfItem(
          item,
          programProgress ? [{ programs: { [name]: programProgress }, question }] : [],
          name ? null : question,
        );
        const mark = item.querySelector("[data-done]") as HTMLElement | null;
        if (mark) mark.hidden = !programProgress?.isDone;
      }
      return;
    }
    const progress = itemsBy("lesson").map(([name, item]) => {
      const lesson = progressOfLesson(course, name);
      showProgressOfItem(item, [lesson], lesson.question);
      return lesson;
    });
    const { right, of, answered } = scoreOfLessons(progress);
    const isBegun = Object.keys(course).length > 0;
    if (summary instanceof HTMLElement && isBegun)
      summary.textContent = fillTemplatePlaceholders(summary.dataset.form, {
        lessons: answered,
        all: progress.length,
        right,
        of,
      });
    if (clearButton) clearButton.hidden = !isBegun;
  }

  function itemsBy(kind: "program" | "lesson"): [string, HTMLElement][] {
    const items = host.querySelectorAll(`li[data-${kind}]`) as NodeListOf<HTMLElement>;
    return [...items].map((item) => [item.dataset[kind] ?? "", item]);
  }

  clearButton?.addEventListener("click", () => {
    writeCourseProgress({});
    render();
    if (summary instanceof HTMLElement) {
      summary.textContent = summary.dataset.cleared ?? "";
      summary.tabIndex = -1;
      summary.focus(); // the button that had it is gone
    }
  });
  onCourseWrittenByOtherTab(render);
  addEventListener("pageshow", render); // from the browser's own cache, with what was done since
  render();
  if (summary instanceof HTMLElement && isStorageBlocked()) summary.textContent = summary.dataset.notKept ?? "";
}

/** `lessons` are those that its score is of. */
function showProgressOfItem(item: HTMLElement, lessons: LessonProgress[], question: QuestionProgress | null) {
  const score = item.querySelector("[data-score]") as HTMLElement | null;
  const { right, of } = scoreOfLessons(lessons);
  if (score) {
    score.hidden = of === 0;
    score.textContent = fillTemplatePlaceholders(score.dataset.score, { right, of });
  }
  const mark = item.querySelector("[data-question]") as HTMLElement | null;
  if (!mark || !question) return;
  mark.hidden = !question.isRight;
  mark.textContent = (question.isSeen ? mark.dataset.questionSeen : mark.dataset.question) ?? "";
}

function fillTemplatePlaceholders(template: string | undefined = "", values: Record<string, number>) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
