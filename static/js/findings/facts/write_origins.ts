/** Who wrote a storage at a step: the program's own statement, an optimizer, a module or a backward. */

import { callArgument, calleeName, callsIn, literalValue } from "../../syntax/expressions.ts";
import { assignments, isInPlaceName } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import { stepAfterCall } from "../../trace/steps/backward_statement.ts";
import { operationName } from "./operation_name.ts";
import type { RunFacts } from "./run_facts.ts";
import type { EventOccurrence, Operation } from "./scan.ts";

export type WriteEvent = EventOccurrence<"written">;

export type WriterKind = "program" | "optimizer" | "module" | "accumulated" | "buffer";

/** Whether a step is a call of an optimizer's `step`, or that calls a closure there. */
export function isOptimizerStep(facts: RunFacts, step: number) {
  const stepped = facts.eventsOfKind("optimizer_stepped").filter(({ unrecorded }) => !unrecorded);
  const end = stepped.length && facts.steps[step]?.kind === "call" ? stepAfterCall(facts.steps, step) : step;
  return stepped.some((event) => event.step === end);
}

/** Who wrote a storage at a step. `op` is the operation's name, empty where none was recorded. */
export function writerKindAt(facts: RunFacts, step: number, op: string, storageUid: string): WriterKind {
  if (facts.steps[step]?.visit && facts.index.gradOwners.has(storageUid)) return "accumulated";
  if (isOptimizerStep(facts, step)) return "optimizer";
  return op === "" || mayAskForInPlace(facts.syntax(step)) ? "program" : "module";
}

/** Whether a layer such as `ReLU(inplace=True)` wrote, without the statement asking for it. */
export function isWrittenByCalledModule(facts: RunFacts, write: WriteEvent) {
  const op = inPlaceOperationOfWrite(facts, write);
  return op !== null && writerKindAt(facts, write.step, op, write.storage) === "module";
}

/** The name of the in-place operation that did a write, without its namespace; null where there is none. */
export function inPlaceOperationOfWrite(facts: RunFacts, { by, step }: WriteEvent) {
  const isWriter = ({ name, inputs, outputs }: Operation) =>
    by && inputs[0] === by && outputs.includes(by) && operationName(name).endsWith("_");
  const op = facts.opsAt(step).find(isWriter);
  return op ? operationName(op.name) : null;
}

/** Whether a step checks gradients numerically; it restores what it writes. */
export function isGradcheckStep(facts: RunFacts, step: number) {
  const names = callsIn(facts.syntax(step)).map(calleeName);
  return names.includes("gradcheck") || names.includes("gradgradcheck");
}

/** Whether a statement's own syntax writes in place: `x += 1`, `x[0] = 1`, `x.add_(1)`, `out=x`. */
export function hasInPlaceSyntax(tree: SyntaxNode): boolean {
  return (
    assignments(tree).some(({ target, operator }) => operator || target.kind === "Subscript") ||
    callsIn(tree).some((call) => isInPlaceName(calleeName(call)) || callArgument(call, "out"))
  );
}

/** Whether a statement asks for an in-place operation, by its syntax or by `inplace=True`; true where it is unknown. */
function mayAskForInPlace(tree: SyntaxNode | null) {
  return (
    !tree ||
    hasInPlaceSyntax(tree) ||
    callsIn(tree).some((call) => literalValue(callArgument(call, "inplace")) === true)
  );
}
