/** What a reader has done of the course: plain data, and its place in the browser's storage. */

import { readPreference, writePreference } from "../browser/preferences.ts";

export interface ProgramProgress {
  /** predictions of the best time through */
  right: number;
  /** how many are asked */
  of: number;
  /** the reader has been where the lesson says to stop */
  isDone: boolean;
}

export interface QuestionProgress {
  tries: number;
  isRight: boolean;
  /** a right answer was looked at first */
  isSeen: boolean;
}

export interface LessonProgress {
  programs: Record<string, ProgramProgress>;
  question: QuestionProgress;
}

/** by the lesson's name; the one that was worked at last comes last */
type CourseProgress = Record<string, LessonProgress>;

const COURSE_STORAGE_KEY = "gradbox-course";
const STORED_COURSE_VERSION = 1;
/** What an endless or a damaged record may take of the browser's room. */
const MAX_STORED_LESSONS = 40;
const MAX_STORED_PROGRAMS = 12;
const MAX_STORED_COUNT = 999;

const UNTRIED_QUESTION: QuestionProgress = { tries: 0, isRight: false, isSeen: false };

/** What stays where the browser keeps nothing: as long as the page. */
let unsavedCourse: string | null = null;

/** A record as it was written; what is damaged or of another version is as if it were not there. */
export function parseCourseProgress(text: string | null): CourseProgress {
  try {
    const { version, lessons } = JSON.parse(text ?? "null") ?? {};
    if (version !== STORED_COURSE_VERSION || !isObject(lessons)) return {};
    const entries = Object.entries(lessons).slice(-MAX_STORED_LESSONS);
    return Object.fromEntries(entries.map(([name, lesson]) => [name, parseLessonProgress(lesson)]));
  } catch {
    return {};
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const boundedCount = (value: unknown) =>
  Number.isInteger(value) ? Math.max(0, Math.min(Number(value), MAX_STORED_COUNT)) : 0;

function parseLessonProgress(lesson: unknown): LessonProgress {
  const { programs, question } = isObject(lesson) ? lesson : {};
  const entries = isObject(programs) ? Object.entries(programs).slice(-MAX_STORED_PROGRAMS) : [];
  const { tries, isRight, isSeen } = isObject(question) ? question : {};
  return {
    programs: Object.fromEntries(
      entries.map(([name, value]) => {
        const { right, of, isDone } = isObject(value) ? value : {};
        return [
          name,
          { right: Math.min(boundedCount(right), boundedCount(of)), of: boundedCount(of), isDone: isDone === true },
        ];
      }),
    ),
    question: { tries: boundedCount(tries), isRight: isRight === true, isSeen: isSeen === true },
  };
}

export function progressOfLesson(course: CourseProgress, lesson: string): LessonProgress {
  return Object.hasOwn(course, lesson) ? course[lesson] : { programs: {}, question: UNTRIED_QUESTION };
}

function withLessonProgress(course: CourseProgress, lesson: string, progress: LessonProgress): CourseProgress {
  const others = Object.entries(course).filter(([name]) => name !== lesson);
  return Object.fromEntries([...others.slice(1 - MAX_STORED_LESSONS), [lesson, progress]]);
}

/** A program was stepped through, or in part; the best time counts. */
export function withProgramProgress(
  course: CourseProgress,
  lesson: string,
  program: string,
  progressNow: ProgramProgress,
): CourseProgress {
  const { programs, question } = progressOfLesson(course, lesson);
  const before = Object.hasOwn(programs, program) ? programs[program] : { right: 0, of: 0, isDone: false };
  const of = progressNow.of || before.of;
  const bestProgress = {
    right: Math.min(of, Math.max(progressNow.right, before.right)),
    of,
    isDone: progressNow.isDone || before.isDone,
  };
  if (bestProgress.right === before.right && bestProgress.of === before.of && bestProgress.isDone === before.isDone)
    return course;
  const others = Object.entries(programs).filter(([name]) => name !== program);
  const keptPrograms = Object.fromEntries([...others.slice(1 - MAX_STORED_PROGRAMS), [program, bestProgress]]);
  return withLessonProgress(course, lesson, { programs: keptPrograms, question });
}

/** An answer to the question was run. */
export function withQuestionTry(course: CourseProgress, lesson: string, isRight: boolean): CourseProgress {
  const { programs, question } = progressOfLesson(course, lesson);
  if (question.isRight) return course;
  return withLessonProgress(course, lesson, {
    programs,
    question: { ...question, tries: question.tries + 1, isRight },
  });
}

/** A right answer was looked at. */
export function withAnswerSeen(course: CourseProgress, lesson: string): CourseProgress {
  const { programs, question } = progressOfLesson(course, lesson);
  return question.isRight
    ? course
    : withLessonProgress(course, lesson, { programs, question: { ...question, isSeen: true } });
}

/** `right` is the number of right predictions, of so many; `answered` that of answered questions. */
export function scoreOfLessons(lessons: LessonProgress[]): { right: number; of: number; answered: number } {
  const programs = lessons.flatMap((lesson) => Object.values(lesson.programs));
  return {
    right: programs.reduce((sum, { right }) => sum + right, 0),
    of: programs.reduce((sum, { of }) => sum + of, 0),
    answered: lessons.filter(({ question }) => question.isRight).length,
  };
}

export const readCourseProgress = (): CourseProgress =>
  parseCourseProgress(unsavedCourse ?? readPreference(COURSE_STORAGE_KEY));

/** Returns whether the browser has kept it. */
export function writeCourseProgress(course: CourseProgress): boolean {
  const text = Object.keys(course).length ? JSON.stringify({ version: STORED_COURSE_VERSION, lessons: course }) : null;
  writePreference(COURSE_STORAGE_KEY, text);
  const isKept = readPreference(COURSE_STORAGE_KEY) === text;
  unsavedCourse = isKept ? null : (text ?? "null");
  return isKept;
}

/** Whether this page may keep nothing in the browser. */
export function isStorageBlocked() {
  try {
    return localStorage.getItem(COURSE_STORAGE_KEY) === undefined;
  } catch {
    return true;
  }
}

/** Calls a function when another tab has written. */
export function onCourseWrittenByOtherTab(listener: () => void) {
  window.addEventListener("storage", ({ key }) => {
    if (key === COURSE_STORAGE_KEY || key === null) listener();
  });
}
