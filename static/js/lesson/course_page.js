/** The page of the course and that of a lesson: what their reader has done, from the browser's storage. */

import { isStorageBlocked, lessonOf, onOtherTab, readCourse, scoreOf, writeCourse } from "./progress.js";

/** @param {HTMLElement} host the page's main element */
export function startCoursePage(host) {
  const summary = host.querySelector("#course-sum");
  const clearButton = /** @type {HTMLButtonElement | null} */ (host.querySelector("#course-clear"));

  function render() {
    const course = readCourse();
    const lessonName = host.dataset.lesson;
    if (lessonName) {
      const { programs, question } = lessonOf(course, lessonName);
      for (const [name, item] of itemsBy("program")) {
        const programProgress = Object.hasOwn(programs, name) ? programs[name] : null;
        showMarks(
          item,
          programProgress ? [{ programs: { [name]: programProgress }, question }] : [],
          name ? null : question,
        );
        const mark = /** @type {HTMLElement | null} */ (item.querySelector("[data-done]"));
        if (mark) mark.hidden = !programProgress?.isDone;
      }
      return;
    }
    const progress = itemsBy("lesson").map(([name, item]) => {
      const lesson = lessonOf(course, name);
      showMarks(item, [lesson], lesson.question);
      return lesson;
    });
    const { right, of, answered } = scoreOf(progress);
    const isBegun = Object.keys(course).length > 0;
    if (summary instanceof HTMLElement && isBegun)
      summary.textContent = fillHoles(summary.dataset.form, { lessons: answered, all: progress.length, right, of });
    if (clearButton) clearButton.hidden = !isBegun;
  }

  /** @param {"program" | "lesson"} kind @returns {[string, HTMLElement][]} */
  function itemsBy(kind) {
    const items = /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll(`li[data-${kind}]`));
    return [...items].map((item) => [item.dataset[kind] ?? "", item]);
  }

  clearButton?.addEventListener("click", () => {
    writeCourse({});
    render();
    if (summary instanceof HTMLElement) {
      summary.textContent = summary.dataset.cleared ?? "";
      summary.tabIndex = -1;
      summary.focus(); // the button that had it is gone
    }
  });
  onOtherTab(render);
  addEventListener("pageshow", render); // from the browser's own cache, with what was done since
  render();
  if (summary instanceof HTMLElement && isStorageBlocked()) summary.textContent = summary.dataset.notKept ?? "";
}

/** @param {HTMLElement} item @param {import("./progress.js").LessonProgress[]} lessons that its score is of
 * @param {import("./progress.js").QuestionProgress | null} question */
function showMarks(item, lessons, question) {
  const score = /** @type {HTMLElement | null} */ (item.querySelector("[data-score]"));
  const { right, of } = scoreOf(lessons);
  if (score) {
    score.hidden = of === 0;
    score.textContent = fillHoles(score.dataset.score, { right, of });
  }
  const mark = /** @type {HTMLElement | null} */ (item.querySelector("[data-question]"));
  if (!mark || !question) return;
  mark.hidden = !question.isRight;
  mark.textContent = (question.isSeen ? mark.dataset.questionSeen : mark.dataset.question) ?? "";
}

/** @param {string | undefined} template @param {Record<string, number>} values */
function fillHoles(template = "", values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
