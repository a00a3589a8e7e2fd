/** Why `.grad` is None: the step of the cause, the chain from it, and the fixes. */

import type { Severity, Link, Facts } from "./finding.ts";

export interface Reason {
  variant: string;
  severity: Severity;
  /** a step */
  cause: number;
  chain: Link[];
  facts: Facts;
  fixes: string[];
  /** another line that the fixes need, else where it was read */
  to?: number;
}
