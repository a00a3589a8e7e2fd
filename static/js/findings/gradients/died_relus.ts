/**
 * ReLUs that died on the way: gradients came to a leaf in the first rounds, and from one round on none comes any more.
 */

import { diagnosis, gradNameOf, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { isZeroGradient } from "./zero_gradient.ts";
import { groupBy, addToList } from "../../trace/multimap.ts";

/** So many backwards at the end have to bring nothing. */
const MIN_ROUNDS_WITHOUT = 3;
const MAX_NODES_BACK = 60;

interface LastGradients {
  uid: string;
  /** the visits: of the last that brought something, and of those after it */
  last: number;
  without: number[];
}

export const FINDINGS = [
  diagnosis({
    kind: "zero_gradient",
    severity: "warning",
    of: (facts) => groupBy(diedLeaves(facts), ({ relu }) => facts.steps[facts.birthStep(relu)].line),
    say: (facts, died) =>
      diagnosisOf(
        facts,
        died[0].last,
        died[0].relu,
        died.map(({ last }) => last.uid),
      ),
  }),
];

/** Leaves that get nothing any more, each with the ReLU that sends it nothing. */
function diedLeaves(facts: RunFacts) {
  const visits = visitsByLeaf(facts);
  return leavesThatStoppedGettingGradients(facts, visits).flatMap((last) => {
    const relu = doOthersGetGradients(facts, visits, last) ? reluThatSendsZero(facts, last.without[0]) : null;
    return relu ? [{ last, relu }] : [];
  });
}

/** By leaf, the visits that accumulate into it. */
function visitsByLeaf({ steps }: RunFacts): Map<string, number[]> {
  const visits = new Map<string, number[]>();
  for (const [i, { visit }] of steps.entries())
    if (visit?.accumulates && !visit.failed) addToList(visits, visit.accumulates, i);
  return visits;
}

function isZeroVisit(facts: RunFacts, step: number) {
  return isZeroGradient(facts.steps[step].visit?.grad_outputs[0]);
}

function leavesThatStoppedGettingGradients(facts: RunFacts, visits: Map<string, number[]>): LastGradients[] {
  const out: LastGradients[] = [];
  for (const [uid, steps] of visits) {
    const k = steps.findLastIndex((step) => !isZeroVisit(facts, step));
    if (k >= 0 && steps.length - 1 - k >= MIN_ROUNDS_WITHOUT)
      out.push({ uid, last: steps[k], without: steps.slice(k + 1) });
  }
  return out;
}

/** Whether the loss still moves something in each of these backwards: else it may be zero because all is learned. */
function doOthersGetGradients(facts: RunFacts, visits: Map<string, number[]>, { without }: LastGradients) {
  const moving = new Set<string>();
  for (const steps of visits.values())
    for (const step of steps) if (!isZeroVisit(facts, step)) moving.add(facts.steps[step].visit?.backward ?? "");
  return without.every((step) => moving.has(facts.steps[step].visit?.backward ?? ""));
}

/** The ReLU that got a gradient with something in it and sent on none. `step` is that of the visit that accumulates. */
function reluThatSendsZero(facts: RunFacts, step: number): string | null {
  const backwardUid = facts.steps[step].visit?.backward ?? "";
  const visits = facts.index.visitsByBackward.get(backwardUid) ?? [];
  const visitOf = (nodeUid: string) => visits.find(({ node }) => node === nodeUid)?.step;
  const reached = new Set([facts.steps[step].visit?.node ?? ""]);
  for (const nodeUid of reached) {
    if (reached.size > MAX_NODES_BACK) return null;
    for (const { node } of visits) {
      if (!(facts.index.nodes.get(node)?.next ?? []).some((edge) => edge?.[0] === nodeUid)) continue;
      const visit = facts.steps[visitOf(node) ?? step].visit;
      const isSource = !isZeroGradient(visit?.grad_outputs.find(Boolean));
      if (isSource) return /^(?:Relu|Threshold)/.test(facts.index.nodes.get(node)?.name ?? "") ? node : null;
      reached.add(node);
    }
  }
  return null;
}

function diagnosisOf(facts: RunFacts, { last, without }: LastGradients, relu: string, uids: string[]): Diagnosis {
  const names = uids.map((uid) => facts.nameFact(uid, without[0]));
  const [x] = names;
  const made = facts.birthStep(relu);
  return {
    variant: "relu_died",
    cause: made,
    chain: [
      [last, "gradient", [uids[0]]],
      [made, "cut", [relu]],
      [without[0], "none", [uids[0]]],
    ],
    names,
    facts: {
      x,
      grads: names.map(gradNameOf),
      grad: gradNameOf(x),
      n: without.length,
      op: facts.nodeOperationName(relu),
    },
    fixes: [["leaky_relu"]],
  };
}
