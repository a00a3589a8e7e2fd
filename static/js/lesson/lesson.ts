/** The lesson that the workbench's program belongs to: its strip, what has been done of it, and its question. */

import { createOrderStrip } from "../browser/order_strip.ts";
import { isPageProgram } from "../page_state/selectors.ts";
import { scoreOfAnswers } from "../page_state/predict_mode.ts";
import {
  progressOfLesson,
  onCourseWrittenByOtherTab,
  readCourseProgress,
  withProgramProgress,
  writeCourseProgress,
  type ProgramProgress,
} from "./course_progress.ts";
import { startLessonQuestion, type PlaceInCourse } from "./lesson_question.ts";
import type { Action } from "../page_state/actions.ts";
import type { Translate } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

/** The step at which a reader has seen what a program is about: at a line, or at the end where `stop` is null. */
export function stepAtStopLineOrEnd(steps: { line: number }[], stop: number | null) {
  const stopIndex = stop === null ? -1 : steps.findLastIndex(({ line }) => line === stop);
  return stopIndex < 0 ? steps.length - 1 : stopIndex;
}

/** What a reader has done of the program that the page came with; null where another one is shown, or nothing yet. */
function progressOfProgram(state: PageState, stop: number | null): ProgramProgress | null {
  const { predict, opened, step } = state;
  if (!opened?.count || !isPageProgram(state)) return null;
  const { steps } = (predict?.whole ?? opened).trace;
  const { right } = scoreOfAnswers(predict?.answers ?? []);
  const shownStep = predict?.whole ? predict.reached : step;
  const isRead = !predict || (predict.questions !== null && !predict.isTold);
  return {
    right,
    of: predict?.questions?.length ?? 0,
    isDone: isRead && shownStep >= stepAtStopLineOrEnd(steps, stop),
  };
}

interface LessonStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

/** `say` has the page's sentences, and those of the course. `program.edit` brings the keyboard to its editor. */
export function startLesson(
  host: HTMLElement,
  store: LessonStore,
  say: { page: Translate; own: Translate },
  program: { run: () => void; edit: () => void },
) {
  const lessonPlace: PlaceInCourse = JSON.parse(host.dataset.lesson ?? "{}");
  const item = lessonPlace.programs[lessonPlace.at] ?? null;
  const nav = document.createElement("nav");
  host.append(nav);
  const strip = createOrderStrip(nav, say.page);
  let wasDone = false;

  function showStrip() {
    const { programs, question } = progressOfLesson(readCourseProgress(), lessonPlace.name);
    const isDone = (name: string) => Object.hasOwn(programs, name) && programs[name].isDone;
    const items = lessonPlace.programs.map((one) => ({ ...one, done: isDone(one.name) }));
    const questionItem = {
      title: say.own("course_question"),
      url: lessonPlace.question.url,
      note: lessonPlace.question.ask,
      done: question.isRight,
    };
    strip.show({ title: lessonPlace.title, url: lessonPlace.url, items: [...items, questionItem], at: lessonPlace.at });
    nav.toggleAttribute("data-ready", item !== null && isDone(item.name));
  }

  showStrip();
  onCourseWrittenByOtherTab(showStrip);
  if (!item) return startLessonQuestion(host, store, say.own, lessonPlace, { ...program, changed: showStrip });

  function keepProgress(state: PageState) {
    const progress = progressOfProgram(state, item.stop);
    if (!progress) return;
    const courseBefore = readCourseProgress();
    const course = withProgramProgress(courseBefore, lessonPlace.name, item.name, progress);
    if (course !== courseBefore) {
      writeCourseProgress(course);
      showStrip();
    }
    if (progress.isDone && !wasDone) strip.announce(say.own("lesson_seen"));
    wasDone = progress.isDone;
  }
  store.subscribe(keepProgress);
  keepProgress(store.state());
}
