/**
 * A `load_state_dict` of what a module already is: of its own state, or of a module that shares tensors with it and is
 * trained.
 */

import { lineOfCandidate, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { outermostModuleWithout } from "../training/training_facts.ts";
import { SNAPSHOT_NAME_PATTERN } from "../statements/snapshot_name.ts";
import { callArgument, methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { stateDictLoads, type StateDictLoad } from "./load_matched_nothing.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: stateDictLoads,
    once: lineOfCandidate,
    say: (facts, called) => {
      const load = ownLoad(facts, called);
      return load && (load.others.length ? sharedPartDiagnosis(facts, load) : ownStateDiagnosis(facts, load));
    },
  }),
];

interface OwnLoad {
  step: number;
  into: string;
  from: string;
  module: string;
  /** the tensors that were copied onto themselves, and those that were not */
  own: string[];
  others: string[];
}

/** A load between two modules, or paths, that copies tensors onto themselves. */
function ownLoad(facts: RunFacts, { step, call, path: into, module }: StateDictLoad): OwnLoad | null {
  const [state] = methodCalls(callArgument(call, "state_dict", 0), "state_dict");
  const source = state && receiver(state);
  if (!source) return null;
  const from = pathText(source) ?? source.text;
  const copies = facts.opsAt(step).filter(({ name, inputs }) => name === "aten::copy_" && inputs.length === 2);
  const own = copies.filter(({ inputs: [to, source] }) => {
    const [storage, other] = [facts.tensor(to, step)?.storage, facts.tensor(source, step)?.storage];
    return storage && storage === other;
  });
  if (!own.length) return null;
  const others = copies.filter((copy) => !own.includes(copy)).map(({ inputs }) => inputs[0]);
  return { step, into, from, module, own: own.map(({ inputs }) => inputs[0]), others };
}

/**
 * Of what is to follow another module, after that was trained; a module's state may go through its own dict by way of
 * trial.
 */
function ownStateDiagnosis(facts: RunFacts, { step, into, from, module }: OwnLoad): Diagnosis | null {
  const update = facts.optimizers.flatMap(({ steps }) => steps).find((other) => other < step);
  // of two names `same_module` speaks
  if (update === undefined || into !== from || !SNAPSHOT_NAME_PATTERN.test(into)) return null;
  const findingFacts = { x: codeFact(into), update: facts.place(update).line };
  return {
    variant: "own_state",
    cause: step,
    chain: [
      [update, "way"],
      [step, "none", [module]],
    ],
    facts: findingFacts,
  };
}

/** Of tensors that an optimizer moves after the load, for which one of the two was to be a copy. */
function sharedPartDiagnosis(facts: RunFacts, { step, into, from, module, own, others }: OwnLoad): Diagnosis | null {
  if (!SNAPSHOT_NAME_PATTERN.test(into) || SNAPSHOT_NAME_PATTERN.test(from)) return null;
  const optimizer = facts.optimizers.find(
    ({ uid, steps }) =>
      steps.some((other) => other > step) &&
      facts.parametersOf(uid, steps.at(-1) ?? step).some((param) => own.includes(param)),
  );
  const update = optimizer?.steps.find((other) => other > step);
  if (update === undefined) return null;
  const part = outermostModuleWithout(facts, own[0], others, update);
  const given = facts.attributeChanges.findLast((change) => change.after === module && change.step <= step)?.step;
  const made = given ?? facts.birthStep(module);
  const findingFacts = {
    x: codeFact(into),
    y: codeFact(from),
    part: facts.nameFact(part, update),
    n: own.length,
    load: facts.place(step).line,
    update: facts.place(update).line,
  };
  return {
    variant: "shared_part",
    cause: made,
    chain: [
      [made, "shares", [module]],
      [step, "none", [own[0]]],
      [update, "written", [own[0]]],
    ],
    names: [findingFacts.x, findingFacts.y, findingFacts.part],
    facts: findingFacts,
  };
}
