/** A leaf that requires grad was to be written in place while autograd records. */

import { declareErrorDiagnosis, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fact, Fix, RunFacts } from "../diagnosis.ts";
import { hasInPlaceSyntax } from "../facts/write_origins.ts";
import { callArgument, literalValue } from "../../syntax/expressions.ts";
import { nodesOfKind, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import { findRefusedWrite, hasOtherReason } from "./refused_write.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "leaf_inplace", say: writeToLeaf })];

function writeToLeaf(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  if (!write?.op.grad_mode || !write.tensor.leaf || !write.tensor.requires_grad) return null;
  if (hasOtherReason(facts, write)) return null;
  const { uid, step, op } = write;
  const x = facts.nameFact(uid, step);
  const requiredGradStep = stepThatRequiredGrad(facts, uid, step);
  return {
    variant: isRequestedByInplaceFlag(facts, step) ? "flag" : undefined,
    cause: step,
    chain: [
      [requiredGradStep, "made", [uid]],
      [step, "checked", [uid]],
    ],
    names: [x],
    facts: { x, write: operationName(op.name), made_line: facts.lineOf(requiredGradStep) },
    fixes: fixesOfLeafWrite(x),
  };
}

/** Whether the write was asked for by `inplace=True`, here or where a module was made. */
function isRequestedByInplaceFlag(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  return tree !== null && !hasInPlaceSyntax(tree) && inplaceFlags(facts).length > 0;
}

/** Where a program asks a function or a module to work in place. */
export function inplaceFlags(facts: RunFacts): SyntaxNode[] {
  return statementTrees(facts.trace.program)
    .flatMap((tree) => nodesOfKind(tree, "Call"))
    .flatMap((call) => callArgument(call, "inplace") ?? [])
    .filter((flag) => literalValue(flag) === true);
}

/** The step at which a tensor began to require grad. */
export function stepThatRequiredGrad(facts: RunFacts, uid: string, step: number) {
  const birth = facts.birthStep(uid);
  for (let i = step; i >= birth && i >= 0; i--) if (facts.steps[i].set?.[uid]?.requires_grad) return i;
  return Math.max(birth, 0);
}

/** `x` is what is written. */
export function fixesOfLeafWrite(x: Fact): Fix[] {
  return ["not_inplace", "out_of_place", "under_no_grad"].map((kind) => [kind, { name: nameTextOfFact(x) }]);
}
