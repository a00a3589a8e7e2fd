/** The card of predict mode: what is asked, the choices, the answer beside what happened, and the score at the end. */

import { createButton, nodesWithCode, createElement } from "../browser/elements.ts";
import { lineNameClass, shortLineName } from "../trace/program_files.ts";
import { questionBeforeNextStep, areStepsHidden, scoreOfAnswers } from "../page_state/predict_mode.ts";
import type { Translate } from "../words/sentences.ts";
import type { PredictQuestion } from "../page_state/predict_question.ts";
import type { AnswerInput, PredictState } from "../page_state/predict_state.ts";

type CardPhase = "making" | "intro" | "ask" | "told" | "walk" | "summary";

const MAX_CODE_CHARACTERS = 72;

/** What the card shows. */
export function cardPhase(predict: PredictState): CardPhase {
  if (!predict.questions) return "making";
  if (!predict.hasBegun && areStepsHidden(predict)) return "intro";
  if (predict.isTold) return "told";
  if (questionBeforeNextStep(predict)) return "ask";
  return areStepsHidden(predict) ? "walk" : "summary";
}

interface PredictCardOptions {
  answer: (given: AnswerInput) => void;
  /** to the next question, or to the end */
  goOn: () => void;
  /** from the first step */
  again: () => void;
  /** show everything */
  leave: () => void;
  go: (step: number) => void;
  /** the link to the program after this one */
  next: () => HTMLAnchorElement | null;
}

