/** Texts that are no program at all, by why they are refused: `MESSAGES` of gradbox/language/pasted_kind.py. */

import type { Refusal, Trace } from "../trace/wire.ts";

const OTHER_TEXTS = new Set(["traceback", "install", "shell", "diff", "question"]);

/** Why the text of a trace was not taken for a program; null where it was. */
export function refusalOfOtherText({ outcome }: Trace): Refusal | null {
  const refusal = outcome.error?.refusals?.[0];
  return refusal && OTHER_TEXTS.has(refusal.key ?? "") ? refusal : null;
}
