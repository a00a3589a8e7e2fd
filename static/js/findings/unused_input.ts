/** A gradient was asked with respect to a tensor that the result does not depend on: why the two are not connected. */

import { fix, link, namesOf, type Diagnosis, type Facts, type Role } from "./finding.ts";
import { originOf, reachableNodes } from "./graph_walk.ts";
import { operationName } from "./operation_name.ts";
import type { RunFacts } from "./run_facts.ts";

const MESSAGE = /appears? to not have been used in the graph|One of the differentiated Tensors/;

export function unusedInput(facts: RunFacts): Diagnosis[] {
  if (!MESSAGE.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const call = facts.backwards.findLast(
    (backward) => backward.inputs.length && backward.step <= step && step <= backward.end,
  );
  if (!call) return [];
  const roots = call.roots.filter(Boolean) as string[];
  const reachedNodes = new Set(
    roots.flatMap((uid) => [...reachableNodes(facts, facts.tensor(uid, step)?.grad_fn ?? "")]),
  );
  const unusedUid = call.inputs.find((uid) => !isReached(facts, uid, step, reachedNodes)) ?? call.inputs[0];
  const x = facts.nameFact(unusedUid, step);
  const y = facts.nameFact(roots[0], step);
  const findingFacts = { x, y, code: facts.codeFact(step) };
  const reason = reasonOf(facts, unusedUid, roots, step);
  const checkedLink = link(facts.place(step), "checked", findingFacts, [unusedUid, ...roots]);
  return [
    {
      variant: reason.variant,
      cause: facts.place(reason.step),
      chain:
        reason.step === step
          ? [checkedLink]
          : [
              link(
                facts.place(reason.step),
                reason.role,
                { ...findingFacts, ...reason.facts, code: facts.codeFact(reason.step) },
                [unusedUid],
              ),
              checkedLink,
            ],
      names: namesOf(x, y),
      facts: { ...findingFacts, ...reason.facts },
      fixes: [fix(`unused_${reason.variant}`, facts.place(step), { name: facts.nameText(unusedUid, step) ?? "" })],
      explainsError: true,
    },
  ];
}

/** @param reachedNodes nodes */
function isReached(facts: RunFacts, uid: string, step: number, reachedNodes: Set<string>) {
  const tensor = facts.tensor(uid, step);
  const ownNodes = tensor?.grad_fn ? [tensor.grad_fn] : facts.index.accumulatorsOfTensor(uid, step);
  return ownNodes.some((nodeUid) => reachedNodes.has(nodeUid));
}

function reasonOf(
  facts: RunFacts,
  uid: string,
  roots: string[],
  step: number,
): { variant: string; step: number; role: Role; facts: Facts } {
  const tensor = facts.tensor(uid, step);
  if (tensor && !tensor.requires_grad)
    return { variant: "not_required", step: Math.max(0, facts.birth(uid)), role: "made", facts: {} };
  for (const rootUid of roots) {
    const { tensors, cuts } = originOf(facts, rootUid, step);
    const cut = cuts.find(
      ({ tensor: source }) => source === uid || originOf(facts, source, step).tensors.includes(uid),
    );
    if (cut) return { variant: "cut", step: cut.step, role: "cut", facts: { op: operationName(cut.op) } };
    if (tensors.includes(uid)) return { variant: "cut", step: facts.birth(rootUid), role: "made", facts: { op: "" } };
  }
  const op = facts.producer(uid);
  const viewedTensor = op?.step === step ? op.inputs[0] : undefined;
  if (viewedTensor) return { variant: "part", step, role: "made", facts: { z: facts.nameFact(viewedTensor, step) } };
  const isMadeLater = facts.birth(uid) > Math.max(...roots.map((rootUid) => facts.birth(rootUid)));
  if (isMadeLater) return { variant: "later", step: facts.birth(uid), role: "moved", facts: {} };
  return { variant: "never", step, role: "made", facts: {} };
}
