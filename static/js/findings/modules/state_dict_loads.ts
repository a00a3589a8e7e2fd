/** Where a program loads a state dict. */

import { methodCalls, receiver } from "../../syntax/expressions.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export interface StateDictLoad {
  step: number;
  call: SyntaxNode;
  /** what it is loaded into */
  into: SyntaxNode;
}

/** The statements that call `load_state_dict`, each time that they run. */
export function* stateDictLoads(facts: RunFacts): Generator<StateDictLoad> {
  if (!mayCallMethod(facts.trace.program, "load_state_dict")) return;
  for (const [step, { kind }] of facts.steps.entries()) {
    const [call] = kind === "statement" || kind === "return" ? methodCalls(facts.syntax(step), "load_state_dict") : [];
    const into = call ? receiver(call) : null;
    if (into) yield { step, call, into };
  }
}
