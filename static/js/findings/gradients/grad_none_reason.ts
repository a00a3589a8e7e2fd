/** Why `.grad` is None: the step of the cause, the chain from it, and the fixes. */

import type { Facts, Link, Severity } from "../diagnosis.ts";

export interface GradNoneReason {
  variant: string;
  severity: Severity;
  /** a step */
  cause: number;
  /** in which the tensor has the name that the reader uses */
  chain: Link[];
  facts?: Facts;
  fixes?: string[];
  /** another line that the fixes need, else where it was read */
  to?: number;
}
