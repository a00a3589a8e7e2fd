/** A comparison as the server gives it: by the fields of the interface, with its words. */

import { compareTraces } from "./comparison.ts";
import {
  clauseAboutName,
  comparisonLocale,
  lineOfRow,
  outputDifferenceText,
  comparisonSummary,
} from "./comparison_words.ts";
import type { Trace } from "../trace/wire.ts";

/** Characters of all differences, and of all that is printed otherwise; of more, the first ones. */
const MAX_CHARACTERS = 500_000;

/** The first entries, as many as fit in the characters of a reply as JSON. */
function withinCharacters<T, R>(entries: T[], replyOf: (entry: T) => R): R[] {
  const replies: R[] = [];
  let charactersLeft = MAX_CHARACTERS;
  for (const entry of entries) {
    const reply = replyOf(entry);
    charactersLeft -= JSON.stringify(reply).length;
    if (charactersLeft < 0) break;
    replies.push(reply);
  }
  return replies;
}

export function comparisonReply({ left, right }: { left: Trace; right: Trace }, language: string) {
  const { say } = comparisonLocale(language);
  const comparison = compareTraces(left, right);
  const last = comparison.rows.length - 1;
  const differences = withinCharacters(comparison.differences, (difference) => ({
    name: difference.name,
    property: difference.property,
    left: difference.left?.text ?? null,
    right: difference.right?.text ?? null,
    from_line: lineOfRow(comparison, difference.from),
    to_line: difference.to === last ? null : lineOfRow(comparison, difference.to),
    text: clauseAboutName([difference], say),
  }));
  const output = withinCharacters(comparison.output, (difference) => ({
    left_line: difference.line.left,
    right_line: difference.line.right,
    left: difference.left,
    right: difference.right,
    text: outputDifferenceText(difference, say),
  }));
  return {
    same: comparison.apart === null && left.outcome.status === right.outcome.status,
    apart_line: comparison.apart === null ? null : lineOfRow(comparison, comparison.apart),
    text: comparisonSummary(comparison, say),
    differences,
    output,
    omitted: comparison.differences.length - differences.length + comparison.output.length - output.length,
    outcomes: { left: left.outcome.status, right: right.outcome.status },
  };
}
