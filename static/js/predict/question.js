/** A question on what the next statement does, and the making of its choices. */

/**
 * @typedef {"value" | "grad" | "version" | "raises" | "shares" | "leaf" | "bytes"} Kind
 * @typedef {{text: string, key?: string}} Choice   key: of a sentence that stands in the place of the text, for words
 * @typedef {{at: number, step: number, line: number, stmt: number, kind: Kind, what: string, other?: string, uid: string | null,
 *   index?: number[] | null, choices: Choice[], right: number, number: number | null, reason: string | null, weight: number}} Question
 *   at: the step after which it is asked; step: the one that answers it; what: the name, element or path that it asks about;
 *   other: a second name; uid: the tensor that it is about; index: of the element, null for all of them; right: the index of the right choice; number:
 *   the right answer where it is typed instead; reason: the sentence of the answer where the step's own does not say it
 */

const MAX_CHOICES = 4;

/** @type {Choice[]} */
const NO_YES_CHOICES = [
  { text: "no", key: "predict_no" },
  { text: "yes", key: "predict_yes" },
];

/** A question that is answered by no or yes. @param {boolean} isYes */
export const yesOrNo = (isYes) => ({ choices: NO_YES_CHOICES, right: Number(isYes), number: null });

/**
 * The right answer among the beliefs that people hold instead, in an order that does not tell which it is.
 * @param {string} right @param {string[]} wrongAnswers the most common first @returns {{choices: Choice[], right: number, number: null} | null}
 *   null where there is nothing to choose
 */
export function choiceAmong(right, wrongAnswers) {
  const texts = [...new Set([right, ...wrongAnswers])].slice(0, MAX_CHOICES).sort(compare);
  if (texts.length < 2) return null;
  return { choices: texts.map((text) => ({ text })), right: texts.indexOf(right), number: null };
}

/** A question whose answer is typed. @param {number} number @param {string} text of it */
export const typedAnswer = (number, text) => ({ choices: [{ text }], right: 0, number });

/** None first, then by number, then by text. @param {string} a @param {string} b */
function compare(a, b) {
  if (a === "None" || b === "None") return a === "None" ? -1 : 1;
  const [numberA, numberB] = [a, b].map((text) =>
    Number.parseFloat(text.replace("−", "-").replace(/^\[/, "").replace(/^v/, "")),
  );
  return numberA - numberB || (a < b ? -1 : 1);
}

/** Whether what was typed is the right number. @param {Question} question @param {string} text */
export function isRightNumber({ number }, text) {
  const givenNumber = Number(text.trim().replace("−", "-").replace(",", "."));
  if (number === null || text.trim() === "" || !Number.isFinite(givenNumber)) return false;
  return Math.abs(givenNumber - number) <= Math.max(1e-4 * Math.abs(number), 1e-5);
}
