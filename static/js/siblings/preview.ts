/** What a sibling would do: the program is run with it, and compared with the run that is shown. */

import { compareRuns, type Comparison } from "../compare/comparison.ts";
import {
  groupByName,
  clauseAboutName,
  comparisonLocale,
  outcomeText,
  outputDifferenceText,
} from "../compare/comparison_words.ts";
import { nodesWithCode, createElement } from "../browser/elements.ts";
import { loadLiveLocale } from "../words/page_locale.ts";
import { textAfterFix } from "../program/repair.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import { runForTrace } from "../requests/trace_source.ts";
import type { LineEdit } from "../requests/fixes.ts";
import type { Translate } from "../words/sentences.ts";

/** the same numbers at the end, others, or the program does not get there */
type SiblingEffect = "same" | "other" | "stops";

interface SiblingPreview {
  mark: SiblingEffect;
  /** what the mark means */
  words: string;
  title: string;
  sentences: string[];
}

const MAX_PREVIEW_SENTENCES = 5;
/** Differences that are of numbers, not of how they are kept. */
const NUMERIC_PROPERTIES = new Set(["values", "grad", "exists", "shape", "dtype", "type"]);

/** Runs the program with a change and the settings of the run that is shown. Rejects where there is no answer. */
export async function previewEdits(
  opened: OpenTrace,
  settings: object,
  { edits, line, code }: { edits: LineEdit[]; line: number; code: string },
  signal: AbortSignal,
): Promise<SiblingPreview> {
  const { lang } = document.documentElement;
  const source = textAfterFix(opened.trace.program, edits);
  const [trace, liveLocale] = await Promise.all([
    runForTrace({ source, ...settings }, signal, { live: true }),
    loadLiveLocale(lang),
  ]);
  const comparison = compareRuns(opened, openTrace(trace));
  const mark = alternativeEffectOf(comparison);
  return {
    mark,
    words: liveLocale.say(`live_mark_${mark}`),
    title: liveLocale.say("live_preview", { line, code }),
    sentences: differenceSentences(comparison, comparisonLocale(lang).say, liveLocale.say),
  };
}

export function alternativeEffectOf({ left, right, rows, differences }: Comparison): SiblingEffect {
  if (right.trace.outcome.status !== "finished" && left.trace.outcome.status === "finished") return "stops";
  const atEnd = differences.filter(({ to }) => to === rows.length - 1);
  return atEnd.some(({ property }) => NUMERIC_PROPERTIES.has(property)) ? "other" : "same";
}

/** What differs, the most lasting first. */
function differenceSentences(
  { left, right, rows, differences, output }: Comparison,
  compare: Translate,
  say: Translate,
): string[] {
  const lastingDifferences = differences.filter(({ to }) => to === rows.length - 1);
  const [presenceDifferences, otherDifferences] = [
    lastingDifferences.filter(isExistenceDifference),
    lastingDifferences.filter((difference) => !isExistenceDifference(difference)),
  ];
  const endsTheSame =
    left.trace.outcome.status === right.trace.outcome.status &&
    left.trace.outcome.error?.line === right.trace.outcome.error?.line;
  const allSentences = [
    ...(endsTheSame ? [] : [say("live_outcome", { outcome: outcomeText(right.trace.outcome, compare) })]),
    ...groupByName(otherDifferences).map((group) => clauseAboutName(group, compare)),
    ...(endsTheSame
      ? presenceDifferences.map(({ name, right: now }) => say(now ? "live_comes" : "live_goes", { name }))
      : []),
    ...output.filter((row) => row.left && row.right).map((row) => outputDifferenceText(row, compare)),
  ];
  if (!allSentences.length) return [say("live_same")];
  if (allSentences.length <= MAX_PREVIEW_SENTENCES) return allSentences;
  return [
    ...allSentences.slice(0, MAX_PREVIEW_SENTENCES),
    say("live_more", { count: allSentences.length - MAX_PREVIEW_SENTENCES }),
  ];
}

/** Whether a name is there on one side alone. */
function isExistenceDifference({ property }: { property: string }) {
  return property === "exists";
}

/** Say it at the stage's foot. */
export function showSiblingPreview(foot: HTMLElement, { mark, title, sentences }: SiblingPreview) {
  const box = createElement("div", `live-strip sibling-preview ${mark}`);
  box.setAttribute("role", "status");
  const head = createElement("p", "preview-title");
  head.append(...nodesWithCode(title));
  const list = createElement("ul", "");
  for (const sentence of sentences) {
    const item = createElement("li", "");
    item.append(...nodesWithCode(sentence));
    list.append(item);
  }
  box.append(head, list);
  foot.querySelector(".sibling-preview")?.remove();
  foot.append(box);
}
