/** The tensor that a reader has a name for, behind a view that has none. */

import type { RunFacts } from "./run_facts.ts";

/** The nearest tensor with a name that one without is a view of; itself where there is none. */
export function namedViewSource(facts: RunFacts, uid: string, step: number) {
  const storage = facts.handle(uid, step)?.storage;
  for (let current: string | undefined = uid; current; current = facts.producingOperation(current)?.inputs[0]) {
    if (facts.handle(current, step)?.storage !== storage) break;
    if (facts.nameText(current, step)) return current;
  }
  return uid;
}
