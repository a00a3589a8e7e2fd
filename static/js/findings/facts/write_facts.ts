/**
 * A write as a reader would tell it: which statement, through which handle, and whether the program or torch's code
 * wrote.
 */

import { argument, calleeName, callsIn, literal } from "../../syntax/expressions.ts";
import { assignments, isInPlaceName } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "./run_facts.ts";

export type WriterKind = "program" | "optimizer" | "module" | "accumulated" | "buffer";

/** Whether a step is a call of an optimizer's `step`. */
export function isOptimizerStep(facts: RunFacts, step: number) {
  return facts.eventsOfKind("optimizer_stepped").some((event) => event.step === step && !event.unrecorded);
}

/** Who wrote a storage at a step, as far as the statement shows it. `op` is empty where no operation was recorded. */
export function writerKindAt(facts: RunFacts, step: number, op: string, storageUid: string): WriterKind {
  if (facts.steps[step]?.visit && facts.index.gradOwners.has(storageUid)) return "accumulated";
  if (isOptimizerStep(facts, step)) return "optimizer";
  return op === "" || mayAskForInPlace(facts.syntax(step)) ? "program" : "module";
}

/** Whether a step checks gradients numerically: what it writes it puts back. */
export function isGradcheckStep(facts: RunFacts, step: number) {
  const names = callsIn(facts.syntax(step)).map(calleeName);
  return names.includes("gradcheck") || names.includes("gradgradcheck");
}

/** Whether a statement itself asks for an in-place operation, or is unknown. */
function mayAskForInPlace(tree: SyntaxNode | null) {
  if (!tree || assignments(tree).some(({ target, operator }) => operator || target.kind === "Subscript")) return true;
  return callsIn(tree).some(
    (call) => isInPlaceName(calleeName(call)) || argument(call, "out") || literal(argument(call, "inplace")) === true,
  );
}