export function createPredictCard(
  host: HTMLElement,
  say: Translate,
  { answer, goOn: continueOn, again: restart, leave, go, next: nextInOrder }: PredictCardOptions,
) {
  const status = createElement("p", "predict-status");
  status.setAttribute("role", "status");
  const article = createElement("article", "finding open predict-card");
  host.replaceChildren(article, status);

  function announce(text: string) {
    status.textContent = text.replaceAll("`", "");
  }

  /** `code` is the line that it is about. */
  function headerElements(kicker: string, sentence: string, code = ""): HTMLElement[] {
    const head = createElement("div", "predict-head");
    const mark = createElement("span", "predict-mark", "?");
    mark.setAttribute("aria-hidden", "true");
    const leaveButton = createButton("predict-leave quiet", "✕", leave);
    leaveButton.title = leaveButton.ariaLabel = say("predict_leave");
    head.append(mark, createElement("span", "finding-kicker", kicker), leaveButton);
    const title = createElement("h3", "predict-title");
    title.id = "predict-title";
    if (code) title.append(createElement("code", "predict-code", code), " ");
    title.append(...nodesWithCode(sentence));
    return [head, title];
  }

  function footer(predict: PredictState, ...buttons: HTMLElement[]) {
    const line = createElement("p", "predict-foot");
    line.append(...buttons);
    const score = scoreOfAnswers(predict.answers);
    if (score.asked) line.append(createElement("span", "predict-score", say("predict_score", score)));
    return line;
  }

  /** The button that Enter presses. */
  function mainButton(label: string, onClick: () => void) {
    const made = createButton("primary", label, onClick);
    made.append(" ", createElement("kbd", "", "⏎"));
    return made;
  }

  function questionView(predict: PredictState, question: PredictQuestion) {
    const n = (predict.questions ?? []).indexOf(question) + 1;
    const { line } = question;
    const kicker = say("predict_question", { n, of: predict.questions?.length ?? 0 });
    const text = say(`predict_ask_${question.kind}`, { what: question.what, other: question.other ?? "", line });
    const code = shortenedProgramLine(line, predict);
    const form = createElement("form", "predict-form") as HTMLFormElement;
    const isTyped = question.number !== null;
    const submit = mainButton(say("predict_show"), () => {});
    submit.type = "submit";
    form.append(
      isTyped ? field() : choices(question),
      footer(
        predict,
        submit,
        createButton("quiet", say("predict_skip"), () => answer(null)),
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

  function choices({ choices }: PredictQuestion) {
    const fieldset = createElement("fieldset", "predict-choices");
    fieldset.setAttribute("aria-labelledby", "predict-title");
    choices.forEach((choice, k) => {
      const label = createElement("label", "predict-choice");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "prediction", value: String(k) });
      const key = createElement("kbd", "", String(k + 1));
      key.setAttribute("aria-hidden", "true");
      label.append(radio, key, createElement("span", "", choiceText(choice)));
      fieldset.append(label);
    });
    return fieldset;
  }

  function field() {
    const label = createElement("label", "predict-field", `${say("predict_number")} `);
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

  const choiceText = ({ text, key }: { text: string; key?: string }) => (key ? say(key) : text);

  /** The answer beside what happened. */
  function answerView(predict: PredictState, question: PredictQuestion) {
    const givenAnswer = predict.answers[predict.answers.length - 1];
    const rightChoice = question.choices[question.right];
    const verdict = givenAnswer.isSkipped ? "skipped" : givenAnswer.isRight ? "right" : "wrong";
    const sentence = answerSentence(question, choiceText(rightChoice), say);
    const head = headerElements(say(`predict_${verdict}`), sentence);
    const marks = createElement("p", `predict-answers ${verdict}`);
    if (verdict === "wrong")
      marks.append(createElement("span", "predict-given", `${say("predict_you")} ${choiceText(givenAnswer)} ✗`));
    marks.append(createElement("span", "predict-right", `${choiceText(rightChoice)} ✓`));
    const why = createElement("p", "finding-why predict-why");
    const isLast = !(predict.questions ?? []).some(
      ({ at }) => at >= predict.reached && !predict.answers.some((a) => a.at === at),
    );
    const next = mainButton(say(isLast ? "predict_to_end" : "predict_next"), continueOn);
    article.replaceChildren(...head, marks, why, footer(predict, next));
    announce(`${say(`predict_${verdict}`)} ${sentence}`);
  }

  function introView(predict: PredictState, best: number, wasDone: boolean) {
    const n = predict.questions?.length ?? 0;
    const text = n ? say("predict_intro", { n }) : say("predict_none");
    const earlierScore = wasDone ? [createElement("p", "finding-why", say("predict_before", { right: best, n }))] : [];
    const next = mainButton(say(n ? "predict_first" : "predict_to_end"), continueOn);
    article.replaceChildren(...headerElements(say("predict_title"), text), ...earlierScore, footer(predict, next));
    announce(text);
  }

  function showWalk(predict: PredictState) {
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

  function summaryView(predict: PredictState) {
    const score = scoreOfAnswers(predict.answers);
    const missedAnswers = predict.answers.filter(({ isRight }) => !isRight);
    const text = score.asked
      ? say(missedAnswers.length ? "predict_end" : "predict_all_right", score)
      : say("predict_end_none");
    const list = createElement("ul", "predict-missed");
    for (const givenAnswer of missedAnswers) {
      const question = predict.questions?.find(({ at }) => at === givenAnswer.at);
      if (!question) continue;
      const link = createButton("finding-link", "", () => go(question.step));
      const rightText = choiceText(question.choices[question.right]);
      const key = givenAnswer.isSkipped ? "predict_missed_skipped" : "predict_missed";
      link.append(
        createElement("span", lineNameClass("finding-line", question.line), shortLineName(question.line)),
        " ",
      );
      const words = createElement("span", "");
      words.append(
        ...nodesWithCode(
          say(key, { answer: answerSentence(question, rightText, say), given: choiceText(givenAnswer) }),
        ),
      );
      link.append(words);
      const item = createElement("li", "");
      item.append(link);
      list.append(item);
    }
    const line = createElement("p", "predict-foot");
    const nextLink = nextInOrder();
    const nextButtons = nextLink ? [mainButton(say("predict_on"), () => nextLink.click())] : [];
    line.append(
      ...nextButtons,
      createButton(nextLink ? "quiet" : "primary", say("predict_again"), restart),
      createButton("quiet", say("predict_leave"), leave),
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
    /** `best` and `wasDone` say what was reached in this program before. */
    show(predict: PredictState, { best, wasDone }: { best: number; wasDone: boolean }) {
      const phase = cardPhase(predict);
      const hadFocus = article.contains(document.activeElement);
      article.dataset.phase = phase;
      if (phase === "making") article.replaceChildren(...headerElements(say("predict_title"), say("predict_making")));
      else if (phase === "intro") introView(predict, best, wasDone);
      else if (phase === "walk") showWalk(predict);
      else if (phase === "summary") summaryView(predict);
      else {
        const answered = predict.answers[predict.answers.length - 1];
        const question =
          phase === "ask" ? questionBeforeNextStep(predict) : predict.questions?.find(({ at }) => at === answered.at);
        if (question) (phase === "ask" ? questionView : answerView)(predict, question);
      }
      if (hadFocus) focusFirst();
    },
    showReason(text: string) {
      const why = article.querySelector(".predict-why");
      why?.replaceChildren(...nodesWithCode(text));
      if (why && text) announce(`${status.textContent} ${text}`);
    },
    focusFirst,
    /** Takes a key that no field has taken. Returns whether it was one of the card's. */
    key(key: string): boolean {
      const { phase } = article.dataset;
      const form = article.querySelector("form");
      if (key === "Enter") {
        if (form) form.requestSubmit();
        else if (phase !== "making") (article.querySelector(".primary") as HTMLElement | null)?.click();
        return true;
      }
      const input = (form?.querySelector("input[type=text]") ?? null) as HTMLInputElement | null;
      if (input && /^[-\d.]$/.test(key)) {
        input.focus();
        input.value += key;
        return true;
      }
      const radio = (form?.querySelector(`input[value="${Number(key) - 1}"]`) ?? null) as HTMLInputElement | null;
      if (!/^[1-9]$/.test(key) || !radio) return false;
      radio.checked = true;
      radio.focus();
      return true;
    },
  };
}

/** A line of the program. */
function shortenedProgramLine(line: number, predict: PredictState) {
  const text = (predict.whole?.trace.program.source.split("\n")[line - 1] ?? "").trim();
  return text.length > MAX_CODE_CHARACTERS ? `${text.slice(0, MAX_CODE_CHARACTERS)}…` : text;
}

/** What the question says, answered. */
function answerSentence({ kind, what, other, line, right: k }: PredictQuestion, rightText: string, say: Translate) {
  const isYesNo = kind === "raises" || kind === "shares" || kind === "leaf";
  const key = isYesNo ? `predict_is_${kind}_${k ? "yes" : "no"}` : `predict_is_${kind}`;
  return say(key, { what, other: other ?? "", line, right: rightText });
}
