/**
 * The differences of two runs in words: of a name, and of the whole. Predicates say what the right side is, and what
 * the left.
 */

import en from "../../locales/compare.en.json" with { type: "json" };
import zh from "../../locales/compare.zh.json" with { type: "json" };
import { createLocale, type Locale, type Translate } from "../words/sentences.ts";
import { addToList } from "../trace/multimap.ts";
import type { Outcome } from "../trace/wire.ts";
import type { Comparison, Difference, OutputDifference } from "./comparison.ts";

type PropertyChange = Pick<Difference, "name" | "property" | "left" | "right">;

/** As many names as a summary has. */
const MAX_NAMES_IN_SUMMARY = 4;
const MAX_PRINTED_CHARACTERS = 60;

export const comparisonLocale: (language: string) => Locale = createLocale({ en, zh });

/** What is different about a name, without the name. */
function differenceText({ property, left, right }: PropertyChange, say: Translate) {
  const leftText = left?.text ?? "";
  const rightText = right?.text ?? "";
  const quoted = { left: `\`${leftText}\``, right: `\`${rightText}\`` };
  if (property === "exists") return say(left ? "compare.only_left" : "compare.only_right");
  if (property === "memory" || property === "counter" || property === "base")
    return sharingText(property, leftText, rightText, say);
  if (property === "requires_grad" || property === "leaf")
    return say(`compare.${property}_${rightText === "True" ? "true" : "false"}`);
  if (leftText === rightText || !left || !right) return say("compare.values_unknown");
  return say(`compare.${property}`, quoted);
}

function sharingText(
  property: "memory" | "counter" | "base" | "memory_and_counter",
  leftText: string,
  rightText: string,
  say: Translate,
) {
  const key = rightText === "" ? "own" : leftText === "" ? "shared" : "other";
  return say(`compare.${property}_${key}`, { left: quoteNamesInList(leftText), right: quoteNamesInList(rightText) });
}

function quoteNamesInList(list: string) {
  return list
    .split(", ")
    .filter(Boolean)
    .map((name) => (name === "…" ? name : `\`${name}\``))
    .join(", ");
}

/** What is different about one name, as a clause; all changes are of that name. */
export function clauseAboutName(changes: PropertyChange[], say: Translate) {
  const predicates = differenceTextsOfName(changes, say);
  const last = predicates.pop() ?? "";
  const text = predicates.length ? predicates.join(say("compare.comma")) + say("compare.and") + last : last;
  return say("compare.subject", { name: changes[0].name, predicates: text });
}

/** Memory and version counter are mostly shared together: then they are told together. */
function differenceTextsOfName(changes: PropertyChange[], say: Translate) {
  const [memory, counter] = ["memory", "counter"].map((name) => changes.find(({ property }) => property === name));
  const areToldTogether =
    memory && counter && memory.left?.text === counter.left?.text && memory.right?.text === counter.right?.text;
  if (!areToldTogether) return changes.map((change) => differenceText(change, say));
  return changes.flatMap((change) => {
    if (change === counter) return [];
    if (change !== memory) return [differenceText(change, say)];
    return [sharingText("memory_and_counter", memory.left?.text ?? "", memory.right?.text ?? "", say)];
  });
}

/** The changes of one name together, in order. */
export function groupByName<T extends PropertyChange>(changes: T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const change of changes) addToList(groups, change.name, change);
  return [...groups.values()];
}

/** How a run ended. */
export function outcomeText({ status, error }: Outcome, say: Translate) {
  if (status !== "raised") return say(`compare.${status}`);
  return say(error?.line ? "compare.raised" : "compare.raised_nowhere", { line: error?.line, type: error?.type ?? "" });
}

/** The line of a row: of the left side where it has made a step there. */
export function lineOfRow({ left, right, rows }: Comparison, row: number) {
  const { left: l, right: r } = rows[row];
  const before = rows[row - 1] ?? { left: -1, right: -1 };
  const traceStep = l > before.left ? left.trace.steps[l] : right.trace.steps[r];
  return traceStep?.line ?? 1;
}

/** The comparison in a few sentences, of at most `maxNames` names. */
export function comparisonSummary(comparison: Comparison, say: Translate, maxNames: number = MAX_NAMES_IN_SUMMARY) {
  const { left, right, rows, differences, output, apart } = comparison;
  const outcomes = [left.trace.outcome, right.trace.outcome].map((outcome) => outcomeText(outcome, say));
  const outcome =
    outcomes[0] === outcomes[1] ? [] : [say("compare.outcome", { left: outcomes[0], right: outcomes[1] })];
  if (!left.count || !right.count) return outcome[0] ?? say("compare.neither");
  if (apart === null) return outcome[0] ?? say("compare.same");
  const line = lineOfRow(comparison, apart);
  const opening = apart === 0 ? say("compare.apart_first") : say("compare.apart", { line });
  const lastingGroups = groupByName(differences.filter(({ to }) => to === rows.length - 1));
  const endedGroups = groupByName(differences.filter(({ to }) => to < rows.length - 1));
  const shownClauses = [
    ...lastingGroups.slice(0, maxNames).map((group) => clauseAboutName(group, say)),
    ...endedGroups
      .slice(0, Math.max(0, maxNames - lastingGroups.length))
      .map((group) =>
        say("compare.meanwhile", { difference: clauseAboutName(group, say), line: lineOfRow(comparison, group[0].to) }),
      ),
  ];
  const count = lastingGroups.length + endedGroups.length - maxNames;
  if (count > 0) shownClauses.push(say("compare.and_more", { count }));
  const sentence = shownClauses.length
    ? [say("compare.right", { differences: shownClauses.join(say("compare.semicolon")) })]
    : [];
  return [opening, ...sentence, ...output.slice(0, 1).map((row) => outputDifferenceText(row, say)), ...outcome].join(
    " ",
  );
}

export function outputDifferenceText({ line, left, right }: OutputDifference, say: Translate) {
  const key = !left ? "_right" : !right ? "_left" : "";
  return say(`compare.output${key}`, {
    line: line.left ?? line.right,
    left: `\`${shortenedOutput(left)}\``,
    right: `\`${shortenedOutput(right)}\``,
  });
}

function shortenedOutput(text: string) {
  const oneLine = text.trim().replace(/\s+/g, " ");
  return oneLine.length > MAX_PRINTED_CHARACTERS ? `${oneLine.slice(0, MAX_PRINTED_CHARACTERS - 1)}…` : oneLine;
}
