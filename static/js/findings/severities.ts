/**
 * How grave what is said of a thing is. A view colours what an error or a warning speaks of red, what a note speaks of
 * amber, and nothing else.
 */

import type { Finding, Severity } from "./finding.ts";
import type { OpenTrace } from "../trace/state.ts";

interface Severities {
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
  for (const { severity, chain, concerns = [] } of findings) {
    for (const uid of [...concerns, ...chain.flatMap(({ uids }) => uids)])
      tones.ofTensor.set(uid, maxSeverity([severity, tones.ofTensor.get(uid)]) ?? severity);
    for (const { line } of chain.filter(({ role }) => role === "cut"))
      tones.ofCut.set(line, maxSeverity([severity, tones.ofCut.get(line)]) ?? severity);
  }
  tonesByTrace.set(opened, tones);
}

export function maxSeverity(severities: (Severity | undefined)[]): Severity | null {
  return GRAVEST_FIRST.find((severity) => severities.includes(severity)) ?? null;
}
