/** Why `.grad` is None: the step of the cause, the chain from it, and the fixes. */

import type { ChainLink, Facts, Severity } from "../finding.ts";

export interface GradNoneReason {
  variant: string;
  severity: Severity;
  /** a step */
  cause: number;
  chain: ChainLink[];
  facts: Facts;
  fixes: string[];
  /** another line that the fixes need, else where it was read */
  to?: number;
}
