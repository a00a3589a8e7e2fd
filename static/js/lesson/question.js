/** The question that ends a lesson: its reader changes a program and runs it, and the server says whether the run answers it. */

import { element } from "../elements.js";
import { runsProgram } from "../page_selectors.js";
import { lessonOf, onOtherTab, readCourse, withAnswerSeen, withTry, writeCourse } from "./progress.js";

/** @typedef {import("../page_state.js").PageState} PageState */
/** @typedef {import("../locale.js").Locale["say"]} Say */
/** @typedef {{right: boolean, status: string, error: {type: string, message: string} | null}} Verdict */

/** After so many tries there is a hint, and a right answer can be seen. */
const TRIES = 2;
const MAX_MESSAGE = 120;

/** The first line of an error's message, or as many of its words as have room: the page says all of it at its step.
 * @param {string} message */
export function shortened(message) {
  const [line] = message.trim().split("\n");
  if (line.length <= MAX_MESSAGE) return line;
  return `${line
    .slice(0, MAX_MESSAGE + 1)
    .replace(/\s+\S*$/, "")
    .slice(0, MAX_MESSAGE)}…`;
}

/** Why a run can't be an answer, as a sentence's key and facts; null where it ran to its end. @param {import("../trace.js").Trace} trace
 * @returns {{key: string, args?: Record<string, unknown>} | null} */
export function faultOf({ outcome }) {
  if (outcome.status === "finished") return null;
  const { error } = outcome;
  if (!error) return { key: "lesson_ended" };
  return { key: "lesson_raised", args: { ...error, message: shortened(error.message) } };
}

/** What a verdict says, as a sentence's key and facts. @param {Verdict} verdict */
export function verdictSentence({ right, error }) {
  if (right) return { key: "lesson_right" };
  return error
    ? { key: "lesson_check_raised", args: { ...error, message: shortened(error.message) } }
    : { key: "lesson_wrong" };
}

/**
 * @param {HTMLElement} host
 * @param {{state: () => PageState, dispatch: (action: import("../page_state.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {Say} say
 * @param {import("./lesson.js").Place} place
 * @param {{run: () => void, edit: () => void, changed: () => void}} how changed: something was done of the lesson
 */
export function startQuestion(host, store, say, place, { run, edit, changed }) {
  const card = element("section", "lesson-question");
  card.setAttribute("aria-label", say("course_question"));
  const status = element("p", "lesson-status");
  status.setAttribute("role", "status");
  const help = element("div", "lesson-help");
  const foot = element("p", "lesson-foot");
  card.append(status, help, foot);
  host.append(card);
  const progress = () => lessonOf(readCourse(), place.name).question;
  /** @type {string | null} a program that answers the question, once it was asked for */
  let answer = null;
  let runsJudged = 0;

  /** @param {string} label @param {string} className @param {() => void} press */
  function button(label, className, press) {
    const node = /** @type {HTMLButtonElement} */ (element("button", className, label));
    node.type = "button";
    node.addEventListener("click", press);
    return node;
  }

  /** @param {HTMLElement} control what Enter presses */
  function withKey(control) {
    control.dataset.enter = "";
    control.append(" ", element("kbd", "", "⏎"));
    return control;
  }

  function wayOn() {
    const { title, url } = place.next ?? { title: "", url: place.url.replace(/\/[^/?]+(\?|$)/, "$1") };
    const link = /** @type {HTMLAnchorElement} */ (
      element("a", "primary", place.next ? say("course_next_lesson", { title }) : say("course_to_course"))
    );
    link.href = url;
    return withKey(link);
  }

  function render() {
    const { tries, isRight } = progress();
    const focused = card.contains(document.activeElement);
    card.dataset.right = String(isRight);
    document.body.classList.toggle("asking", !isRight && tries < TRIES);
    help.replaceChildren();
    if (isRight) answer = null;
    if (!isRight && tries >= TRIES) {
      const hint = element("p", "lesson-hint");
      hint.append(element("strong", "", say("lesson_hint")), ` ${place.question.hint}`);
      help.append(hint);
    }
    if (answer !== null) help.append(answerBox(answer));
    const more = isRight || tries < TRIES || answer !== null ? [] : [button(say("lesson_show"), "quiet", showAnswer)];
    foot.replaceChildren(isRight ? wayOn() : withKey(button(say("lesson_edit"), "primary", edit)), ...more);
    if (focused) /** @type {HTMLElement | null} */ (card.querySelector("button, a"))?.focus();
    changed();
  }

  /** @param {string} source */
  function answerBox(source) {
    const box = element("div", "lesson-answer");
    const code = element("pre", "", source);
    code.tabIndex = 0;
    code.setAttribute("aria-label", say("lesson_answer"));
    const use = button(say("lesson_use"), "quiet", () => {
      store.dispatch({ type: "programEdited", text: source });
      run();
    });
    box.append(code, use);
    return box;
  }

  async function showAnswer() {
    try {
      const response = await fetch(place.question.answers.replace(/answers$/, "answer.json"));
      answer = String((await response.json()).source);
      writeCourse(withAnswerSeen(readCourse(), place.name));
      render();
      /** @type {HTMLElement | null} */ (card.querySelector(".lesson-answer pre"))?.focus();
    } catch {
      showStatus("lesson_unknown");
    }
  }

  /** @param {string} key @param {Record<string, unknown>} [args] */
  function showStatus(key, args) {
    status.textContent = say(key, args);
    status.dataset.kind = key;
  }

  /** @param {boolean} isRight */
  function count(isRight) {
    writeCourse(withTry(readCourse(), place.name, isRight));
    render();
  }

  /** Say whether a run is an answer. @param {PageState} state */
  async function judge({ predict, opened: shown, settings }) {
    runsJudged += 1;
    const number = runsJudged;
    const opened = predict?.whole ?? shown;
    if (!opened) return;
    const fault = faultOf(opened.trace);
    if (fault) {
      showStatus(fault.key, fault.args);
      return count(false);
    }
    showStatus("lesson_judging");
    try {
      const body = JSON.stringify({ source: opened.trace.program.source, ...settings });
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(place.question.answers, { method: "POST", headers, body });
      if (!response.ok) throw new Error(String(response.status));
      /** @type {Verdict} */
      const verdict = await response.json();
      if (number !== runsJudged) return;
      const { key, args } = verdictSentence(verdict);
      showStatus(key, args);
      count(verdict.right);
    } catch {
      if (number === runsJudged) showStatus("lesson_unknown");
    }
  }

  let isOpening = true; // the page runs the program that it came with
  store.subscribe((state, before) => {
    const { pending } = before;
    if (!pending || state.pending || state.opened === before.opened || !runsProgram(pending)) return;
    const isStart = isOpening && state.opened?.trace.program.source === state.page.source;
    isOpening = false;
    if (!isStart) void judge(state);
  });

  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (event.key !== "Enter" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (
      store.state().predict ||
      target?.closest("button, a, summary, input, textarea, select, dialog, [contenteditable]")
    )
      return;
    event.preventDefault();
    /** @type {HTMLElement | null} */ (card.querySelector("[data-enter]"))?.click();
  });
  onOtherTab(render);
  showStatus(progress().isRight ? "lesson_right" : "lesson_run_hint");
  render();
}
