/**
 * A sample that goes on through a net, drawn by `sample()`, which leaves the way back to the distribution's parameters
 * behind.
 */

import { codeFact, diagnosis, statementOfCandidate } from "../diagnosis.ts";
import type { Diagnosis, EventOccurrence, RunFacts } from "../diagnosis.ts";
import { nodeReceivingGradient } from "./gradient_flow.ts";
import { reachableNodes } from "../facts/graph_walk.ts";
import { methodCalls } from "../../syntax/expressions.ts";
import { mayCallMethod } from "../../syntax/statements.ts";

export const FINDINGS = [
  diagnosis({
    kind: "term_moves_nothing",
    severity: "note",
    when: ({ backwardCalls, trace }) => backwardCalls.length && mayCallMethod(trace.program, "sample"),
    of: (facts) => facts.eventsOfKind("path_cut"),
    once: statementOfCandidate,
    say: gradientCutBySample,
  }),
];

/** Distributions that are made of it have `rsample()` too. */
const DRAWN = /^aten::normal\b/;
/** As in `log_prob` of the sample: then the gradient of the probability is meant. */
const OF_ITS_PROBABILITY = /^aten::(?:sub|eq)\b/;

function gradientCutBySample(facts: RunFacts, cut: EventOccurrence<"path_cut">): Diagnosis | null {
  const { step, result: sample, tensor: drawnFrom, name } = cut;
  if (!sample || !DRAWN.test(name) || !methodCalls(facts.syntax(step), "sample").length) return null;
  if (facts.usesOf(sample).some((op) => OF_ITS_PROBABILITY.test(op.name))) return null;
  const taking = facts.eventsOfKind("module_called").find(({ inputs }) => inputs.includes(sample));
  const returned = facts.eventsOfKind("module_returned").find(({ call }) => call === taking?.call);
  if (!taking || !returned?.outputs.some((uid) => requiresGradAt(facts, uid, returned.step))) return null;
  const behind = parameterOfDistribution(facts, drawnFrom, step);
  const backward = facts.backwardCalls.find((call) => call.step > taking.step);
  if (!behind || !backward) return null;
  const x = facts.nameFact(sample, taking.step);
  const names = {
    x,
    p: facts.nameFact(behind, backward.step),
    used: facts.place(taking.step).line,
    reader: facts.statementFact(taking.step),
  };
  return {
    variant: "sampled",
    severity: "note",
    cause: step,
    chain: [
      [step, "cut", [sample]],
      [taking.step, "used", [sample], { code: names.reader }],
    ],
    names: [x, codeFact("sample"), names.p],
    facts: names,
    fixes: [["rsample"]],
  };
}

function requiresGradAt(facts: RunFacts, uid: string, step: number) {
  return facts.history.valueAt(uid, "requires_grad", step) === true;
}

/** A parameter that an optimizer holds and that a distribution was made of. */
function parameterOfDistribution(facts: RunFacts, uid: string, step: number): string | null {
  const expanded = facts.producingOperation(uid)?.inputs[0]; // `sample()` expands the mean first, without a history
  const node = nodeReceivingGradient(facts, uid, step) ?? nodeReceivingGradient(facts, expanded ?? uid, step);
  if (!node) return null;
  const held = new Set(facts.optimizers.flatMap(({ uid: optimizer, made }) => facts.parametersOf(optimizer, made)));
  for (const reached of reachableNodes(facts, node)) {
    const variable = facts.index.nodes.get(reached)?.variable;
    if (variable && held.has(variable)) return variable;
  }
  return null;
}
