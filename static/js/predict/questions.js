/** The questions of a run: for each statement that is worth one, what it does, made from the trace alone. */

import { askBytes } from "./ask_bytes.js";
import { askGradient } from "./ask_gradient.js";
import { askRaises } from "./ask_raises.js";
import { askLeaf, askShares } from "./ask_sharing.js";
import { askValue } from "./ask_value.js";
import { askVersion } from "./ask_version.js";
import { unitsOf } from "./units.js";

/** @typedef {import("./question.js").Question} Question */

const ASK = [askRaises, askValue, askGradient, askVersion, askShares, askLeaf, askBytes];
const MOST_QUESTIONS = 24;
/** What a question loses with each one of its kind that was asked before: a row of alike ones teaches nothing. */
const REPEATED = 9;
const LEAST_WEIGHT = 40;
/** So often a statement of a loop is asked about. */
const MOST_OF_STATEMENT = 2;

/** @param {import("../state.js").OpenTrace} opened @returns {Question[]} in the order of the run, one at most for a statement each time that it runs */
export function questionsOf(opened) {
  /** @type {Question[]} */
  const out = [];
  /** @type {Map<string, number>} how often a kind was asked, and a statement */
  const counts = new Map();
  const count = (/** @type {string} */ key) => counts.get(key) ?? 0;
  for (const unit of unitsOf(opened)) {
    if (out.length >= MOST_QUESTIONS) break;
    if (count(`stmt ${unit.stmt}`) >= MOST_OF_STATEMENT) continue;
    const { at, step, line, stmt } = unit;
    const weighed = ASK.flatMap((ask) => ask(unit)).map((question) => {
      const full = /** @type {Question} */ ({ at, step, line, stmt, ...question });
      return { full, worth: full.weight - REPEATED * count(full.kind) };
    });
    const best = weighed
      .filter(({ full, worth }) => worth >= LEAST_WEIGHT && !count(keyOf(full)))
      .reduce((a, b) => (a && a.worth >= b.worth ? a : b), /** @type {typeof weighed[0] | null} */ (null));
    if (!best) continue;
    out.push(best.full);
    for (const key of [best.full.kind, keyOf(best.full), `stmt ${stmt}`]) counts.set(key, count(key) + 1);
  }
  return out;
}

/** The same question of the same statement; a gradient may be added to, so that is asked again. @param {Question} question */
function keyOf({ stmt, kind, what, choices }) {
  return `${kind} ${stmt} ${what} ${kind === "grad" ? choices.map(({ text }) => text).join() : ""}`;
}
