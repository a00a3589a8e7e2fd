/** A comparison as the server gives it: by the fields of the interface, with its words. */

import { compareTraces } from "./comparison.ts";
import { clauseAboutName, compareLocale, lineOfRow, outputDifferenceText, comparisonSummary } from "./words.ts";
import type { Trace } from "../trace/wire.ts";

export function comparisonReply({ left, right }: { left: Trace; right: Trace }, language: string) {
  const { say } = compareLocale(language);
  const comparison = compareTraces(left, right);
  const last = comparison.rows.length - 1;
  return {
    same: comparison.apart === null && left.outcome.status === right.outcome.status,
    apart_line: comparison.apart === null ? null : lineOfRow(comparison, comparison.apart),
    text: comparisonSummary(comparison, say),
    differences: comparison.differences.map((difference) => ({
      name: difference.name,
      property: difference.property,
      left: difference.left?.text ?? null,
      right: difference.right?.text ?? null,
      from_line: lineOfRow(comparison, difference.from),
      to_line: difference.to === last ? null : lineOfRow(comparison, difference.to),
      text: clauseAboutName([difference], say),
    })),
    output: comparison.output.map((difference) => ({
      left_line: difference.line.left,
      right_line: difference.line.right,
      left: difference.left,
      right: difference.right,
      text: outputDifferenceText(difference, say),
    })),
    outcomes: { left: left.outcome.status, right: right.outcome.status },
  };
}
