/**
 * Rows of the list that another text has as well stay what they are, and where they are: a long program has thousands.
 */

import type { SourcePart } from "./card_source.ts";
import type { ProgramItem, ParsedProgram } from "./statements.ts";

/** What a row looks like, but for its line's number. */
export function rowAppearanceKey(
  { lines }: ParsedProgram,
  { kind, word, depth, broken, first, last }: ProgramItem,
  source: SourcePart[],
): string {
  const styledParts = source.map((part) =>
    typeof part === "string" ? part : `${part.style}\u0001${part.name ?? ""}\u0001${part.text}`,
  );
  return [kind, word, depth, broken, ...lines.slice(first, last + 1), ...styledParts].join("\u0000");
}

/**
 * A row for each item: one of those before that looks like it, or a new one. `rowsBefore` has rows by their looks, in
 * order; those that are kept are taken out. `updateRow` gives a row its new line.
 */
export function reuseRows<R>(
  items: ProgramItem[],
  signatureOf: (item: ProgramItem) => string,
  rowsBefore: Map<string, R[]>,
  makeRow: (item: ProgramItem) => R,
  updateRow: (row: R, item: ProgramItem) => void,
): { rows: Map<ProgramItem, R>; byLooks: Map<string, R[]> } {
  const rows = new Map<ProgramItem, R>();
  const bySignature = new Map<string, R[]>();
  for (const item of items) {
    const signature = signatureOf(item);
    const reused = rowsBefore.get(signature)?.shift();
    if (reused) updateRow(reused, item);
    const row = reused ?? makeRow(item);
    rows.set(item, row);
    const sameRows = bySignature.get(signature);
    if (sameRows) sameRows.push(row);
    else bySignature.set(signature, [row]);
  }
  return { rows, byLooks: bySignature };
}

/** Puts rows in the place of others, and leaves alone what both have at their beginnings and ends. */
export function replaceRowsInList(list: HTMLElement, before: HTMLElement[], after: HTMLElement[]) {
  const shorterLength = Math.min(before.length, after.length);
  let sameAtStart = 0;
  while (sameAtStart < shorterLength && before[sameAtStart] === after[sameAtStart]) sameAtStart++;
  let sameAtEnd = 0;
  while (
    sameAtEnd < shorterLength - sameAtStart &&
    before[before.length - 1 - sameAtEnd] === after[after.length - 1 - sameAtEnd]
  )
    sameAtEnd++;
  const rowAfter = sameAtEnd ? before[before.length - sameAtEnd] : null;
  for (const row of before.slice(sameAtStart, before.length - sameAtEnd)) row.remove();
  const newRows = after.slice(sameAtStart, after.length - sameAtEnd);
  if (rowAfter) rowAfter.before(...newRows);
  else list.append(...newRows);
}
