/** A clip that gets a generator of parameters which had been gone through before: it clips nothing. */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { callArgument } from "../../syntax/expressions.ts";
import { gradientTensors } from "../facts/gradient_tensors.ts";
import { clipSteps } from "./clip_without_gradient.ts";
import { exhaustedGeneratorSteps } from "./exhausted_parameters.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "clip_without_gradient",
    severity: "warning",
    of: clipSteps,
    once: ({ stmt }) => stmt,
    say: (facts, { step, found }) => diagnosisOf(facts, step, callArgument(found, "parameters", 0)),
  }),
];

/** None where the clip took a gradient, or there was none that a step then used. */
function diagnosisOf(facts: RunFacts, clip: number, clipped: SyntaxNode | null): Diagnosis | null {
  const grads = gradientTensors(facts);
  if (clipped?.kind !== "Name" || facts.opsAt(clip).some(({ inputs }) => inputs.some((uid) => grads.has(uid))))
    return null;
  const name = String(clipped.value);
  const generator = exhaustedGeneratorSteps(facts, name, clip);
  const next = nextUpdate(facts, clip);
  if (!generator || !next) return null;
  const { made, used } = generator;
  const x = codeFact(name);
  const names = {
    x,
    optimizer: facts.nameFact(next.optimizer, next.step),
    made: facts.place(made).line,
    read: facts.place(used).line,
    reader: facts.statementFact(used),
    step: facts.place(next.step).line,
  };
  return {
    variant: "used_up",
    cause: clip,
    chain: [
      [made, "made"],
      [used, "read", [], { code: names.reader }],
      [clip, "none"],
      [next.step, "used", [next.optimizer]],
    ],
    names: [x, codeFact("parameters")],
    facts: names,
    fixes: [["list_parameters", {}, made]],
  };
}

/** The next step of an optimizer with gradients in what it holds. */
function nextUpdate(facts: RunFacts, clip: number): { optimizer: string; step: number } | null {
  for (const { uid: optimizer, steps } of facts.optimizers) {
    const step = steps.find((other) => other > clip);
    if (step === undefined) continue;
    if (facts.parametersOf(optimizer, step).some((param) => facts.history.valueAt(param, "grad", clip)))
      return { optimizer, step };
  }
  return null;
}
