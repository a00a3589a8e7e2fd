/**
 * An optimizer that steps tensors to which no gradient comes, while the gradients go to parameters that no optimizer
 * has.
 */

import { fixHint, nameTextOfFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { modulesAround, outermostModuleWithout } from "./training_facts.ts";

interface MisdirectedOptimizer {
  optimizer: string;
  /** made, step, grad: steps at which it was made, last stepped, and the first gradient came to what it lacks */
  made: number;
  step: number;
  held: string[];
  trained: string[];
  grad: number;
}

export const misdirectedOptimizers = memoizePerRun((facts: RunFacts): MisdirectedOptimizer[] => {
  const optimizers = facts.optimizers.filter(({ steps }) => steps.length);
  const parametersByOptimizer = new Map(
    optimizers.map(({ uid, steps }) => [uid, facts.parametersOf(uid, steps[steps.length - 1])]),
  );
  const ownedParameters = new Set([...parametersByOptimizer.values()].flat());
  const grads = facts.eventsOfKind("grad_accumulated");
  const unownedGrads = grads.filter(({ tensor }) => !ownedParameters.has(tensor) && facts.isParameter(tensor));
  const isWritten = unownedGrads.some(({ tensor, step }) =>
    facts.writesOf(facts.tensor(tensor, step)?.storage).some((write) => write.step > step),
  );
  return optimizers.flatMap(({ uid, made, steps }) => {
    const params = parametersByOptimizer.get(uid) ?? [];
    const hasGradients = grads.some(({ tensor, step }) => step > made && params.includes(tensor));
    const unownedSince = unownedGrads.filter(({ step }) => step > made && step < steps[steps.length - 1]);
    if (!params.length || hasGradients || !unownedSince.length || isWritten) return [];
    const trained = [...new Set(unownedSince.map(({ tensor }) => tensor))];
    if (!haveCommonShape(facts, params, trained, steps[steps.length - 1]) && !isNameGivenAway(facts, params, trained))
      return [];
    return [{ optimizer: uid, made, step: steps[steps.length - 1], held: params, trained, grad: unownedSince[0].step }];
  });
});

/** Whether some of both are of one shape: a copy of a module, or a module made again. */
function haveCommonShape(facts: RunFacts, held: string[], trained: string[], step: number) {
  const shapes = new Set(held.map((uid) => String(facts.tensor(uid, step)?.shape)));
  return trained.every((uid) => shapes.has(String(facts.tensor(uid, step)?.shape)));
}

/** Whether a name that meant the module of the one came to mean that of the other: a model that was made again. */
function isNameGivenAway(facts: RunFacts, held: string[], trained: string[]) {
  const [before, after] = [held, trained].map((uids) => new Set(uids.flatMap((uid) => modulesAround(facts, uid))));
  return [...facts.scan.meaningsByName.values()].some((meanings) =>
    meanings.some(({ uid }, k) => k > 0 && after.has(uid) && !before.has(uid) && before.has(meanings[k - 1].uid)),
  );
}

export function parametersMissedByOptimizer(facts: RunFacts, miss: MisdirectedOptimizer): Diagnosis {
  const [uid] = miss.trained;
  const ownerUid = facts.index.moduleOfTensor.get(uid) ?? uid;
  const creationStep = Math.max(facts.birthStep(uid), facts.birthStep(ownerUid));
  const whole = outermostModuleWithout(facts, uid, miss.held);
  const causeStep = creationStep > miss.made ? firstNamingStep(facts, whole, creationStep) : miss.made;
  const x = facts.nameFact(uid, miss.grad);
  const held = facts.nameFact(outermostModuleWithout(facts, miss.held[0], miss.trained), miss.step);
  const isMadeLater = creationStep > miss.made;
  const isAnew = isMadeLater && isMadeForEachStep(facts, miss);
  const optimizerName = facts.nameFact(miss.optimizer, miss.step);
  const findingFacts = {
    x,
    optimizer: optimizerName,
    module: facts.nameFact(ownerUid, miss.grad),
    held,
    held_name: nameTextOfFact(held),
    n: miss.trained.length,
    made: facts.steps[miss.made].line,
    step: facts.steps[miss.step].line,
  };
  return {
    variant: isAnew ? "made_anew" : isMadeLater ? "not_given" : "others_given",
    cause: causeStep,
    chain: [
      [miss.made, "made", [miss.optimizer], { x: optimizerName }],
      isMadeLater && [causeStep, "moved", [uid]],
      [miss.grad, "gradient", [uid]],
      [miss.step, "none", [miss.optimizer]],
    ],
    names: [x, optimizerName, ...(isAnew ? [findingFacts.module, held] : [])],
    facts: findingFacts,
    concerns: [...miss.held, ...miss.trained],
    fixes: isAnew ? [] : optimizerFixes(facts, miss.made, ownerUid, isMadeLater ? causeStep : null, miss.grad),
  };
}

/** Whether what gets the gradients is made again for every step of the optimizer: moving it would train nothing. */
function isMadeForEachStep(facts: RunFacts, { optimizer, trained }: MisdirectedOptimizer) {
  const births = [...new Set(trained.map((uid) => facts.index.moduleOfTensor.get(uid) ?? uid))].map((uid) =>
    facts.birthStep(uid),
  );
  const steps = facts.optimizer(optimizer)?.steps ?? [];
  const madeBefore = (step: number) => births.findLast((birth) => birth < step);
  return steps.length > 1 && new Set(steps.map(madeBefore)).size === steps.length;
}

/**
 * The optimizer made later, or of the module that is trained. The parameters of `ownerUid` are there after `laterStep`.
 */
function optimizerFixes(facts: RunFacts, made: number, ownerUid: string, laterStep: number | null, step: number) {
  const name = facts.nameText(ownerUid, step) ?? "";
  const place = facts.place(made);
  if (laterStep === null) return [fixHint("optimizer_of", place, { name })];
  const to = facts.steps[laterStep].line;
  return [fixHint("optimizer_later", place, { to }), fixHint("optimizer_of", place, { name, to })];
}

/** The step at which a module got its name, where that follows its birth in the same statement. */
function firstNamingStep(facts: RunFacts, uid: string, creationStep: number) {
  return facts.bindingsOf(uid).find(({ step }) => step >= creationStep)?.step ?? creationStep;
}
