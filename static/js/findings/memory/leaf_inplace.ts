/** A leaf that requires grad was to be written in place while autograd records. */

import { fixHint, chainLink, namesInFacts, type Diagnosis, type Fact } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { hasInPlaceSyntax } from "../facts/write_facts.ts";
import { callArgument, literalValue } from "../../syntax/expressions.ts";
import { nodesOfKind, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import { customFunctionNodeOfTarget, multiOutputView, findRefusedWrite, viewMadeUnderNoGrad } from "./refused_write.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "leaf_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToLeaf, onError: true },
];

function diagnoseInPlaceWriteToLeaf(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  if (!write || !write.op.grad_mode || !write.tensor.leaf || !write.tensor.requires_grad) return [];
  if (multiOutputView(write) || viewMadeUnderNoGrad(facts, write) || customFunctionNodeOfTarget(facts, write))
    return [];
  const { uid, step, op } = write;
  const x = facts.nameFact(uid, step);
  const requiredGradStep = stepThatRequiredGrad(facts, uid, step);
  const findingFacts = {
    x,
    write: operationName(op.name),
    code: facts.statementFact(step),
    made_line: facts.lineOf(requiredGradStep),
  };
  return [
    {
      variant: isRequestedByInplaceFlag(facts, step) ? "flag" : undefined,
      cause: facts.place(step),
      chain: [
        chainLink(facts.place(requiredGradStep), "made", findingFacts, [uid]),
        chainLink(facts.place(step), "checked", findingFacts, [uid]),
      ],
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: fixesOfLeafWrite(facts, step, x),
      explainsError: true,
    },
  ];
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

export function fixesOfLeafWrite(facts: RunFacts, step: number, x: Fact) {
  const name = typeof x === "object" && "code" in x ? x.code : "";
  const place = facts.place(step);
  return [
    fixHint("not_inplace", place, { name }),
    fixHint("out_of_place", place, { name }),
    fixHint("under_no_grad", place, { name }),
  ];
}
