/** Weights that were loaded and, before anything read them, initialised again: the checkpoint has no effect. */

import { byLine, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { operationName } from "../facts/operation_name.ts";
import { stateDictLoads, type StateDictLoad } from "./load_matched_nothing.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: stateDictLoads,
    once: byLine,
    say: loadOverwritten,
  }),
];

const INITIALISATION = /^(?:normal|uniform|zero|fill|random|bernoulli|exponential|erfinv|eye)_$/;
const MAX_STEPS_AHEAD = 2000;

/** None where one of the weights that were loaded is left as it was: a head may be initialised anew. */
function loadOverwritten(facts: RunFacts, { step, path, module }: StateDictLoad): Diagnosis | null {
  /** storages of weights, with the tensor; a bias or a norm says little of a checkpoint */
  const loaded = new Map<string, string>();
  for (const { name, inputs } of facts.opsAt(step)) {
    const tensor = name === "aten::copy_" ? facts.tensor(inputs[0], step) : undefined;
    if (tensor?.storage && (tensor.shape?.length ?? 0) > 1) loaded.set(tensor.storage, inputs[0]);
  }
  if (!loaded.size) return null;
  const overwritten = new Map<string, number>();
  const last = Math.min(facts.steps.length, step + MAX_STEPS_AHEAD);
  for (let i = step + 1; i < last && overwritten.size < loaded.size; i++)
    for (const op of facts.opsAt(i)) {
      const storages = op.inputs.map((uid) => facts.tensor(uid, i)?.storage ?? "");
      if (!storages.some((storage) => loaded.has(storage) && !overwritten.has(storage))) continue;
      if (!INITIALISATION.test(operationName(op.name))) return null;
      overwritten.set(storages[0], i);
    }
  if (overwritten.size < loaded.size) return null;
  const [[storage, written]] = overwritten;
  const uid = loaded.get(storage) ?? "";
  const x = facts.nameFact(uid, step);
  const findingFacts = {
    x,
    module: codeFact(path),
    n: loaded.size,
    loaded: facts.place(step).line,
    load: facts.statementFact(step),
  };
  return {
    variant: "overwritten",
    cause: written,
    chain: [
      [step, "way", [module], { code: findingFacts.load }],
      [written, "written", [uid]],
    ],
    names: [x, findingFacts.module],
    facts: findingFacts,
  };
}
