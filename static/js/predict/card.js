/** The card of predict mode: what is asked, the choices, the answer beside what happened, and the score at the end. */

import { button, codeNodes, element } from "../browser/elements.js";
import { lineNameClass, shortLineName } from "../trace/program_files.js";
import { dueQuestion, hidesSteps, scoreOf } from "./mode.js";

/** @typedef {import("./mode.js").Predict} Predict */
/** @typedef {import("./question.js").Question} Question */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/** @typedef {"making" | "intro" | "ask" | "told" | "walk" | "summary"} Phase */

const MAX_CODE = 72;

/** What the card shows. @param {Predict} predict @returns {Phase} */
export function phaseOf(predict) {
  if (!predict.questions) return "making";
  if (!predict.hasBegun && hidesSteps(predict)) return "intro";
  if (predict.isTold) return "told";
  if (dueQuestion(predict)) return "ask";
  return hidesSteps(predict) ? "walk" : "summary";
}

/**
 * @param {HTMLElement} host
 * @param {Say} say
 * @param {{answer: (given: import("./mode.js").Given) => void, goOn: () => void, again: () => void, leave: () => void, go: (step: number) => void,
 *   next: () => HTMLAnchorElement | null}} how
 *   goOn: to the next question, or to the end; again: from the first step; leave: show everything; next: the link to the program
 *   after this one
 */
