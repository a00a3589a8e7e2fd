/**
 * How grave what is said of a thing is. A view colours what an error or a warning speaks of red, what a note speaks of
 * amber, and nothing else.
 */

import type { Finding, Severity } from "./finding.ts";
import type { OpenTrace } from "../trace/state.ts";

interface Tones {
  ofTensor: Map<string, Severity>;
  /** by line, of a history that was cut there */
  ofCut: Map<number, Severity>;
}

const GRAVEST_FIRST: Severity[] = ["error", "warning", "note"];
const NONE_KNOWN: Tones = { ofTensor: new Map(), ofCut: new Map() };

const tonesByTrace = new WeakMap<OpenTrace, Tones>();

/** Those of the findings of a run; none until it is explained. */
export function tonesOf(opened: OpenTrace): Tones {
  return tonesByTrace.get(opened) ?? NONE_KNOWN;
}

export function setTones(opened: OpenTrace, findings: Finding[]) {
  const tones: Tones = { ofTensor: new Map(), ofCut: new Map() };
  for (const { severity, chain, concerns = [] } of findings) {
    for (const uid of [...concerns, ...chain.flatMap(({ uids }) => uids)])
      tones.ofTensor.set(uid, gravest([severity, tones.ofTensor.get(uid)]) ?? severity);
    for (const { line } of chain.filter(({ role }) => role === "cut"))
      tones.ofCut.set(line, gravest([severity, tones.ofCut.get(line)]) ?? severity);
  }
  tonesByTrace.set(opened, tones);
}

export function gravest(severities: (Severity | undefined)[]): Severity | null {
  return GRAVEST_FIRST.find((severity) => severities.includes(severity)) ?? null;
}
