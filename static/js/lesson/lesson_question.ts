/**
 * The question that ends a lesson: its reader changes a program and runs it, and the server says whether the run
 * answers it.
 */

import { createButton, createElement } from "../browser/elements.ts";
import { doesRequestRunProgram } from "../page_state/selectors.ts";
import {
  progressOfLesson,
  onCourseWrittenByOtherTab,
  readCourseProgress,
  withAnswerSeen,
  withQuestionTry,
  writeCourseProgress,
} from "./course_progress.ts";
import type { Action } from "../page_state/actions.ts";
import type { Trace } from "../trace/wire.ts";
import type { Translate } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

interface QuestionVerdict {
  right: boolean;
  status: string;
  error: { type: string; message: string } | null;
}

/** After so many tries there is a hint, and a right answer can be seen. */
const TRIES_BEFORE_ANSWER_IS_OFFERED = 2;
const MAX_MESSAGE_CHARACTERS = 120;

/** The first line of an error's message, or as many of its words as have room: the page says all of it at its step. */
export function shortenedErrorMessage(message: string) {
  const [line] = message.trim().split("\n");
  if (line.length <= MAX_MESSAGE_CHARACTERS) return line;
  return `${line
    .slice(0, MAX_MESSAGE_CHARACTERS + 1)
    .replace(/\s+\S*$/, "")
    .slice(0, MAX_MESSAGE_CHARACTERS)}…`;
}

/** Why a run can't be an answer, as a sentence's key and facts; null where it ran to its end. */
export function sentenceForUnfinishedRun({ outcome }: Trace): { key: string; args?: Record<string, unknown> } | null {
  if (outcome.status === "finished") return null;
  const { error } = outcome;
  if (!error) return { key: "lesson_ended" };
  return { key: "lesson_raised", args: { ...error, message: shortenedErrorMessage(error.message) } };
}

/** What a verdict says, as a sentence's key and facts. */
export function verdictSentence({ right, error }: QuestionVerdict) {
  if (right) return { key: "lesson_right" };
  return error
    ? { key: "lesson_check_raised", args: { ...error, message: shortenedErrorMessage(error.message) } }
    : { key: "lesson_wrong" };
}

/** Enter clicks the control. */
function markAsEnterTarget(control: HTMLElement) {
  control.dataset.enter = "";
  control.append(" ", createElement("kbd", "", "⏎"));
  return control;
}

/** Enter clicks what the card marks, while no control has the keyboard. */
function clickMarkedControlOnEnter(card: HTMLElement, store: { state: () => PageState }) {
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (event.key !== "Enter" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      store.state().predict ||
      target?.closest("button, a, summary, input, textarea, select, dialog, [contenteditable]")
    )
      return;
    event.preventDefault();
    (card.querySelector("[data-enter]") as HTMLElement | null)?.click();
  });
}

/** The link to the next lesson; after the last one to the course. */
function nextLessonLink(place: PlaceInCourse, say: Translate) {
  const { title, url } = place.next ?? { title: "", url: place.url.replace(/\/[^/?]+(\?|$)/, "$1") };
  const link = createElement(
    "a",
    "primary",
    place.next ? say("course_next_lesson", { title }) : say("course_to_course"),
  ) as HTMLAnchorElement;
  link.href = url;
  return markAsEnterTarget(link);
}

/** A program that answers the question. */
function answerProgramElement(source: string, say: Translate, onUse: (source: string) => void) {
  const box = createElement("div", "lesson-answer");
  const code = createElement("pre", "", source);
  code.tabIndex = 0;
  code.setAttribute("aria-label", say("lesson_answer"));
  box.append(
    code,
    createButton("quiet", say("lesson_use"), () => onUse(source)),
  );
  return box;
}

interface JudgeEvents {
  showStatus: (key: string, args?: Record<string, unknown>) => void;
  count: (isRight: boolean) => void;
}

/**
 * Asks the server, at `url`, whether a run answers the question; of several runs at once only the last one's verdict is
 * shown.
 */
function createAnswerJudge(
  url: string,
  { showStatus, count: countTry }: JudgeEvents,
): (state: PageState) => Promise<void> {
  let runsJudged = 0;
  return async ({ predict, opened: shown, settings }) => {
    runsJudged += 1;
    const runNumber = runsJudged;
    const opened = predict?.whole ?? shown;
    if (!opened) return;
    const fault = sentenceForUnfinishedRun(opened.trace);
    if (fault) {
      showStatus(fault.key, fault.args);
      return countTry(false);
    }
    showStatus("lesson_judging");
    try {
      const body = JSON.stringify({ source: opened.trace.program.source, ...settings });
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body });
      if (!response.ok) throw new Error(String(response.status));
      const verdict: QuestionVerdict = await response.json();
      if (runNumber !== runsJudged) return;
      const { key, args } = verdictSentence(verdict);
      showStatus(key, args);
      countTry(verdict.right);
    } catch {
      if (runNumber === runsJudged) showStatus("lesson_unknown");
    }
  };
}

