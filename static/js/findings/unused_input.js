/** A gradient was asked with respect to a tensor that the result does not depend on: why the two are not connected. */

import { fix, link, namesOf } from "./finding.js";
import { originOf, reachableNodes } from "./graph_walk.js";
import { operationName } from "./operation_name.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

const MESSAGE = /appears? to not have been used in the graph|One of the differentiated Tensors/;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function unusedInput(facts) {
  if (!MESSAGE.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const call = facts.backwards.findLast(
    (backward) => backward.inputs.length && backward.step <= step && step <= backward.end,
  );
  if (!call) return [];
  const roots = /** @type {string[]} */ (call.roots.filter(Boolean));
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

/** @param {RunFacts} facts @param {string} uid @param {number} step @param {Set<string>} reachedNodes nodes */
function isReached(facts, uid, step, reachedNodes) {
  const tensor = facts.tensor(uid, step);
  const ownNodes = tensor?.grad_fn ? [tensor.grad_fn] : facts.index.accumulatorsOf(uid, step);
  return ownNodes.some((nodeUid) => reachedNodes.has(nodeUid));
}

/** @param {RunFacts} facts @param {string} uid @param {string[]} roots @param {number} step
 * @returns {{variant: string, step: number, role: import("./finding.js").Role, facts: import("./finding.js").Facts}} */
function reasonOf(facts, uid, roots, step) {
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
