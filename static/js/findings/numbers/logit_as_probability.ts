/** Scores that a loss puts through a sigmoid itself, and that the program compares with 0.5 as if they had been. */

import {
  codeFact,
  diagnosis,
  statementOfCandidate,
  operationName,
  type Operation,
  type RunFacts,
} from "../diagnosis.ts";
import { expressionOfOperation } from "../facts/operation_expression.ts";
import { tensorBehindViews } from "./activation_twice.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { literalValue } from "../../syntax/expressions.ts";
import { moduleCallsOf } from "../../trace/module_calls.ts";

export const FINDINGS = [
  diagnosis({
    kind: "logit_as_probability",
    severity: "warning",
    when: ({ scan }) => scan.operationsNamed(LOSS).length,
    of: ({ scan }) => scan.operationsNamed(DECISION),
    once: statementOfCandidate,
    say: (facts, op) => {
      const [scores] = op.inputs;
      const loss = isAtOneHalf(facts, op) && lossesBySource(facts).get(sourceOfScores(facts, scores));
      if (!loss) return null;
      const numbers = facts.numbersOf(scores, op.step) ?? [];
      const wrong = numbers.filter((number) => number > 0 && number <= 0.5).length;
      if (!wrong) return null;
      return {
        cause: op.step,
        chain: [loss.step < op.step && [loss.step, "used", [loss.inputs[0]]], [op.step, "checked", [scores]]],
        facts: {
          x: facts.nameFact(scores, op.step),
          wrong,
          n: numbers.length,
          loss: facts.lineOf(loss.step),
          test: codeFact(operationName(op.name) === "round" ? "round" : "0.5"),
        },
      };
    },
  }),
];

const LOSS = /^binary_cross_entropy_with_logits$/;
const DECISION = /^(?:gt|ge|lt|le|round)$/;

function isAtOneHalf(facts: RunFacts, op: Operation): boolean {
  if (operationName(op.name) === "round") return true;
  const comparison = expressionOfOperation(facts.trace.program, op);
  return comparison?.kind === "Compare" && comparison.children.some((node) => literalValue(node) === 0.5);
}

/** Losses with a sigmoid of their own, by where their scores come from. */
const lossesBySource = memoizePerRun((facts: RunFacts) => {
  const losses = facts.scan.operationsNamed(LOSS).map((op) => [sourceOfScores(facts, op.inputs[0]), op] as const);
  return new Map(losses.reverse());
});

/** The module whose result a tensor is, through views and copies; else the tensor that these lead back to. */
function sourceOfScores(facts: RunFacts, uid: string): string {
  const behind = tensorBehindViews(facts, uid);
  return moduleOfResult(facts).get(behind) ?? behind;
}

const moduleOfResult = memoizePerRun((facts: RunFacts) => {
  const modules = new Map<string, string>();
  for (const { module, outputs } of moduleCallsOf(facts.opened).calls.values())
    for (const uid of module && outputs.length === 1 ? outputs : []) modules.set(uid, String(module));
  return modules;
});
