/** What is to be said of a run: every diagnosis is asked, and its findings are ordered, the best first. */

import { completeDiagnosis } from "./diagnosis.ts";
import type { Finding } from "./finding.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import { DIAGNOSES } from "./registry.ts";
import { isInitialStateStep } from "./facts/recorded_run.ts";
import { RunFacts } from "./facts/run_facts.ts";
import { setSeverities } from "./severities.ts";
import { withUnsteppedPlaces } from "./unstepped_places.ts";
import type { Step, Trace } from "../trace/wire.ts";

const SEVERITY_RANK = { error: 0, warning: 1, note: 2 };

/** The findings of a run, the best first: what explains its error, then errors, warnings and notes as they came
 * about. */
export function explain(opened: OpenTrace): Finding[] {
  let findings = findingsByTrace.get(opened);
  if (!findings) {
    findings = findAll(opened);
    findingsByTrace.set(opened, findings);
    setSeverities(opened, findings);
  }
  return findings;
}

const findingsByTrace = new WeakMap<OpenTrace, Finding[]>();

function findAll(opened: OpenTrace): Finding[] {
  const facts = new RunFacts(opened);
  const findings = DIAGNOSES.filter((row) => !row.onError || facts.error).flatMap(({ kind, severity, diagnose }) =>
    diagnose(facts).map((diagnosis) => {
      const finding = { severity, explainsError: false, ...completeDiagnosis(facts, diagnosis), kind };
      return withUnsteppedPlaces(withoutRepeatedLinks(finding), facts);
    }),
  );
  return sortFindings(
    withoutDuplicateFindings(withoutUnrecordedCauses(findings, opened.trace.steps), opened.trace.steps),
  );
}

/**
 * What the recording found when it began, or what code from outside handed over, was not made by that step: no finding
 * has its cause there, no chain begins there.
 */
function withoutUnrecordedCauses(findings: Finding[], steps: Step[]) {
  const isBeforeRecording = ({ step }: { step: number }) => isInitialStateStep(steps[step]);
  return findings
    .filter(({ cause }) => !isBeforeRecording(cause))
    .map((finding) => ({ ...finding, chain: finding.chain.filter((link) => !isBeforeRecording(link)) }));
}

export function explainTrace(trace: Trace): Finding[] {
  return explain(openTrace(trace));
}

/** One finding explains the error, the first; of the others, one for each kind and statement of cause. */
function withoutDuplicateFindings(findings: Finding[], steps: Step[]) {
  const explaining = findings.find(({ explainsError }) => explainsError);
  const seen = new Set<string>();
  return findings.filter((finding) => {
    if (finding.explainsError && finding !== explaining) return false;
    const { line, step } = finding.cause;
    const key = [finding.kind, finding.variant, line, steps[step].line === line ? steps[step].stmt : null].join(" ");
    if (finding !== explaining && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function sortFindings(findings: Finding[]) {
  const rankOf = (finding: Finding) =>
    isFailedAssertion(finding) ? SEVERITY_RANK.note : finding.explainsError ? -1 : SEVERITY_RANK[finding.severity];
  return findings.sort((a, b) => rankOf(a) - rankOf(b) || a.cause.step - b.cause.step);
}

/** Whether all that it says is that an `assert` of the program failed: what is wrong stands before. */
function isFailedAssertion({ kind, variant }: Finding) {
  return kind === "unexplained_error" && variant === "assertion";
}

/** A finding without links that say the same of one step. */
function withoutRepeatedLinks(finding: Finding): Finding {
  const seen = new Set<string>();
  const chain = finding.chain.filter(({ step, role, facts }) => {
    const key = JSON.stringify([step, role, facts]);
    return !seen.has(key) && Boolean(seen.add(key));
  });
  return { ...finding, chain };
}
