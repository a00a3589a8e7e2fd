/** The logarithm of a drawn sample's probability times a weight with a history: backward changes the weight too. */

import { diagnosis, gradNameOf, statementOfCandidate, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Operation, RunFacts } from "../diagnosis.ts";
import { ancestorsAndCuts, reachableNodes } from "../facts/graph_walk.ts";
import { nodeReceivingGradient } from "./gradient_flow.ts";

export const FINDINGS = [
  diagnosis({
    kind: "advantage_with_history",
    severity: "warning",
    when: (facts) => facts.backwardCalls.length && facts.scan.operationsNamed(DRAW).length,
    of: (facts) => facts.scan.operationsNamed(/^mul$/),
    once: statementOfCandidate,
    say: (facts, op) => {
      const { inputs, step } = op;
      if (facts.steps[step].visit || inputs.length !== 2 || inputs[0] === inputs[1]) return null;
      const sizes = inputs.map((uid) => facts.tensor(uid, step)?.shape?.reduce((a, b) => a * b, 1) ?? 0);
      if (sizes[0] < 2 || sizes[0] !== sizes[1]) return null;
      if (!inputs.every((uid) => facts.tensor(uid, step)?.requires_grad)) return null;
      for (const [score, weight] of [inputs, [...inputs].reverse()]) {
        const drawn = sampleBehind(facts, score, step);
        const trained = drawn && trainedByWeight(facts, score, weight, step);
        if (!drawn || !trained) continue;
        const [x, y, p] = [
          facts.nameFact(score, step),
          facts.nameFact(weight, step),
          facts.nameFact(trained.uid, trained.step),
        ];
        const name = nameTextOfFact(y);
        return {
          cause: step,
          chain: [
            [drawn.step, "made", [drawn.outputs[0]]],
            facts.birthStep(weight) < step && [facts.birthStep(weight), "way", [weight]],
            [step, "used", [score, weight]],
            [trained.step, "gradient", [trained.uid], { x: p }],
          ],
          names: [x, y, p],
          facts: { x, y, p, grad: gradNameOf(p), drawn: facts.lineOf(drawn.step) },
          fixes: name ? [["detach_used", { name }]] : [],
        };
      }
      return null;
    },
  }),
];

const DRAW = /^(?:multinomial|normal|bernoulli|binomial|poisson)$/;

/** The draw, without a history, whose probability a tensor was computed from: both come of the same tensor. */
function sampleBehind(facts: RunFacts, score: string, step: number): Operation | null {
  const { tensors } = ancestorsAndCuts(facts, score, step);
  const behind = new Set(tensors);
  for (const uid of tensors) {
    const op = facts.producingOperation(uid);
    if (!op || !DRAW.test(operationName(op.name)) || facts.tensor(uid, op.step)?.requires_grad) continue;
    const sources = ancestorsAndCuts(facts, op.inputs[0] ?? "", op.step).tensors;
    if (sources.some((source) => behind.has(source) && isComputed(facts, source, op.step))) return op;
  }
  return null;
}

/** Whether a tensor is more than one number, and has a history or gets a gradient. */
function isComputed(facts: RunFacts, uid: string, step: number) {
  const tensor = facts.tensor(uid, step);
  return tensor?.requires_grad === true && (tensor.shape?.length ?? 0) > 0;
}

/** A parameter that gets a gradient through the weight alone, and that an optimizer moves by it. */
function trainedByWeight(
  facts: RunFacts,
  score: string,
  weight: string,
  step: number,
): { uid: string; step: number } | null {
  const [scoreNode, weightNode] = [
    nodeReceivingGradient(facts, score, step),
    nodeReceivingGradient(facts, weight, step),
  ];
  const outer = facts.backwardCalls.filter(({ parent, api }) => !parent && api === "backward");
  const call = outer.find((each) => each.step >= step);
  if (!scoreNode || !weightNode || !call) return null;
  const fromScore = reachableNodes(facts, scoreNode);
  const fromWeight = reachableNodes(facts, weightNode);
  if (fromScore.has(weightNode) || fromWeight.has(scoreNode)) return null;
  const next = outer.find((each) => each.step > call.end)?.step ?? facts.steps.length;
  const moved = new Set(
    facts.optimizers.flatMap(({ uid, steps }) => {
      const at = steps.find((each) => each >= call.end && each < next);
      return at === undefined ? [] : facts.parametersOf(uid, at);
    }),
  );
  for (const node of fromWeight) {
    const uid = facts.index.nodes.get(node)?.variable;
    if (!uid || !moved.has(uid) || fromScore.has(node)) continue;
    const added = facts
      .eventsOfKind("grad_accumulated")
      .find((event) => event.tensor === uid && event.step >= call.step);
    if (added) return { uid, step: added.step };
  }
  return null;
}
