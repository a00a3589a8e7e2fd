/** A leaf whose gradient is zero because the parts that come over two ways cancel out. */

import { diagnosis, gradNameOf, type Diagnosis, type Link, type RunFacts } from "../diagnosis.ts";
import { gradientFlowOfBackward, type GradientArrival } from "./gradient_flow.ts";
import { gradientValuesFact } from "./gradient_values.ts";
import { stepsReadingGrad } from "../statements/grad_readings.ts";
import { isWorthWarning, isZeroGradient, leavesWithZeroGradient } from "./zero_gradient.ts";
import { groupBy } from "../../trace/multimap.ts";

const MAX_NODES_BACK = 200;

export const FINDINGS = [
  diagnosis({
    kind: "zero_gradient",
    severity: "warning",
    of: (facts) =>
      groupBy(cancelledGradients(facts), ({ step, arrival: { incoming } }) =>
        [...incoming.map(({ node }) => facts.birthStep(node)), step].map((at) => facts.lineOf(at)).join(" "),
      ),
    say: (facts, [{ uid, step, arrival }]) => diagnosisOf(facts, uid, step, arrival),
  }),
];

function cancelledGradients(facts: RunFacts) {
  return [...leavesWithZeroGradient(facts)].flatMap(([uid, step]) => {
    // like the last bias of a critic
    if (!stepsReadingGrad(facts, uid).length && doesAnythingMove(facts, step)) return [];
    const arrival = arrivalThatCancels(facts, step);
    return arrival ? [{ uid, step, arrival }] : [];
  });
}

/** Whether the backward of a step brought any leaf something. */
function doesAnythingMove(facts: RunFacts, step: number) {
  const backwardUid = facts.steps[step].visit?.backward ?? "";
  return (facts.index.visitsByBackward.get(backwardUid) ?? []).some(({ step: visitStep }) => {
    const visit = facts.steps[visitStep].visit;
    return visit?.accumulates && !isZeroGradient(visit.grad_outputs[0]);
  });
}

/** Where what came to a leaf became zero: at a node to which several gradients came, none of them zero. */
function arrivalThatCancels(facts: RunFacts, step: number): GradientArrival | null {
  const call = facts.backwardAt(step);
  if (!call) return null;
  const flow = gradientFlowOfBackward(facts, call);
  let nodeUid = facts.steps[step].visit?.node ?? "";
  let outputNr = 0;
  for (let depth = 0; depth < MAX_NODES_BACK; depth++) {
    const arrival = flow.arrivalForOutput(nodeUid, outputNr);
    const nonzero = arrival.incoming.filter(({ grad }) => grad && !isZeroGradient(grad));
    if (nonzero.length > 1 && isZeroGradient(arrival.grad)) return { ...arrival, incoming: nonzero };
    const [sender] = arrival.incoming;
    if (nonzero.length || arrival.incoming.length !== 1 || arrival.root) return null;
    const [received] = flow.arrivalsByOutput(sender.node);
    if (!received || !isZeroGradient(received.grad)) return null;
    [nodeUid, outputNr] = [sender.node, received.nr];
  }
  return null;
}

function diagnosisOf(facts: RunFacts, uid: string, step: number, { incoming }: GradientArrival): Diagnosis {
  const x = facts.nameFact(uid, step);
  const births = incoming.map(({ node }) => facts.birthStep(node));
  const cause = Math.max(...births);
  return {
    variant: "cancels",
    severity: isWorthWarning(facts, uid) ? "warning" : "note",
    cause,
    chain: [
      ...incoming.map(({ node, grad }, k): Link => {
        return [births[k], "way", [node], { op: facts.nodeOperationName(node), value: gradientValuesFact(grad) }];
      }),
      [step, "gradient", [uid]],
    ],
    facts: {
      x,
      grad: gradNameOf(x),
      n: incoming.length,
      parts: incoming.map(({ grad }) => gradientValuesFact(grad)),
    },
  };
}