interface QuestionStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

interface QuestionOptions {
  run: () => void;
  edit: () => void;
  /** something was done of the lesson */
  changed: () => void;
}

export function startLessonQuestion(
  host: HTMLElement,
  store: QuestionStore,
  say: Translate,
  place: PlaceInCourse,
  { run, edit, changed: onChanged }: QuestionOptions,
) {
  const card = createElement("section", "lesson-question");
  card.setAttribute("aria-label", say("course_question"));
  const status = createElement("p", "lesson-status");
  status.setAttribute("role", "status");
  const help = createElement("div", "lesson-help");
  const footButtons = createElement("p", "lesson-foot");
  card.append(status, help, footButtons);
  host.append(card);
  const questionProgress = () => progressOfLesson(readCourseProgress(), place.name).question;
  /** a program that answers the question, once it was asked for */
  let shownAnswer: string | null = null;

  function render() {
    const { tries, isRight } = questionProgress();
    const hadFocus = card.contains(document.activeElement);
    card.dataset.right = String(isRight);
    document.body.classList.toggle("asking", !isRight && tries < TRIES_BEFORE_ANSWER_IS_OFFERED);
    document.body.classList.toggle("question-open", !isRight);
    help.replaceChildren();
    if (isRight) shownAnswer = null;
    if (!isRight && tries >= TRIES_BEFORE_ANSWER_IS_OFFERED) {
      const hint = createElement("p", "lesson-hint");
      hint.append(createElement("strong", "", say("lesson_hint")), ` ${place.question.hint}`);
      help.append(hint);
    }
    if (shownAnswer !== null) help.append(answerProgramElement(shownAnswer, say, useAnswer));
    const moreButtons =
      isRight || tries < TRIES_BEFORE_ANSWER_IS_OFFERED || shownAnswer !== null
        ? []
        : [createButton("quiet", say("lesson_show"), showAnswer)];
    footButtons.replaceChildren(
      isRight ? nextLessonLink(place, say) : markAsEnterTarget(createButton("primary", say("lesson_edit"), edit)),
      ...moreButtons,
    );
    if (hadFocus) (card.querySelector("button, a") as HTMLElement | null)?.focus();
    onChanged();
  }

  function useAnswer(source: string) {
    store.dispatch({ type: "programEdited", text: source });
    run();
  }

  async function showAnswer() {
    try {
      const response = await fetch(place.question.answers.replace(/answers$/, "answer.json"));
      shownAnswer = String((await response.json()).source);
      writeCourseProgress(withAnswerSeen(readCourseProgress(), place.name));
      render();
      (card.querySelector(".lesson-answer pre") as HTMLElement | null)?.focus();
    } catch {
      showStatus("lesson_unknown");
    }
  }

  function showStatus(key: string, args?: Record<string, unknown>) {
    status.textContent = say(key, args);
    status.dataset.kind = key;
  }

  function countTry(isRight: boolean) {
    writeCourseProgress(withQuestionTry(readCourseProgress(), place.name, isRight));
    render();
  }

  const judge = createAnswerJudge(place.question.answers, { showStatus, count: countTry });
  let isOpening = true; // the page runs the program that it came with
  store.subscribe((state, before) => {
    const { pending } = before;
    if (!pending || state.pending || state.opened === before.opened || !doesRequestRunProgram(pending)) return;
    const isStart = isOpening && state.opened?.trace.program.source === state.page.source;
    isOpening = false;
    if (!isStart) void judge(state);
  });

  clickMarkedControlOnEnter(card, store);
  onCourseWrittenByOtherTab(render);
  showStatus(questionProgress().isRight ? "lesson_right" : "lesson_run_hint");
  render();
}

export interface PlaceInCourse {
  name: string;
  title: string;
  url: string;
  programs: LessonItem[];
  /** the program that is shown, or how many there are where it is the question */
  at: number;
  /** the lesson after it */
  next: { title: string; url: string } | null;
  question: { url: string; answers: string; ask: string; hint: string };
}

interface LessonItem {
  name: string;
  title: string;
  url: string;
  note: string;
  stop: number | null;
}
