/** The outputs that an article holds, laid beside what torch printed and showed. Facts in, rows out. */

import { isNumber, splitError, normalizeOutput, collapseBlanks, trimBlank } from "./output_normalize.js";

/**
 * @typedef {{line: number, first: number, expected: string, got: string, verdict: "same" | "different" | "not reached",
 *   step: number | null, comment: boolean, partly: boolean}} OutputRow
 *   first, line: the statement's first line and the one at which the article's output stands; step: where torch's own
 *   came to be; comment: it stands in the program's text itself; partly: the article cuts an error's message short
 *
 * @typedef {{text: string, error: {type: string, message: string} | null, step: number | null, reached: boolean,
 *   none: boolean, gaps: boolean}} ObservedOutput   none: a value of None was passed over; gaps: some of it passed unseen
 */

const ADDRESSES = /\bid\(|data_ptr\(/;

/** @param {any} trace @returns {OutputRow[]} in order of lines; empty where the program was not run */
export function compareOutputs(trace) {
  const { notices, source } = trace.program;
  const claims = (notices ?? []).filter(
    (/** @type {any} */ n) => (n.kind === "printed" || n.kind === "claimed") && n.line,
  );
  if (!claims.length || !trace.steps.length) return [];
  const owners = ownerStatements(trace);
  const lines = source.split("\n");
  let sinceLine = 1;
  /** @type {OutputRow[]} */
  const rows = [];
  for (const { line, kind, args } of claims) {
    const first = args.from ?? line;
    const comment = kind === "claimed";
    const [from, to] = args.block ? [sinceLine, first - 1] : [first, line];
    if (args.block) sinceLine = line + 1;
    const statements = comment ? leafStatements(trace, from, to) : enteredStatements(trace, from, to);
    const observed = observedOutput(trace, owners, args.orphan ? new Set() : statements, args);
    if (comment && !args.block && !observed.text && observed.none) observed.text = "None";
    const comparison = {
      comment,
      label: args.label ?? "",
      addresses: ADDRESSES.test(lines.slice(from - 1, to).join("\n")),
    };
    const row = compareOutput(args.text, observed, comparison);
    if (row) rows.push({ line, first, comment, step: observed.step, ...row });
  }
  return rows;
}

/** The module's own statements that were entered at these lines. @param {any} trace @param {number} from @param {number} to */
function enteredStatements(trace, from, to) {
  return selectStatements(trace, (s) => s.parent == null && s.line <= to && s.end_line >= from);
}

/** The statements in these lines that hold no others. @param {any} trace @param {number} from @param {number} to */
function leafStatements(trace, from, to) {
  return selectStatements(
    trace,
    (s, i) => s.line >= from && s.end_line <= to && trace.program.statements[i + 1]?.parent !== i,
  );
}

/** @param {any} trace @param {(s: any, i: number) => boolean} isWanted @returns {Set<number>} */
function selectStatements(trace, isWanted) {
  return new Set([...trace.program.statements.keys()].filter((i) => isWanted(trace.program.statements[i], i)));
}

/**
 * For each step the module's statement that it is a part of: what a function prints belongs to who called it.
 * @param {any} trace @returns {(number | null)[]}
 */
function ownerStatements({ steps }) {
  const moduleFrame = steps.find((/** @type {any} */ s) => !s.depth)?.frame;
  /** @type {(number | null)[]} */
  const out = new Array(steps.length).fill(null);
  let next = null;
  for (let i = steps.length - 1; i >= 0; i--) {
    const { depth, frame, stmt } = steps[i];
    if (!depth && frame === moduleFrame && stmt != null) next = stmt;
    out[i] = next;
  }
  for (let i = 1; i < steps.length; i++) out[i] ??= out[i - 1];
  return out;
}

/**
 * What torch printed and showed in these statements, and what they raised. A notebook shows the last value only.
 * @param {any} trace @param {(number | null)[]} owners @param {Set<number>} statements
 * @param {{cell?: boolean, block?: boolean}} how @returns {ObservedOutput}
 */
function observedOutput(trace, owners, statements, { cell, block }) {
  const { steps, outcome, program } = trace;
  const { error, status } = outcome;
  const lastStatement = Math.max(...statements);
  const isChosen = (/** @type {number | null} */ stmt) => {
    for (let ancestor = stmt; ancestor != null; ancestor = program.statements[ancestor].parent)
      if (statements.has(ancestor)) return true;
    return false;
  };
  let observedText = "";
  let gaps = false;
  let none = false;
  let lastStep = -1;
  /** @type {number | null} */
  let step = null;
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
  const raised = error?.step != null && isChosen(owners[error.step]);
  const reached = lastStep >= 0 && (status === "finished" || status === "raised" || lastStep < steps.length - 1);
  return {
    text: observedText,
    error: raised ? error : null,
    step: raised ? error.step : lastStep < 0 ? null : (step ?? lastStep),
    reached: reached,
    none,
    gaps,
  };
}

/**
 * @param {string} expected @param {ObservedOutput} observed @param {{comment: boolean, label: string, addresses: boolean}} how
 * @returns {Pick<OutputRow, "expected" | "got" | "verdict" | "partly"> | null} null where the two can't be held together
 */
function compareOutput(expected, observed, { comment, label, addresses }) {
  const expectedParts = splitError(expected);
  const printed = trimBlank(observed.text);
  const got = comment && label && printed.startsWith(label) ? trimBlank(printed.slice(label.length)) : printed;
  const row = {
    expected: expectedParts.whole,
    got: [printed, errorText(observed.error)].filter(Boolean).join("\n"),
    partly: false,
  };
  if (!expectedParts.whole || observed.gaps) return null;
  if (!observed.reached) return { ...row, got: "", verdict: "not reached" };
  const isSame = (/** @type {string} */ left, /** @type {string} */ right) =>
    normalizeOutput(left, comment, addresses) === normalizeOutput(right, comment, addresses);
  if (!observed.error) {
    if (comment && !expectedParts.error && isNumber(expectedParts.whole) && !isNumber(got)) return null; // short for a tensor
    return { ...row, verdict: isSame(expectedParts.whole, got) ? "same" : "different" };
  }
  if (!expectedParts.error || expectedParts.error.type !== observed.error.type || !isSame(expectedParts.text, got))
    return { ...row, verdict: "different" };
  const [expectedMessage, message] = [
    collapseBlanks(expectedParts.error.message),
    collapseBlanks(observed.error.message),
  ];
  if (!message.startsWith(expectedMessage)) return { ...row, verdict: "different" };
  return { ...row, verdict: "same", partly: expectedMessage !== message };
}

/** @param {ObservedOutput["error"]} error */
function errorText(error) {
  return error && (error.message ? `${error.type}: ${error.message}` : error.type);
}
