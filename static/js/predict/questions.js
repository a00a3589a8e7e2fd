/** The questions of a run: for each statement that is worth one, what it does, made from the trace alone. */

import { askBytes } from "./ask_bytes.js";
import { askGradient } from "./ask_gradient.js";
import { askRaises } from "./ask_raises.js";
import { askLeaf, askShares } from "./ask_sharing.js";
import { askValue } from "./ask_value.js";
import { askVersion } from "./ask_version.js";
import { unitsOf } from "./units.js";

/** @typedef {import("./question.js").Question} Question */

const QUESTION_MAKERS = [askRaises, askValue, askGradient, askVersion, askShares, askLeaf, askBytes];
const MAX_QUESTIONS = 24;
/** What a question loses with each one of its kind that was asked before: a row of alike ones teaches nothing. */
const REPEAT_PENALTY = 9;
const MIN_WEIGHT = 40;
/** So often a statement of a loop is asked about. */
const MAX_OF_STATEMENT = 2;

/** @param {import("../trace/state.js").OpenTrace} opened @returns {Question[]} in the order of the run, one at most for a statement each time that it runs */
export function questionsOf(opened) {
  return [...questionsByUnit(opened)].flatMap((question) => question ?? []);
}

/** The questions, statement by statement: whoever draws a page meanwhile can stop in between.
 * @param {import("../trace/state.js").OpenTrace} opened @returns {Generator<Question | null>} null for a statement that is not worth one */
export function* questionsByUnit(opened) {
  /** @type {Map<string, number>} how often a kind was asked, and a statement */
  const counts = new Map();
  const countOf = (/** @type {string} */ key) => counts.get(key) ?? 0;
  for (const unit of unitsOf(opened)) {
    if (countOf("all") >= MAX_QUESTIONS) break;
    const isAsked = countOf(`stmt ${unit.stmt}`) < MAX_OF_STATEMENT;
    const best = isAsked ? bestQuestion(unit, countOf) : null;
    yield best;
    if (!best) continue;
    for (const key of ["all", best.kind, questionKey(best), `stmt ${unit.stmt}`]) counts.set(key, countOf(key) + 1);
  }
}

/** @param {import("./units.js").Unit} unit @param {(key: string) => number} countOf how often something was asked @returns {Question | null} */
function bestQuestion(unit, countOf) {
  const { at, step, line, stmt } = unit;
  /** @type {{question: Question, worth: number} | null} */
  let best = null;
  for (const proposed of QUESTION_MAKERS.flatMap((ask) => ask(unit))) {
    const question = /** @type {Question} */ ({ at, step, line, stmt, ...proposed });
    const value = question.weight - REPEAT_PENALTY * countOf(question.kind);
    if (value < MIN_WEIGHT || countOf(questionKey(question)) || (best && best.worth >= value)) continue;
    best = { question, worth: value };
  }
  return best?.question ?? null;
}

/** The same question of the same statement; a gradient may be added to, so that is asked again. @param {Question} question */
function questionKey({ stmt, kind, what, choices }) {
  return `${kind} ${stmt} ${what} ${kind === "grad" ? choices.map(({ text }) => text).join() : ""}`;
}
