/** The page of the course and that of a lesson: what their reader has done, from the browser's storage. */

import { isStorageBlocked, lessonOf, onOtherTab, readCourse, scoreOf, writeCourse } from "./lesson/progress.js";

/** @param {HTMLElement} host the page's main element */
export function startCoursePage(host) {
  const sum = host.querySelector("#course-sum");
  const clear = /** @type {HTMLButtonElement | null} */ (host.querySelector("#course-clear"));

  function render() {
    const course = readCourse();
    const lessonName = host.dataset.lesson;
    if (lessonName) {
      const { programs, question } = lessonOf(course, lessonName);
      for (const [name, item] of itemsBy("program")) {
        const done = Object.hasOwn(programs, name) ? programs[name] : null;
        showMarks(item, done ? [{ programs: { [name]: done }, question }] : [], name ? null : question);
        const mark = /** @type {HTMLElement | null} */ (item.querySelector("[data-done]"));
        if (mark) mark.hidden = !done?.isDone;
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
    if (sum instanceof HTMLElement && isBegun)
      sum.textContent = fillHoles(sum.dataset.form, { lessons: answered, all: progress.length, right, of });
    if (clear) clear.hidden = !isBegun;
  }

  /** @param {"program" | "lesson"} kind @returns {[string, HTMLElement][]} */
  function itemsBy(kind) {
    const items = /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll(`li[data-${kind}]`));
    return [...items].map((item) => [item.dataset[kind] ?? "", item]);
  }

  clear?.addEventListener("click", () => {
    writeCourse({});
    render();
    if (sum instanceof HTMLElement) {
      sum.textContent = sum.dataset.cleared ?? "";
      sum.tabIndex = -1;
      sum.focus(); // the button that had it is gone
    }
  });
  onOtherTab(render);
  addEventListener("pageshow", render); // from the browser's own cache, with what was done since
  render();
  if (sum instanceof HTMLElement && isStorageBlocked()) sum.textContent = sum.dataset.notKept ?? "";
}

/** @param {HTMLElement} item @param {import("./lesson/progress.js").LessonProgress[]} lessons that its score is of
 * @param {import("./lesson/progress.js").QuestionProgress | null} question */
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

/** @param {string | undefined} form @param {Record<string, number>} facts */
function fillHoles(form = "", facts) {
  return form.replace(/\{(\w+)\}/g, (_, name) => String(facts[name]));
}
