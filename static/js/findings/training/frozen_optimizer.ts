/** An optimizer that steps round after round while none of its parameters requires grad. */

import { attributeChanges } from "../facts/object_history.ts";
import { chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { optimizersOf, optimizerParameters } from "../facts/optimizers.ts";
import { owningModuleFact } from "./training_facts.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "frozen_optimizer", severity: "warning", diagnose: diagnoseFrozenOptimizer, lookedFor: "optimizers" },
];

const MIN_STEPS = 2;

function diagnoseFrozenOptimizer(facts: RunFacts): Diagnosis[] {
  const history = tensorHistoryOf(facts);
  const replaced = new Set(attributeChanges(facts).flatMap(({ before, after }) => (before && after ? [before] : [])));
  return [...optimizersOf(facts).values()].flatMap(({ uid: optimizer, made, stepped, unrecorded }) => {
    if (stepped.length + unrecorded < MIN_STEPS || !stepped.length) return [];
    const params = optimizerParameters(facts, optimizer, stepped[0].step);
    const isFrozen = (param: string, step: number) => history.valueAt(param, "requires_grad", step) === false;
    if (!params.length || !stepped.every(({ step }) => params.every((param) => isFrozen(param, step)))) return [];
    if (params.some((param) => history.fieldChanges(param, "grad").some(({ value }) => value))) return [];
    if (params.some((param) => replaced.has(param) || replaced.has(facts.index.moduleOfTensor.get(param) ?? "")))
      return []; // see `parameter_detached`
    const [uid] = params;
    const step = stepped[0].step;
    const freezing = history.fieldChanges(uid, "requires_grad").findLast((change) => change.step < step);
    const causeStep = freezing && freezing.step > facts.birthStep(uid) ? freezing.step : made;
    const names = {
      x: facts.nameFact(uid, step),
      module: owningModuleFact(facts, uid, step),
      optimizer: facts.nameFact(optimizer, step),
      n: params.length,
      code: facts.statementFact(causeStep),
      step: facts.place(step).line,
    };
    const madeLink = chainLink(facts.place(made), "made", { ...names, code: facts.statementFact(made) }, [optimizer]);
    const cutLink = chainLink(facts.place(causeStep), "cut", names, [uid]);
    return [
      {
        cause: facts.place(causeStep),
        chain: [
          ...(causeStep === made ? [madeLink] : [madeLink, cutLink].sort((a, b) => a.step - b.step)),
          chainLink(facts.place(step), "none", { ...names, code: facts.statementFact(step) }, [optimizer]),
        ],
        names: namesInFacts(names.x, names.module, names.optimizer),
        facts: names,
        fixes: [],
      },
    ];
  });
}
