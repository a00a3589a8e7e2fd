/** An optimizer that steps after `eval()` too, in a program that goes back and forth between `train()` and `eval()`. */

import { diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { ancestorsOfRoots, modeChangeBefore } from "./layer_calls.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { methodCalls } from "../../syntax/expressions.ts";

export const FINDINGS = [
  diagnosis({
    kind: "eval_trains",
    severity: "warning",
    lookedFor: "modes",
    of: updates,
    once: ({ module }) => module,
    say: diagnosisOf,
  }),
];

/** A training may end in eval once; so many evaluations that train are none. */
const MIN_EVALUATIONS = 2;

/** A module that an optimizer trains, and the optimizer's recorded steps, each with the module's mode. */
interface Updates {
  module: string;
  optimizer: string;
  steps: { step: number; isTraining: boolean }[];
}

/** For each optimizer the first module that has all its parameters and was brought back by `train()`. */
function updates(facts: RunFacts): Updates[] {
  const modes = modesByModule(facts);
  return facts.optimizers.flatMap(({ uid: optimizer, steps }) => {
    const held = steps.length ? facts.parametersOf(optimizer, steps[0]) : [];
    const hasAll = (module: string) => {
      const own = new Set(tensorsOfModule(facts, module, steps[0]));
      return held.length > 0 && held.every((uid) => own.has(uid));
    };
    const [module, changes] = [...modes].find(([uid]) => hasAll(uid)) ?? [];
    if (!module || !changes) return [];
    const modeAt = (step: number) => changes.findLast((change) => change.step < step)?.isTraining ?? true;
    return [{ module, optimizer, steps: steps.map((step) => ({ step, isTraining: modeAt(step) })) }];
  });
}

/** The modes of each module that left eval again, in order. */
function modesByModule(facts: RunFacts): Map<string, { step: number; isTraining: boolean }[]> {
  const modes = new Map<string, { step: number; isTraining: boolean }[]>();
  for (const { uid, step, fields } of facts.index.objectChanges)
    if (typeof fields.training === "boolean") addToList(modes, uid, { step, isTraining: fields.training });
  for (const [uid, changes] of modes)
    if (!changes.some(({ isTraining }, k) => isTraining && changes[k - 1]?.isTraining === false)) modes.delete(uid);
  return modes;
}

function diagnosisOf(facts: RunFacts, { module, optimizer, steps }: Updates): Diagnosis | null {
  const inEval = steps.filter(({ isTraining }) => !isTraining);
  const evaluations = steps.filter(({ isTraining }, k) => !isTraining && steps[k - 1]?.isTraining);
  if (!steps[0].isTraining || evaluations.length < MIN_EVALUATIONS) return null;
  const [{ step }] = evaluations;
  const left = modeChangeBefore(facts, module, false, step) ?? step;
  if (!methodCalls(facts.syntax(left), "eval").length || isEvaluatedBetween(facts, optimizer, left, step)) return null;
  const [x, name] = [facts.nameFact(module, step), facts.nameFact(optimizer, step)];
  return {
    cause: step,
    chain: [
      [left, "cut", [module]],
      [step, "written", [facts.parametersOf(optimizer, step)[0]]],
    ],
    names: [x, name],
    facts: {
      x,
      optimizer: name,
      n: inEval.length,
      total: steps.length,
      left: facts.lineOf(left),
      eval: facts.statementFact(left),
    },
  };
}

/** Whether a result of an optimizer's parameters trains nothing: then it is a `train()` that is missing. */
function isEvaluatedBetween(facts: RunFacts, optimizer: string, from: number, to: number): boolean {
  const held = new Set(facts.parametersOf(optimizer, to));
  const trained = ancestorsOfRoots(facts);
  for (let step = from + 1; step < to; step++)
    for (const { inputs, outputs } of facts.steps[step].visit ? [] : facts.opsAt(step))
      if (inputs.some((uid) => held.has(uid ?? "")) && !outputs.some((uid) => trained.has(uid))) return true;
  return false;
}
