/** A loss whose target is computed by the net that is trained, with its history: backward changes both sides. */

import { diagnosis, gradNameOf, statementOfCandidate, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { BackwardCall, Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { nodeReceivingGradient } from "./gradient_flow.ts";
import { reachableNodes } from "../facts/graph_walk.ts";

export const FINDINGS = [
  diagnosis({
    kind: "target_with_history",
    severity: "note",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: comparisons,
    once: statementOfCandidate,
    say: (facts, op) => {
      if (areBranchesOfOneNet(facts, op)) return null;
      const shared = parameterBehindBoth(facts, op.inputs[0], op.inputs[1], op.step);
      const backward = shared && backwardThrough(facts, op, shared);
      return shared && backward ? diagnosisOf(facts, op, shared, backward) : null;
    },
  }),
];

/** Losses that compare what a net predicts with what it should. */
const TARGET_LOSS =
  /^(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss|kl_div|cross_entropy_loss|binary_cross_entropy\w*)$/;
const COMPARISON = new RegExp(`${TARGET_LOSS.source}|^sub$`);
const TARGET_NAME = /target|label|truth|^y_true$|expected|^goal$|bellman|目标|标签|真值|期望/i;
/** Those that give the same number when their sides are exchanged. */
const SYMMETRIC_LOSS = /^(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss|sub)$/;
const MAX_LOSSES_EXAMINED = 40;
const MAX_OPERATIONS_BACK = 12;

function comparisons(facts: RunFacts): Operation[] {
  const found = facts.scan.operationsNamed(COMPARISON).filter((op) => {
    const [prediction, target] = op.inputs;
    if (facts.steps[op.step].visit || op.inputs.length < 2 || !op.requires_grad.some(Boolean)) return false;
    return prediction !== target && isComparison(facts, op, target);
  });
  return found.slice(0, MAX_LOSSES_EXAMINED);
}

/**
 * The backward that brings the parameter a gradient through an operation; undefined where the first only asks for
 * others.
 */
function backwardThrough(facts: RunFacts, op: Operation, parameterUid: string): BackwardCall | undefined {
  const call = facts.backwardCalls.find(({ step }) => step >= op.step);
  return call?.api === "grad" && !call.inputs.includes(parameterUid) ? undefined : call;
}

/**
 * Whether both sides of a distance were computed by the same operations with the same parameters, as those of two views
 * of one image: neither is more of a target than the other.
 */
function areBranchesOfOneNet(facts: RunFacts, { name, inputs }: Operation): boolean {
  if (!SYMMETRIC_LOSS.test(operationName(name))) return false;
  let [a, b]: (string | undefined)[] = inputs;
  for (let depth = 0; a && b && a !== b && depth < MAX_OPERATIONS_BACK; depth++) {
    const [opA, opB]: (Operation | undefined)[] = [facts.producingOperation(a), facts.producingOperation(b)];
    if (!opA || opA.name !== opB?.name || opA.inputs.length !== opB.inputs.length) return false;
    if (opA.inputs.some((uid, k) => uid === opB.inputs[k] && isLeafToTrain(facts, uid, opA.step))) return true;
    [a, b] = [opA.inputs[0], opB.inputs[0]];
  }
  return false;
}

function isLeafToTrain(facts: RunFacts, uid: string, step: number) {
  const tensor = facts.tensor(uid, step);
  return tensor?.leaf === true && tensor.requires_grad === true;
}

/** Whether an operation compares with a tensor that is meant as a target, and that has a history. */
function isComparison(facts: RunFacts, op: Operation, target: string) {
  const tensor = facts.tensor(target, op.step);
  if (!tensor?.requires_grad || tensor.leaf) return false;
  const name = operationName(op.name);
  return TARGET_LOSS.test(name) || (name === "sub" && TARGET_NAME.test(facts.nameText(target, op.step) ?? ""));
}

/** A parameter that a gradient reaches through both. */
function parameterBehindBoth(facts: RunFacts, a: string, b: string, step: number): string | null {
  const [nodeA, nodeB] = [nodeReceivingGradient(facts, a, step), nodeReceivingGradient(facts, b, step)];
  if (!nodeA || !nodeB) return null;
  const reachedFromA = reachableNodes(facts, nodeA);
  if (reachedFromA.has(nodeB) || reachableNodes(facts, nodeB).has(nodeA)) return null;
  for (const nodeUid of reachableNodes(facts, nodeB)) {
    const variable = facts.index.nodes.get(nodeUid)?.variable;
    if (variable && reachedFromA.has(nodeUid)) return variable;
  }
  return null;
}

function diagnosisOf(facts: RunFacts, op: Operation, parameterUid: string, backward: BackwardCall): Diagnosis {
  const [prediction, target] = op.inputs;
  const [x, y] = [facts.nameFact(target, op.step), facts.nameFact(prediction, op.step)];
  const p = facts.nameFact(parameterUid, op.step);
  const made = facts.birthStep(target);
  const name = nameTextOfFact(x);
  return {
    severity: "note",
    cause: made,
    chain: [
      [made, "way", [target]],
      [op.step, "used", [target]],
      [backward.step, "gradient", [parameterUid], { grad: gradNameOf(p) }],
    ],
    names: [x, y, p],
    facts: { x, y, p, effect: facts.steps[op.step].line },
    fixes: name ? [["detach_used", { name }, op.step]] : [],
  };
}
