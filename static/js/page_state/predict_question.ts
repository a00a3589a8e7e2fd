/** A question on what the next statement does, and the making of its choices. */

type QuestionKind = "value" | "grad" | "version" | "raises" | "shares" | "leaf" | "bytes";

export interface AnswerChoice {
  text: string;
  /** of a sentence that stands in the place of the text, for words */
  key?: string;
}

export interface PredictQuestion {
  /** the step after which it is asked */
  at: number;
  /** the one that answers it */
  step: number;
  line: number;
  stmt: number;
  kind: QuestionKind;
  /** the name, element or path that it asks about */
  what: string;
  /** a second name */
  other?: string;
  /** the tensor that it is about */
  uid: string | null;
  /** of the element, null for all of them */
  index?: number[] | null;
  choices: AnswerChoice[];
  /** the index of the right choice */
  right: number;
  /** the right answer where it is typed instead */
  number: number | null;
  /** the sentence of the answer where the step's own does not say it */
  reason: string | null;
  weight: number;
}

const MAX_CHOICES = 4;

const NO_YES_CHOICES: AnswerChoice[] = [
  { text: "no", key: "predict_no" },
  { text: "yes", key: "predict_yes" },
];

/** A question that is answered by no or yes. */
export const yesNoAnswer = (isYes: boolean) => ({ choices: NO_YES_CHOICES, right: Number(isYes), number: null });

/**
 * The right answer among the beliefs that people hold instead, the most common first, in an order that does not tell
 * which it is. Null where there is nothing to choose.
 */
export function choiceAnswer(
  right: string,
  wrongAnswers: string[],
): { choices: AnswerChoice[]; right: number; number: null } | null {
  const texts = [...new Set([right, ...wrongAnswers])].slice(0, MAX_CHOICES).sort(compareChoiceTexts);
  if (texts.length < 2) return null;
  return { choices: texts.map((text) => ({ text })), right: texts.indexOf(right), number: null };
}

/** A question whose answer is typed; `text` is how it is written. */
export const typedAnswer = (number: number, text: string) => ({ choices: [{ text }], right: 0, number });

/** None first, then by number, then by text. */
function compareChoiceTexts(a: string, b: string) {
  if (a === "None" || b === "None") return a === "None" ? -1 : 1;
  const [numberA, numberB] = [a, b].map((text) =>
    Number.parseFloat(text.replace("−", "-").replace(/^\[/, "").replace(/^v/, "")),
  );
  return numberA - numberB || (a < b ? -1 : 1);
}

/** Whether what was typed is the right number. */
export function isTypedAnswerRight({ number }: PredictQuestion, text: string) {
  const givenNumber = Number(text.trim().replace("−", "-").replace(",", "."));
  if (number === null || text.trim() === "" || !Number.isFinite(givenNumber)) return false;
  return Math.abs(givenNumber - number) <= Math.max(1e-4 * Math.abs(number), 1e-5);
}
