/** A clip that gets a generator of parameters which had been gone through before: it clips nothing. */

import { callArgument } from "../../syntax/expressions.ts";
import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { gradientTensors } from "../facts/gradient_tensors.ts";
import { clipSteps } from "./clip_without_gradient.ts";
import { optimizerParameters, optimizersOf } from "../facts/optimizers.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import { usedUpGenerator } from "./exhausted_parameters.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "clip_without_gradient", severity: "warning", diagnose: diagnoseClipOfUsedUp },
];

function diagnoseClipOfUsedUp(facts: RunFacts): Diagnosis[] {
  /** by statement */
  const out = new Map<number, Diagnosis>();
  for (const { step, stmt, found } of clipSteps(facts)) {
    const diagnosis = out.has(stmt) ? null : diagnosisOf(facts, step, callArgument(found, "parameters", 0));
    if (diagnosis) out.set(stmt, diagnosis);
  }
  return [...out.values()];
}

/** None where the clip took a gradient, or there was none that a step then used. */
function diagnosisOf(facts: RunFacts, clip: number, clipped: SyntaxNode | null): Diagnosis | null {
  const grads = gradientTensors(facts);
  if (clipped?.kind !== "Name" || facts.opsAt(clip).some(({ inputs }) => inputs.some((uid) => grads.has(uid))))
    return null;
  const name = String(clipped.value);
  const generator = usedUpGenerator(facts, name, clip);
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
    code: facts.statementFact(clip),
    step: facts.place(next.step).line,
  };
  return {
    variant: "used_up",
    cause: facts.place(clip),
    chain: [
      chainLink(facts.place(made), "made", { ...names, code: facts.statementFact(made) }),
      chainLink(facts.place(used), "read", { ...names, code: names.reader }),
      chainLink(facts.place(clip), "none", names),
      chainLink(facts.place(next.step), "used", { ...names, code: facts.statementFact(next.step) }, [next.optimizer]),
    ],
    names: namesInFacts(x, codeFact("parameters")),
    facts: names,
    fixes: [fixHint("list_parameters", facts.place(made))],
  };
}

/** The next step of an optimizer with gradients in what it holds. */
function nextUpdate(facts: RunFacts, clip: number): { optimizer: string; step: number } | null {
  const history = tensorHistoryOf(facts);
  for (const { uid: optimizer, steps } of optimizersOf(facts).values()) {
    const step = steps.find((other) => other > clip);
    if (step === undefined) continue;
    if (optimizerParameters(facts, optimizer, step).some((param) => history.valueAt(param, "grad", clip)))
      return { optimizer, step };
  }
  return null;
}
