import assert from "node:assert/strict";
import { test } from "node:test";
import { stepAtStopLineOrEnd } from "../../lesson/lesson.ts";
import * as progress from "../../lesson/course_progress.ts";
import { sentenceForUnfinishedRun, shortenedErrorMessage, verdictSentence } from "../../lesson/lesson_question.ts";

const done = { right: 2, of: 3, isDone: true };

test("the best time through a program counts, and a question is answered once", () => {
  let course = progress.withProgramProgress({}, "views", "clone", { right: 1, of: 3, isDone: false });
  course = progress.withProgramProgress(course, "views", "clone", done);
  assert.equal(progress.withProgramProgress(course, "views", "clone", { right: 0, of: 3, isDone: false }), course);
  course = progress.withQuestionTry(progress.withQuestionTry(course, "views", false), "views", true);
  assert.deepEqual(course.views, {
    programs: { clone: done },
    question: { tries: 2, isRight: true, isSeen: false },
  });
  assert.equal(progress.withQuestionTry(course, "views", false), course);
  assert.equal(progress.withAnswerSeen(course, "views"), course);
  assert.equal(progress.withAnswerSeen({}, "names").names.question.isSeen, true);
  assert.deepEqual(progress.scoreOfLessons([course.views, progress.progressOfLesson(course, "names")]), {
    right: 2,
    of: 3,
    answered: 1,
  });
});

test("what was written is read again; what is damaged or of another version is not there", () => {
  const lessons = progress.withProgramProgress({}, "views", "clone", done);
  assert.deepEqual(progress.parseCourseProgress(JSON.stringify({ version: 1, lessons })), lessons);
  for (const text of [null, "", "{", "[]", "7", JSON.stringify({ version: 2, lessons }), '{"version":1,"lessons":[]}'])
    assert.deepEqual(progress.parseCourseProgress(text), {}, text ?? "null");
  const damaged = {
    version: 1,
    lessons: { a: 3, b: { programs: { c: { right: 9, of: "x" } }, question: { tries: -1 } } },
  };
  const untried = { tries: 0, isRight: false, isSeen: false };
  assert.deepEqual(progress.parseCourseProgress(JSON.stringify(damaged)), {
    a: { programs: {}, question: untried },
    b: { programs: { c: { right: 0, of: 0, isDone: false } }, question: untried },
  });
});

test("a record has its bounds", () => {
  let course = {};
  for (let k = 0; k < 60; k++) course = progress.withQuestionTry(course, `lesson${k}`, false);
  for (let k = 0; k < 30; k++) course = progress.withProgramProgress(course, "views", `p${k}`, done);
  assert.equal(Object.keys(course).length, 40);
  assert.equal(Object.keys(progress.progressOfLesson(course, "views").programs).length, 12);
  assert.equal(Object.keys(progress.parseCourseProgress(JSON.stringify({ version: 1, lessons: course }))).length, 40);
  assert.deepEqual(progress.progressOfLesson({}, "constructor").programs, {});
});

test("where the browser keeps nothing, it lasts as long as the page", () => {
  assert.ok(progress.isStorageBlocked(), "there is no storage in Node");
  const course = progress.withQuestionTry({}, "views", true);
  assert.equal(progress.writeCourseProgress(course), false);
  assert.deepEqual(progress.readCourseProgress(), course);
  progress.writeCourseProgress({});
  assert.deepEqual(progress.readCourseProgress(), {});
});

test("a program is seen at the last step of the line where its lesson stops", () => {
  const steps = [1, 3, 4, 3, 5].map((line) => ({ line }));
  assert.deepEqual(
    [3, 5, 2, null].map((stop) => stepAtStopLineOrEnd(steps, stop)),
    [3, 4, 4, 4],
  );
});

test("of a long message the first words are told, and no half of one", () => {
  assert.equal(shortenedErrorMessage("no such name\n  at line 3"), "no such name");
  const words = shortenedErrorMessage("backward a second time ".repeat(20));
  assert.ok(
    words.endsWith("…") &&
      words.length <= 121 &&
      "backward a second time ".repeat(20).startsWith(`${words.slice(0, -1)} `),
  );
});

test("a run that did not end, and a verdict, have their sentences", () => {
  const error = { type: "ValueError", message: "x".repeat(1000), line: 3 };
  assert.equal(sentenceForUnfinishedRun({ outcome: { status: "finished" } } as any), null);
  assert.equal(sentenceForUnfinishedRun({ outcome: { status: "stopped" } } as any)?.key, "lesson_ended");
  const raised = sentenceForUnfinishedRun({ outcome: { status: "raised", error } } as any);
  assert.deepEqual([raised?.key, raised?.args?.line], ["lesson_raised", 3]);
  assert.equal(String(raised?.args?.message).length, 121);
  const keys = [
    { right: true, error: null },
    { right: false, error: null },
    { right: false, error },
  ].map((verdict) => verdictSentence({ status: "", ...verdict }).key);
  assert.deepEqual(keys, ["lesson_right", "lesson_wrong", "lesson_check_raised"]);
});
