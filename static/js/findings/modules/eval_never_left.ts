/** A training that goes on in eval: `eval()` was called for an evaluation, and no `train()` after it. */

import type { Diagnosis, DiagnosisRow } from "../diagnosis.ts";
import { chainLink, codeFact } from "../finding.ts";
import { outermostCallStep, layerCalls, modeChangeBefore, type LayerCall } from "./layer_calls.ts";
import { modulePath, innermostIteration } from "../training/training_facts.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "eval_never_left", severity: "warning", diagnose: diagnoseEvalNeverLeft, lookedFor: "modes" },
];

/** trained: in training; evaluated: an evaluation in eval; left: the first training in eval after it */
interface ForgottenEval {
  trained: LayerCall;
  evaluated: LayerCall;
  left: LayerCall;
}

function diagnoseEvalNeverLeft(facts: RunFacts): Diagnosis[] {
  const byModule = new Map<string, ForgottenEval>();
  for (const [, calls] of callsByLayer(facts)) {
    const found = forgottenEval(facts, calls);
    const key = found?.left.outer?.module ?? found?.left.outer?.type ?? "";
    if (found && !byModule.has(key)) byModule.set(key, found);
  }
  return [...byModule.values()].map((found) => diagnosisOf(facts, found));
}

/** The calls of each registered layer. */
function callsByLayer(facts: RunFacts) {
  const byLayer = new Map<string, LayerCall[]>();
  for (const call of layerCalls(facts)) {
    const uid = call.inner?.module;
    if (uid) byLayer.set(`${uid} ${call.layer}`, [...(byLayer.get(`${uid} ${call.layer}`) ?? []), call]);
  }
  return byLayer;
}

/**
 * Null where the layer goes back to training later, or only a part of the module around it is in eval: a batch norm
 * that is frozen on purpose is. Both trainings are calls by one statement: another one may mean another mode.
 */
function forgottenEval(facts: RunFacts, calls: LayerCall[]): ForgottenEval | null {
  const statementOf = ({ step }: LayerCall) => facts.steps[outermostCallStep(facts, step)].stmt;
  let [trained, evaluated]: [LayerCall | null, LayerCall | null] = [null, null];
  for (const [k, call] of calls.entries()) {
    const isWhollyInEval = !call.training && call.outer?.training === false;
    if (call.training && call.isUsedForTraining) [trained, evaluated] = [call, null];
    else if (trained && isWhollyInEval && !call.isUsedForTraining) evaluated = call;
    else if (trained && evaluated && isWhollyInEval && call.isUsedForTraining && call.op.grad_mode) {
      const isLeft = calls.slice(k).some((later) => later.training);
      return isLeft || statementOf(call) !== statementOf(trained) ? null : { trained, evaluated, left: call };
    }
  }
  return null;
}

function diagnosisOf(facts: RunFacts, { trained, evaluated, left }: ForgottenEval): Diagnosis {
  const [trainedStep, leftStep] = [outermostCallStep(facts, trained.step), outermostCallStep(facts, left.step)];
  const nameOf = (module: LayerCall["inner"]) =>
    module?.module ? facts.nameFact(module.module, leftStep) : codeFact(module?.type ?? "");
  const [layer, module] = [nameOf(left.inner), nameOf(left.outer)];
  const evalStep = modeChangeBefore(facts, left.outer?.module, false, evaluated.step) ?? evaluated.step;
  const names = {
    module,
    name: modulePath(module),
    layer,
    iteration: innermostIteration(facts, leftStep),
    forward: facts.place(leftStep).line,
  };
  const forwardLink = (step: number, role: "way" | "none") =>
    chainLink(
      facts.place(step),
      role,
      { ...names, iteration: innermostIteration(facts, step), code: facts.statementFact(step) },
      [left.inner?.module],
    );
  return {
    variant: left.layer,
    cause: evalStep,
    chain: [
      forwardLink(trainedStep, "way"),
      [evalStep, "cut", [left.outer?.module], { iteration: innermostIteration(facts, evalStep) }],
      forwardLink(leftStep, "none"),
    ],
    names: [module, layer],
    facts: names,
    fixes: [["train_first", { name: modulePath(module) }, leftStep]],
  };
}
