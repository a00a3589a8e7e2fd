/** The history of a run's tensors, which `RunFacts` has as `history`. */

import type { RunFacts } from "./run_facts.ts";

export function tensorHistoryOf({ history }: RunFacts) {
  return history;
}
