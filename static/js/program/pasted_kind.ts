/** Texts that are no program at all, by why they are refused: `MESSAGES` of gradbox/language/pasted_kind.py. */

import type { Refusal, Trace } from "../trace/wire.ts";

const OTHER_TEXTS = new Set(["traceback", "install", "shell", "diff", "language", "output", "question"]);

/** Why the text of a trace was not taken for a program; null where it was. */
export function notAProgramRefusal({ outcome }: Trace): Refusal | null {
  const refusal = outcome.error?.refusals?.[0];
  return refusal && OTHER_TEXTS.has(refusal.key ?? "") ? refusal : null;
}

const LOOKS_OTHER =
  /^\s*(?:Traceback \(most|[\w.]*(?:Error|Exception): |-{20,}|[!%]?(?:pip|conda) +install|\{\s*"|<\w+[ >]|diff --git |```)|\? *$|？\s*$/m;

/** Whether a pasted text may be no program, or one that something is to be taken off first: it is worth asking at once.
 * What it is, the server says; a program would merely run. */
export function mayNotBeProgram(pasted: string) {
  return pasted.length < 50_000 && LOOKS_OTHER.test(pasted);
}
