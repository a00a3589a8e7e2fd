/** What the file of a finding declares, as `FINDINGS`, or as `ERROR_FINDINGS` where it says why a program raised. */

import type { Diagnosis, Severity } from "./finding.ts";
import type { RunFacts } from "./facts/run_facts.ts";

export interface DiagnosisRow {
  kind: string;
  severity: Severity;
  diagnose: (facts: RunFacts) => Diagnosis[];
  /** it is only asked where the program raised */
  onError?: boolean;
  /** the row of `looked_for.ts` that a note of this kind would contradict */
  lookedFor?: LookedForName;
}

/** What is looked for in every run. */
export type LookedForName = "writes" | "cut" | "optimizers" | "modes" | "numbers" | "graphs" | "sharing";
