/** What a sibling would do: the program is run with it, and compared with the run that is shown. */

import { compareRuns } from "../compare/comparison.js";
import { changesByName, nameClause, compareLocale, outcomeText, outputText } from "../compare/words.js";
import { codeNodes, element } from "../browser/elements.js";
import { loadLiveLocale } from "../words/page_locale.js";
import { fixedText } from "../program/repair.js";
import { openTrace } from "../trace/state.js";
import { requestTrace } from "../requests/trace_source.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../words/sentences.js").Locale["say"]} Say */
/** @typedef {import("../compare/comparison.js").Comparison} Comparison */
/** @typedef {"same" | "other" | "stops"} Mark   the same numbers at the end, others, or the program does not get there */
/** @typedef {{mark: Mark, words: string, title: string, sentences: string[]}} Preview   words: what the mark means */

const MAX_SENTENCES = 5;
/** Differences that are of numbers, not of how they are kept. */
const NUMERIC_PROPERTIES = new Set(["values", "grad", "exists", "shape", "dtype", "type"]);

/** Run the program with a change. @param {OpenTrace} opened the run that is shown @param {object} settings of it
 * @param {{edits: import("../requests/fixes.js").LineEdit[], line: number, code: string}} change @param {AbortSignal} signal
 * @returns {Promise<Preview>} rejects where there is no answer */
export async function tryChange(opened, settings, { edits, line, code }, signal) {
  const { lang } = document.documentElement;
  const source = fixedText(opened.trace.program, edits);
  const [trace, liveLocale] = await Promise.all([
    requestTrace({ source, ...settings }, signal, { live: true }),
    loadLiveLocale(lang),
  ]);
  const comparison = compareRuns(opened, openTrace(trace));
  const mark = markOf(comparison);
  return {
    mark,
    words: liveLocale.say(`live_mark_${mark}`),
    title: liveLocale.say("live_preview", { line, code }),
    sentences: sentencesOf(comparison, compareLocale(lang).say, liveLocale.say),
  };
}

/** @param {Comparison} comparison @returns {Mark} */
export function markOf({ left, right, rows, differences }) {
  if (right.trace.outcome.status !== "finished" && left.trace.outcome.status === "finished") return "stops";
  const atEnd = differences.filter(({ to }) => to === rows.length - 1);
  return atEnd.some(({ property }) => NUMERIC_PROPERTIES.has(property)) ? "other" : "same";
}

/** What differs, the most lasting first. @param {Comparison} comparison @param {Say} compare @param {Say} say @returns {string[]} */
function sentencesOf({ left, right, rows, differences, output }, compare, say) {
  const lastingDifferences = differences.filter(({ to }) => to === rows.length - 1);
  const [presenceDifferences, otherDifferences] = [
    lastingDifferences.filter(isPresence),
    lastingDifferences.filter((difference) => !isPresence(difference)),
  ];
  const endsTheSame =
    left.trace.outcome.status === right.trace.outcome.status &&
    left.trace.outcome.error?.line === right.trace.outcome.error?.line;
  const allSentences = [
    ...(endsTheSame ? [] : [say("live_outcome", { outcome: outcomeText(right.trace.outcome, compare) })]),
    ...changesByName(otherDifferences).map((group) => nameClause(group, compare)),
    ...(endsTheSame
      ? presenceDifferences.map(({ name, right: now }) => say(now ? "live_comes" : "live_goes", { name }))
      : []),
    ...output.filter((row) => row.left && row.right).map((row) => outputText(row, compare)),
  ];
  if (!allSentences.length) return [say("live_same")];
  if (allSentences.length <= MAX_SENTENCES) return allSentences;
  return [...allSentences.slice(0, MAX_SENTENCES), say("live_more", { count: allSentences.length - MAX_SENTENCES })];
}

/** Whether a name is there on one side alone. @param {{property: string}} difference */
function isPresence({ property }) {
  return property === "exists";
}

/** Say it at the stage's foot. @param {HTMLElement} foot @param {Preview} preview */
export function showPreview(foot, { mark, title, sentences }) {
  const box = element("div", `live-strip sibling-preview ${mark}`);
  box.setAttribute("role", "status");
  const head = element("p", "preview-title");
  head.append(...codeNodes(title));
  const list = element("ul", "");
  for (const sentence of sentences) {
    const item = element("li", "");
    item.append(...codeNodes(sentence));
    list.append(item);
  }
  box.append(head, list);
  foot.querySelector(".sibling-preview")?.remove();
  foot.append(box);
}