export function createCard(host, say, { answer, goOn: continueOn, again: restart, leave, go, next: nextInOrder }) {
  const status = element("p", "predict-status");
  status.setAttribute("role", "status");
  const article = element("article", "finding open predict-card");
  host.replaceChildren(article, status);

  /** @param {string} text */
  function announce(text) {
    status.textContent = text.replaceAll("`", "");
  }

  /** @param {string} kicker @param {string} sentence @param {string} [code] of the line that it is about
   * @returns {HTMLElement[]} */
  function headerElements(kicker, sentence, code = "") {
    const head = element("div", "predict-head");
    const mark = element("span", "predict-mark", "?");
    mark.setAttribute("aria-hidden", "true");
    const leaveButton = button("predict-leave quiet", "✕", leave);
    leaveButton.title = leaveButton.ariaLabel = say("predict_leave");
    head.append(mark, element("span", "finding-kicker", kicker), leaveButton);
    const title = element("h3", "predict-title");
    title.id = "predict-title";
    if (code) title.append(element("code", "predict-code", code), " ");
    title.append(...codeNodes(sentence));
    return [head, title];
  }

  /** @param {Predict} predict @param {HTMLElement[]} buttons */
  function footer(predict, ...buttons) {
    const line = element("p", "predict-foot");
    line.append(...buttons);
    const score = scoreOf(predict.answers);
    if (score.asked) line.append(element("span", "predict-score", say("predict_score", score)));
    return line;
  }

  /** The button that Enter presses. @param {string} label @param {() => void} onClick */
  function mainButton(label, onClick) {
    const made = button("primary", label, onClick);
    made.append(" ", element("kbd", "", "⏎"));
    return made;
  }

  /** @param {Predict} predict @param {Question} question */
  function questionView(predict, question) {
    const n = (predict.questions ?? []).indexOf(question) + 1;
    const { line } = question;
    const kicker = say("predict_question", { n, of: predict.questions?.length ?? 0 });
    const text = say(`predict_ask_${question.kind}`, { what: question.what, other: question.other ?? "", line });
    const code = shortenedLine(line, predict);
    const form = /** @type {HTMLFormElement} */ (element("form", "predict-form"));
    const isTyped = question.number !== null;
    const submit = mainButton(say("predict_show"), () => {});
    submit.type = "submit";
    form.append(
      isTyped ? field() : choices(question),
      footer(
        predict,
        submit,
        button("quiet", say("predict_skip"), () => answer(null)),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const data = new FormData(form).get("prediction");
      if (data === null || data === "") return focusFirst();
      answer(isTyped ? { typed: String(data) } : { choice: Number(data) });
    });
    article.replaceChildren(...headerElements(say("predict_line", { kicker, line }), text, code), form);
    const options = isTyped ? "" : question.choices.map((choice, k) => `${k + 1}: ${choiceText(choice)}`).join("; ");
    announce(`${say("predict_line", { kicker, line })} ${code} ${text} ${options}`);
  }

  /** @param {Question} question */
  function choices({ choices }) {
    const fieldset = element("fieldset", "predict-choices");
    fieldset.setAttribute("aria-labelledby", "predict-title");
    choices.forEach((choice, k) => {
      const label = element("label", "predict-choice");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "prediction", value: String(k) });
      const key = element("kbd", "", String(k + 1));
      key.setAttribute("aria-hidden", "true");
      label.append(radio, key, element("span", "", choiceText(choice)));
      fieldset.append(label);
    });
    return fieldset;
  }

  function field() {
    const label = element("label", "predict-field", `${say("predict_number")} `);
    const input = document.createElement("input");
    Object.assign(input, {
      type: "text",
      name: "prediction",
      inputMode: "decimal",
      autocomplete: "off",
      maxLength: 20,
    });
    label.append(input);
    return label;
  }

  /** @param {{text: string, key?: string}} choice */
  const choiceText = ({ text, key }) => (key ? say(key) : text);

  /** The answer beside what happened. @param {Predict} predict @param {Question} question */
  function answerView(predict, question) {
    const givenAnswer = predict.answers[predict.answers.length - 1];
    const rightChoice = question.choices[question.right];
    const verdict = givenAnswer.isSkipped ? "skipped" : givenAnswer.isRight ? "right" : "wrong";
    const sentence = answerSentence(question, choiceText(rightChoice), say);
    const head = headerElements(say(`predict_${verdict}`), sentence);
    const marks = element("p", `predict-answers ${verdict}`);
    if (verdict === "wrong")
      marks.append(element("span", "predict-given", `${say("predict_you")} ${choiceText(givenAnswer)} ✗`));
    marks.append(element("span", "predict-right", `${choiceText(rightChoice)} ✓`));
    const why = element("p", "finding-why predict-why");
    const isLast = !(predict.questions ?? []).some(
      ({ at }) => at >= predict.reached && !predict.answers.some((a) => a.at === at),
    );
    const next = mainButton(say(isLast ? "predict_to_end" : "predict_next"), continueOn);
    article.replaceChildren(...head, marks, why, footer(predict, next));
    announce(`${say(`predict_${verdict}`)} ${sentence}`);
  }

  /** @param {Predict} predict @param {number} best @param {boolean} wasDone */
  function introView(predict, best, wasDone) {
    const n = predict.questions?.length ?? 0;
    const text = n ? say("predict_intro", { n }) : say("predict_none");
    const earlierScore = wasDone ? [element("p", "finding-why", say("predict_before", { right: best, n }))] : [];
    const next = mainButton(say(n ? "predict_first" : "predict_to_end"), continueOn);
    article.replaceChildren(...headerElements(say("predict_title"), text), ...earlierScore, footer(predict, next));
    announce(text);
  }

  /** @param {Predict} predict */
  function showWalk(predict) {
    const { questions, answers, reached } = predict;
    const next = (questions ?? []).find(
      ({ at }) => at > reached && !answers.some((givenAnswer) => givenAnswer.at === at),
    );
    const main = mainButton(say(next ? "predict_next" : "predict_to_end"), continueOn);
    article.replaceChildren(
      ...headerElements(say("predict_title"), say(next ? "predict_walk" : "predict_walk_end")),
      footer(predict, main),
    );
  }

  /** @param {Predict} predict */
  function summaryView(predict) {
    const score = scoreOf(predict.answers);
    const missedAnswers = predict.answers.filter(({ isRight }) => !isRight);
    const text = score.asked
      ? say(missedAnswers.length ? "predict_end" : "predict_all_right", score)
      : say("predict_end_none");
    const list = element("ul", "predict-missed");
    for (const givenAnswer of missedAnswers) {
      const question = predict.questions?.find(({ at }) => at === givenAnswer.at);
      if (!question) continue;
      const link = button("finding-link", "", () => go(question.step));
      const rightText = choiceText(question.choices[question.right]);
      const key = givenAnswer.isSkipped ? "predict_missed_skipped" : "predict_missed";
      link.append(element("span", lineNameClass("finding-line", question.line), shortLineName(question.line)), " ");
      const words = element("span", "");
      words.append(
        ...codeNodes(say(key, { answer: answerSentence(question, rightText, say), given: choiceText(givenAnswer) })),
      );
      link.append(words);
      const item = element("li", "");
      item.append(link);
      list.append(item);
    }
    const line = element("p", "predict-foot");
    const nextLink = nextInOrder();
    const nextButtons = nextLink ? [mainButton(say("predict_on"), () => nextLink.click())] : [];
    line.append(
      ...nextButtons,
      button(nextLink ? "quiet" : "primary", say("predict_again"), restart),
      button("quiet", say("predict_leave"), leave),
    );
    article.replaceChildren(
      ...headerElements(say("predict_done"), text),
      ...(missedAnswers.length ? [list] : []),
      line,
    );
    announce(text);
  }

  /** The first choice, the field, or the button. */
  function focusFirst() {
    const first =
      article.querySelector("form input") ?? article.querySelector(".primary") ?? article.querySelector("button");
    if (first instanceof HTMLElement) first.focus();
  }

  return {
    /** @param {Predict} predict @param {{best: number, wasDone: boolean}} before what was reached in this program before */
    show(predict, { best, wasDone }) {
      const phase = phaseOf(predict);
      const hadFocus = article.contains(document.activeElement);
      article.dataset.phase = phase;
      if (phase === "making") article.replaceChildren(...headerElements(say("predict_title"), say("predict_making")));
      else if (phase === "intro") introView(predict, best, wasDone);
      else if (phase === "walk") showWalk(predict);
      else if (phase === "summary") summaryView(predict);
      else {
        const answered = predict.answers[predict.answers.length - 1];
        const question =
          phase === "ask" ? dueQuestion(predict) : predict.questions?.find(({ at }) => at === answered.at);
        if (question) (phase === "ask" ? questionView : answerView)(predict, question);
      }
      if (hadFocus) focusFirst();
    },
    /** @param {string} text */
    showReason(text) {
      const why = article.querySelector(".predict-why");
      why?.replaceChildren(...codeNodes(text));
      if (why && text) announce(`${status.textContent} ${text}`);
    },
    focusFirst,
    /** A key that no field has taken. @param {string} key @returns {boolean} whether it was one of the card's */
    key(key) {
      const { phase } = article.dataset;
      const form = article.querySelector("form");
      if (key === "Enter") {
        if (form) form.requestSubmit();
        else if (phase !== "making") /** @type {HTMLElement | null} */ (article.querySelector(".primary"))?.click();
        return true;
      }
      const input = /** @type {HTMLInputElement | null} */ (form?.querySelector("input[type=text]") ?? null);
      if (input && /^[-\d.]$/.test(key)) {
        input.focus();
        input.value += key;
        return true;
      }
      const radio = /** @type {HTMLInputElement | null} */ (
        form?.querySelector(`input[value="${Number(key) - 1}"]`) ?? null
      );
      if (!/^[1-9]$/.test(key) || !radio) return false;
      radio.checked = true;
      radio.focus();
      return true;
    },
  };
}

/** A line of the program. @param {number} line @param {Predict} predict */
function shortenedLine(line, predict) {
  const text = (predict.whole?.trace.program.source.split("\n")[line - 1] ?? "").trim();
  return text.length > MAX_CODE ? `${text.slice(0, MAX_CODE)}…` : text;
}

/** What the question says, answered. @param {Question} question @param {string} rightText @param {Say} say */
function answerSentence({ kind, what, other, line, right: k }, rightText, say) {
  const isYesNo = kind === "raises" || kind === "shares" || kind === "leaf";
  const key = isYesNo ? `predict_is_${kind}_${k ? "yes" : "no"}` : `predict_is_${kind}`;
  return say(key, { what, other: other ?? "", line, right: rightText });
}
