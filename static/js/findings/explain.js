/** What is to be said of a run: every diagnosis is asked, and its findings are ordered, the best first. */

import { openTrace } from "../trace/state.js";
import { DIAGNOSES } from "./registry.js";
import { RunFacts } from "./run_facts.js";

/** @typedef {import("./finding.js").Finding} Finding */

const SEVERITY_RANK = { error: 0, warning: 1, note: 2 };

/** The findings of a run, the best first: what explains its error, then errors, warnings and notes as they came about.
 * @param {import("../trace/state.js").OpenTrace} opened @returns {Finding[]} */
export function explain(opened) {
  const facts = new RunFacts(opened);
  const findings = DIAGNOSES.filter((row) => !row.onError || facts.error).flatMap(({ kind, severity, diagnose }) =>
    diagnose(facts).map((diagnosis) => withoutRepetitions({ severity, explainsError: false, ...diagnosis, kind })),
  );
  return sortFindings(withoutDuplicates(withoutUnknownPast(findings, opened.trace.steps)));
}

/** What the recording found when it began was not made by its first step: no finding has its cause there, no chain begins there.
 * @param {Finding[]} findings @param {import("../trace/wire.js").Step[]} steps */
function withoutUnknownPast(findings, steps) {
  const isBeforeRecording = (/** @type {{step: number}} */ { step }) => steps[step]?.kind === "begin";
  return findings
    .filter(({ cause }) => !isBeforeRecording(cause))
    .map((finding) => ({ ...finding, chain: finding.chain.filter((link) => !isBeforeRecording(link)) }));
}

/** @param {import("../trace/wire.js").Trace} trace @returns {Finding[]} */
export function explainTrace(trace) {
  return explain(openTrace(trace));
}

/** One finding explains the error, the first; of the others, one for each kind and line of cause. @param {Finding[]} findings */
function withoutDuplicates(findings) {
  const explaining = findings.find(({ explainsError }) => explainsError);
  /** @type {Set<string>} */
  const seen = new Set();
  return findings.filter((finding) => {
    if (finding.explainsError && finding !== explaining) return false;
    const key = `${finding.kind} ${finding.variant ?? ""} ${finding.cause.line}`;
    if (finding !== explaining && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** @param {Finding[]} findings */
function sortFindings(findings) {
  const rankOf = (/** @type {Finding} */ finding) => (finding.explainsError ? -1 : SEVERITY_RANK[finding.severity]);
  return findings.sort((a, b) => rankOf(a) - rankOf(b) || a.cause.step - b.cause.step);
}

/** A finding without links that say the same of one step. @param {Finding} finding @returns {Finding} */
function withoutRepetitions(finding) {
  /** @type {Set<string>} */
  const seen = new Set();
  const chain = finding.chain.filter(({ step, role, facts }) => {
    const key = JSON.stringify([step, role, facts]);
    return !seen.has(key) && Boolean(seen.add(key));
  });
  return { ...finding, chain };
}
