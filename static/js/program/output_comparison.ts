/** The outputs that an article holds, laid beside what torch printed and showed. Facts in, rows out. */

import {
  isNumberText,
  splitOutputAndError,
  normalizeOutput,
  collapseWhitespace,
  trimBlankLinesAndEnds,
} from "./output_normalize.ts";
import type { Statement, Trace } from "../trace/wire.ts";

export interface OutputRow {
  line: number;
  /** first, line: the statement's first line and the one at which the article's output stands */
  first: number;
  expected: string;
  got: string;
  verdict: "same" | "different" | "not reached";
  /** where torch's own came to be */
  step: number | null;
  /** it stands in the program's text itself */
  comment: boolean;
  /** the article cuts an error's message short */
  partly: boolean;
}

/** A notice of an output that an article or a comment holds. */
interface ClaimedOutputNotice {
  kind: "printed" | "claimed";
  line: number;
  args: { text: string; from?: number; label?: string; block?: boolean; cell?: boolean; orphan?: boolean };
}

interface ObservedOutput {
  text: string;
  error: { type: string; message: string } | null;
  step: number | null;
  reached: boolean;
  /** a value of None was passed over */
  none: boolean;
  /** some of it passed unseen */
  gaps: boolean;
}

const SHOWS_ADDRESSES = /\bid\(|data_ptr\(/;

/** The rows in the order of lines; empty where the program was not run. */
export function compareOutputs(trace: Trace): OutputRow[] {
  const { notices, source } = trace.program;
  const claims = (notices ?? []).filter(
    (n) => (n.kind === "printed" || n.kind === "claimed") && n.line,
  ) as ClaimedOutputNotice[];
  if (!claims.length || !trace.steps.length) return [];
  const owners = moduleStatementOfEachStep(trace);
  const lines = source.split("\n");
  let sinceLine = 1;
  const rows: OutputRow[] = [];
  for (const { line, kind, args } of claims) {
    const first = args.from ?? line;
    const comment = kind === "claimed";
    const [from, to] = args.block ? [sinceLine, first - 1] : [first, line];
    if (args.block) sinceLine = line + 1;
    const statements = comment
      ? innermostStatementsAtLines(trace, from, to)
      : statementsEnteredAtLines(trace, from, to);
    const observed = observedOutput(trace, owners, args.orphan ? new Set<number>() : statements, args);
    if (comment && !args.block && !observed.text && observed.none) observed.text = "None";
    const comparison = {
      comment,
      label: args.label ?? "",
      addresses: SHOWS_ADDRESSES.test(lines.slice(from - 1, to).join("\n")),
    };
    const row = compareOutput(args.text, observed, comparison);
    if (row) rows.push({ line, first, comment, step: observed.step, ...row });
  }
  return rows;
}

/** The module's own statements that were entered at these lines. */
function statementsEnteredAtLines(trace: Trace, from: number, to: number) {
  return selectStatements(trace, (s) => s.parent == null && s.line <= to && s.end_line >= from);
}

/** The statements in these lines that hold no others. */
function innermostStatementsAtLines(trace: Trace, from: number, to: number) {
  return selectStatements(
    trace,
    (s, i) => s.line >= from && s.end_line <= to && trace.program.statements?.[i + 1]?.parent !== i,
  );
}

function selectStatements(trace: Trace, isWanted: (s: Statement, i: number) => boolean): Set<number> {
  const statements = trace.program.statements ?? [];
  return new Set([...statements.keys()].filter((i) => isWanted(statements[i], i)));
}

/** For each step the module's statement that it is a part of: what a function prints belongs to who called it. */
function moduleStatementOfEachStep({ steps }: Trace): (number | null)[] {
  const moduleFrame = steps.find((s) => !s.depth)?.frame;
  const out: (number | null)[] = new Array(steps.length).fill(null);
  let next: number | null = null;
  for (let i = steps.length - 1; i >= 0; i--) {
    const { depth, frame, stmt } = steps[i];
    if (!depth && frame === moduleFrame && stmt != null) next = stmt;
    out[i] = next;
  }
  for (let i = 1; i < steps.length; i++) out[i] ??= out[i - 1];
  return out;
}

/** What torch printed and showed in these statements, and what they raised. A notebook shows the last value only. */
function observedOutput(
  trace: Trace,
  owners: (number | null)[],
  statements: Set<number>,
  { cell, block }: { cell?: boolean; block?: boolean },
): ObservedOutput {
  const { steps, outcome, program } = trace;
  const { error, status } = outcome;
  const lastStatement = Math.max(...statements);
  const statementParent = (index: number) => program.statements?.[index].parent;
  const isChosen = (stmt: number | null) => {
    for (let ancestor: number | null | undefined = stmt; ancestor != null; ancestor = statementParent(ancestor))
      if (statements.has(ancestor)) return true;
    return false;
  };
  let observedText = "";
  let gaps = false;
  let none = false;
  let lastStep = -1;
  let step: number | null = null;
  for (const [i, s] of steps.entries()) {
    if (!isChosen(owners[i])) continue;
    lastStep = i;
    const textBefore = observedText;
    for (const entry of s.log) if (entry.kind === "out" && entry.stream !== "stderr") observedText += entry.text;
    if (s.shown && !block && (!cell || s.stmt === lastStatement)) observedText += `${s.shown}\n`;
    none ||= s.shown === "";
    if (observedText !== textBefore) step = i;
    gaps ||= Boolean(s.skipped);
  }
  const raised = error?.step != null && isChosen(owners[error.step]) ? error : null;
  const reached = lastStep >= 0 && (status === "finished" || status === "raised" || lastStep < steps.length - 1);
  return {
    text: observedText,
    error: raised,
    step: raised ? (raised.step ?? null) : lastStep < 0 ? null : (step ?? lastStep),
    reached,
    none,
    gaps,
  };
}

/** Null where the two can't be held together. */
function compareOutput(
  expected: string,
  observed: ObservedOutput,
  { comment, label, addresses }: { comment: boolean; label: string; addresses: boolean },
): Pick<OutputRow, "expected" | "got" | "verdict" | "partly"> | null {
  const expectedParts = splitOutputAndError(expected);
  const printed = trimBlankLinesAndEnds(observed.text);
  const got =
    comment && label && printed.startsWith(label) ? trimBlankLinesAndEnds(printed.slice(label.length)) : printed;
  const row = {
    expected: expectedParts.whole,
    got: [printed, raisedErrorText(observed.error)].filter(Boolean).join("\n"),
    partly: false,
  };
  if (!expectedParts.whole || observed.gaps) return null;
  if (!observed.reached) return { ...row, got: "", verdict: "not reached" };
  const isSame = (left: string, right: string) =>
    normalizeOutput(left, comment, addresses) === normalizeOutput(right, comment, addresses);
  if (!observed.error) {
    // short for a tensor
    if (comment && !expectedParts.error && isNumberText(expectedParts.whole) && !isNumberText(got)) return null;
    return { ...row, verdict: isSame(expectedParts.whole, got) ? "same" : "different" };
  }
  if (!expectedParts.error || expectedParts.error.type !== observed.error.type || !isSame(expectedParts.text, got))
    return { ...row, verdict: "different" };
  const [expectedMessage, message] = [
    collapseWhitespace(expectedParts.error.message),
    collapseWhitespace(observed.error.message),
  ];
  if (!message.startsWith(expectedMessage)) return { ...row, verdict: "different" };
  return { ...row, verdict: "same", partly: expectedMessage !== message };
}

function raisedErrorText(error: ObservedOutput["error"]) {
  return error && (error.message ? `${error.type}: ${error.message}` : error.type);
}
