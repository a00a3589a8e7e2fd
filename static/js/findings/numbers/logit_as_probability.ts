/** Scores that a loss puts through a sigmoid itself, and that the program compares with 0.5 as if they had been. */

import { codeFact, diagnosis, lineOfCandidate, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { expressionOfOperation } from "../facts/operation_expression.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { literalValue } from "../../syntax/expressions.ts";
import { moduleCallsOf } from "../../trace/module_calls.ts";

export const FINDINGS = [
  diagnosis({
    kind: "logit_as_probability",
    severity: "warning",
    when: ({ scan }) => scan.operationsNamed(LOSS).length,
    of: ({ scan }) => scan.operationsNamed(DECISION),
    once: lineOfCandidate,
    say: (facts, op) => {
      const [scores] = op.inputs;
      if (!isAtOneHalf(facts, op) || !logitsOfLosses(facts).has(sourceOf(facts, scores))) return null;
      const numbers = facts.numbersOf(scores, op.step) ?? [];
      const wrong = numbers.filter((number) => number > 0 && number <= 0.5).length;
      if (!wrong) return null;
      const loss = facts.scan.operationsNamed(LOSS)[0];
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
const CARRIES_NUMBERS =
  /^(?:view|reshape|_unsafe_view|squeeze|unsqueeze|flatten|detach|alias|to|_to_copy|select|slice|contiguous|clone)$/;
const MAX_OPERATIONS_BACK = 8;

function isAtOneHalf(facts: RunFacts, op: Operation): boolean {
  if (operationName(op.name) === "round") return true;
  const comparison = expressionOfOperation(facts.trace.program, op);
  return comparison?.kind === "Compare" && comparison.children.some((node) => literalValue(node) === 0.5);
}

/** What losses with a sigmoid of their own get: by the modules whose results they are, else by tensor. */
const logitsOfLosses = memoizePerRun(
  (facts: RunFacts) => new Set(facts.scan.operationsNamed(LOSS).map(({ inputs: [uid] }) => sourceOf(facts, uid))),
);

/** The module that gave a tensor, through views and copies of its numbers; else the tensor that these lead back to. */
function sourceOf(facts: RunFacts, uid: string): string {
  let source = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    const op = facts.producingOperation(source);
    if (!op || !CARRIES_NUMBERS.test(operationName(op.name))) break;
    source = op.inputs[0];
  }
  return moduleOfResult(facts).get(source) ?? source;
}

const moduleOfResult = memoizePerRun((facts: RunFacts) => {
  const modules = new Map<string, string>();
  for (const { module, outputs } of moduleCallsOf(facts.opened).calls.values())
    for (const uid of module && outputs.length === 1 ? outputs : []) modules.set(uid, String(module));
  return modules;
});
