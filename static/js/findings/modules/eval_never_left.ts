/** A training that goes on in eval: `eval()` was called for an evaluation, and no `train()` after it. */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { outermostCallStep, layerCalls, modeChangeBefore, type LayerCall } from "./layer_calls.ts";
import { modulePath, innermostIteration } from "../training/training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "eval_never_left",
    severity: "warning",
    lookedFor: "modes",
    of: forgottenEvals,
    once: ({ left: { outer } }) => outer?.module ?? outer?.type ?? "",
    say: diagnosisOf,
  }),
];

/** trained: in training; evaluated: an evaluation in eval; left: the first training in eval after it */
interface ForgottenEval {
  trained: LayerCall;
  evaluated: LayerCall;
  left: LayerCall;
}

/** Of the calls of each registered layer. */
function forgottenEvals(facts: RunFacts): ForgottenEval[] {
  const calls = layerCalls(facts).filter(({ inner }) => inner?.module);
  return groupBy(calls, ({ inner, layer }) => `${inner?.module} ${layer}`).flatMap(
    (ofLayer) => forgottenEval(facts, ofLayer) ?? [],
  );
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
  return {
    variant: left.layer,
    cause: evalStep,
    chain: [
      [trainedStep, "way", [left.inner?.module], { iteration: innermostIteration(facts, trainedStep) }],
      [evalStep, "cut", [left.outer?.module], { iteration: innermostIteration(facts, evalStep) }],
      [leftStep, "none", [left.inner?.module]],
    ],
    names: [module, layer],
    facts: names,
    fixes: [["train_first", { name: modulePath(module) }, leftStep]],
  };
}
