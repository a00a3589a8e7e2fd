/** A gradient was asked with respect to a tensor that the result does not depend on: why the two are not connected. */

import { declareErrorDiagnosis, operationName } from "../diagnosis.ts";
import type { Diagnosis, Facts, LinkRole, RunFacts } from "../diagnosis.ts";
import { ancestorsAndCuts, reachableNodes } from "../facts/graph_walk.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "unused_input",
    message: /appears? to not have been used in the graph|One of the differentiated Tensors/,
    say: unusedInput,
  }),
];

function unusedInput(facts: RunFacts, step: number): Diagnosis | null {
  const call = facts.backwardCalls.findLast((each) => each.inputs.length && each.step <= step && step <= each.end);
  if (!call) return null;
  const roots = call.roots.filter(Boolean) as string[];
  const reached = new Set(roots.flatMap((uid) => [...reachableNodes(facts, facts.tensor(uid, step)?.grad_fn ?? "")]));
  const unused = call.inputs.find((uid) => !isReachedByGradient(facts, uid, step, reached)) ?? call.inputs[0];
  const reason = reasonNotConnected(facts, unused, roots, step);
  return {
    variant: reason.variant,
    cause: reason.step,
    chain: [
      reason.step !== step && [reason.step, reason.role, [unused], reason.facts],
      [step, "checked", [unused, ...roots]],
    ],
    facts: {
      x: facts.nameFact(unused, step),
      y: facts.nameFact(roots[0], step),
      code: facts.statementFact(step),
      ...reason.facts,
    },
    fixes: [[`unused_${reason.variant}`, { name: facts.nameText(unused, step) ?? "" }, step]],
  };
}

function isReachedByGradient(facts: RunFacts, uid: string, step: number, reachedNodes: Set<string>) {
  const tensor = facts.tensor(uid, step);
  const ownNodes = tensor?.grad_fn ? [tensor.grad_fn] : facts.index.accumulatorsOfTensor(uid, step);
  return ownNodes.some((nodeUid) => reachedNodes.has(nodeUid));
}

function reasonNotConnected(
  facts: RunFacts,
  uid: string,
  roots: string[],
  step: number,
): { variant: string; step: number; role: LinkRole; facts: Facts } {
  const tensor = facts.tensor(uid, step);
  if (tensor && !tensor.requires_grad)
    return { variant: "not_required", step: Math.max(0, facts.birthStep(uid)), role: "made", facts: {} };
  for (const rootUid of roots) {
    const { tensors, cuts } = ancestorsAndCuts(facts, rootUid, step);
    const cut = cuts.find(
      ({ tensor: source }) => source === uid || ancestorsAndCuts(facts, source, step).tensors.includes(uid),
    );
    if (cut) return { variant: "cut", step: cut.step, role: "cut", facts: { op: operationName(cut.op) } };
    if (tensors.includes(uid))
      return { variant: "cut", step: facts.birthStep(rootUid), role: "made", facts: { op: "" } };
  }
  const op = facts.producingOperation(uid);
  const viewedTensor = op?.step === step ? op.inputs[0] : undefined;
  if (viewedTensor) return { variant: "part", step, role: "made", facts: { z: facts.nameFact(viewedTensor, step) } };
  const isMadeLater = facts.birthStep(uid) > Math.max(...roots.map((rootUid) => facts.birthStep(rootUid)));
  if (isMadeLater) return { variant: "later", step: facts.birthStep(uid), role: "moved", facts: {} };
  return { variant: "never", step, role: "made", facts: {} };
}
