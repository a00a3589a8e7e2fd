/** Which statements and which steps of two runs belong together: a diff of the statements, then one of the steps. */

import { diffArrays } from "diff";
import type { Program, Step, Trace } from "../trace/wire.ts";

/** indices on both sides; null where the other side has nothing */
export interface IndexPair {
  left: number | null;
  right: number | null;
}

/** one place of the common timeline: the steps that both sides have reached, -1 before the first. */
export interface TimelineRow {
  left: number;
  right: number;
  /** whether both made a step here */
  both: boolean;
}

/** Statements of a replaced stretch that are tried against each other; of longer ones the order decides. */
const MAX_REPLACED_STATEMENTS = 40;

/** The statements of two programs in one order, by their indices. */
export function alignStatements(left: Program, right: Program): IndexPair[] {
  const texts = [statementTexts(left), statementTexts(right)];
  const pairs: IndexPair[] = [];
  let [l, r] = [0, 0];
  /** what the diff took away, and what it put there */
  let replacedIndices: [number[], number[]] = [[], []];
  const pairReplacedStretch = () => {
    pairs.push(...pairReplacedStatements(replacedIndices, texts));
    replacedIndices = [[], []];
  };
  for (const { removed, added, count } of diffArrays(texts[0], texts[1])) {
    for (let k = 0; k < count; k++) {
      if (removed) replacedIndices[0].push(l++);
      else if (added) replacedIndices[1].push(r++);
      else {
        if (k === 0) pairReplacedStretch();
        pairs.push({ left: l++, right: r++ });
      }
    }
  }
  pairReplacedStretch();
  return pairs;
}

/** The text of each statement, without the statements within it; equal for equal code whatever its indentation. */
export function statementTexts({ source, statements = [] }: Program): string[] {
  const lines = source.split("\n");
  return statements.map(({ line, col, end_line, end_col }, i) => {
    const firstInner = statements.find((other) => other.parent === i);
    const textEnd = firstInner ? { line: firstInner.line, col: firstInner.col } : { line: end_line, col: end_col };
    const text = lines.slice(line - 1, textEnd.line);
    if (text.length) text[text.length - 1] = text[text.length - 1].slice(0, textEnd.col);
    if (text.length) text[0] = text[0].slice(col);
    return text
      .map((part) => part.trim())
      .join("\n")
      .trim();
  });
}

/** Pairs of a replaced stretch: of statements that are most alike, in order. */
function pairReplacedStatements([left, right]: [number[], number[]], [leftTexts, rightTexts]: string[][]): IndexPair[] {
  if (!left.length || !right.length || left.length > MAX_REPLACED_STATEMENTS || right.length > MAX_REPLACED_STATEMENTS)
    return [...left.map((l) => ({ left: l, right: null })), ...right.map((r) => ({ left: null, right: r }))];
  const wordsOfSides = [
    left.map((l) => wordsOfStatement(leftTexts[l])),
    right.map((r) => wordsOfStatement(rightTexts[r])),
  ];
  /** the best sum of likenesses from a place on */
  const bestLikeness: number[][] = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let a = left.length - 1; a >= 0; a--)
    for (let b = right.length - 1; b >= 0; b--)
      bestLikeness[a][b] = Math.max(
        bestLikeness[a + 1][b],
        bestLikeness[a][b + 1],
        statementSimilarity(wordsOfSides[0][a], wordsOfSides[1][b]) + bestLikeness[a + 1][b + 1],
      );
  const pairs: IndexPair[] = [];
  let [a, b] = [0, 0];
  while (a < left.length || b < right.length) {
    const likeness =
      a < left.length && b < right.length ? statementSimilarity(wordsOfSides[0][a], wordsOfSides[1][b]) : 0;
    if (likeness > 0 && bestLikeness[a][b] === likeness + bestLikeness[a + 1][b + 1])
      pairs.push({ left: left[a++], right: right[b++] });
    else if (b >= right.length || (a < left.length && bestLikeness[a][b] === bestLikeness[a + 1][b]))
      pairs.push({ left: left[a++], right: null });
    else pairs.push({ left: null, right: right[b++] });
  }
  return pairs;
}

function wordsOfStatement(text: string) {
  return text.match(/\w+|[^\w\s]/g) ?? [];
}

/** How alike two statements are, from 0 to 2: by their words, and by what they assign to; 0 for less than a third. */
function statementSimilarity(a: string[], b: string[]) {
  const left = new Set(a);
  const right = new Set(b);
  const common = [...left].filter((word) => right.has(word)).length;
  const shareInCommon = (2 * common) / Math.max(1, left.size + right.size);
  return shareInCommon < 1 / 3 ? 0 : shareInCommon + (a[0] === b[0] ? 1 : 0);
}

/**
 * The steps of two runs on one timeline, in order; each side's index never goes back. `statements` are as
 * `alignStatements` gives them.
 */
export function alignSteps(
  left: Trace,
  right: Trace,
  statements: IndexPair[] = alignStatements(left.program, right.program),
): TimelineRow[] {
  /** by a statement of the right side, its partner on the left */
  const leftPartner = new Map<number, number>();
  for (const pair of statements) if (pair.left !== null && pair.right !== null) leftPartner.set(pair.right, pair.left);
  const stepKeys = [
    left.steps.map((traceStep) => stepAlignmentKey(traceStep, traceStep.stmt ?? null)),
    right.steps.map((traceStep) =>
      stepAlignmentKey(
        traceStep,
        traceStep.stmt == null ? null : (leftPartner.get(traceStep.stmt) ?? `right ${traceStep.stmt}`),
      ),
    ),
  ];
  const rows: TimelineRow[] = [];
  let [l, r] = [-1, -1];
  for (const { removed, added, count } of diffArrays(stepKeys[0], stepKeys[1])) {
    for (let k = 0; k < count; k++) {
      if (!added) l++;
      if (!removed) r++;
      rows.push({ left: l, right: r, both: !added && !removed });
    }
  }
  return rows;
}

/** What makes two steps the same one: their statement and their part in it. A statement that raises is still that
 * statement. */
function stepAlignmentKey({ kind, visit }: Step, statement: number | string | null) {
  const part = kind === "raise" ? "statement" : kind;
  return `${statement} ${part}${visit ? ` ${visit.accumulates ? "leaf" : "node"}` : ""}`;
}
