/**
 * How grave what is said of a thing is. A view colours what an error or a warning speaks of red, what a note speaks of
 * amber, and nothing else.
 */

import type { Finding, Severity } from "./finding.ts";
import type { OpenTrace } from "../trace/state.ts";

interface Severities {
  /** of those whose learning is in question */
  ofTensor: Map<string, Severity>;
  /** by line, of a history that was cut there */
  ofCut: Map<number, Severity>;
}

const GRAVEST_FIRST: Severity[] = ["error", "warning", "note"];
const NONE_KNOWN: Severities = { ofTensor: new Map(), ofCut: new Map() };

const tonesByTrace = new WeakMap<OpenTrace, Severities>();

/** Those of the findings of a run; none until it is explained. */
export function severitiesOf(opened: OpenTrace): Severities {
  return tonesByTrace.get(opened) ?? NONE_KNOWN;
}

export function setSeverities(opened: OpenTrace, findings: Finding[]) {
  const tones: Severities = { ofTensor: new Map(), ofCut: new Map() };
  const { error } = opened.trace.outcome;
  for (const { severity, chain, concerns = [] } of findings) {
    // what stopped the program tells nothing of what its parameters learn
    const isOfStop = severity === "error" && Boolean(error) && chain.at(-1)?.step === error?.step;
    for (const uid of isOfStop ? [] : [...concerns, ...chain.flatMap(({ uids }) => uids)])
      tones.ofTensor.set(uid, maxSeverity([severity, tones.ofTensor.get(uid)]) ?? severity);
    for (const { line } of chain.filter(({ role }) => role === "cut"))
      tones.ofCut.set(line, maxSeverity([severity, tones.ofCut.get(line)]) ?? severity);
  }
  tonesByTrace.set(opened, tones);
}

export function maxSeverity(severities: (Severity | undefined)[]): Severity | null {
  return GRAVEST_FIRST.find((severity) => severities.includes(severity)) ?? null;
}
