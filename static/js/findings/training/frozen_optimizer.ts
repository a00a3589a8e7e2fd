/** An optimizer that steps round after round while none of its parameters requires grad. */

import { diagnosis, type Link } from "../diagnosis.ts";
import { owningModuleFact } from "./training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "frozen_optimizer",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => facts.optimizers,
    say: (facts, { uid: optimizer, made, stepped, unrecorded }) => {
      if (stepped.length + unrecorded < MIN_STEPS || !stepped.length) return null;
      const history = facts.history;
      const replaced = new Set(
        facts.attributeChanges.flatMap(({ before, after }) => (before && after ? [before] : [])),
      );
      const params = facts.parametersOf(optimizer, stepped[0].step);
      const isFrozen = (param: string, step: number) => history.valueAt(param, "requires_grad", step) === false;
      if (!params.length || !stepped.every(({ step }) => params.every((param) => isFrozen(param, step)))) return null;
      if (params.some((param) => history.fieldChanges(param, "grad").some(({ value }) => value))) return null;
      if (params.some((param) => replaced.has(param) || replaced.has(facts.index.moduleOfTensor.get(param) ?? "")))
        return null; // see `parameter_detached`
      const [uid] = params;
      const step = stepped[0].step;
      const freezing = history.fieldChanges(uid, "requires_grad").findLast((change) => change.step < step);
      const causeStep = freezing && freezing.step > facts.birthStep(uid) ? freezing.step : made;
      const names = {
        x: facts.nameFact(uid, step),
        module: owningModuleFact(facts, uid, step),
        optimizer: facts.nameFact(optimizer, step),
        n: params.length,
        step: facts.place(step).line,
      };
      const cut: Link = [causeStep, "cut", [uid]];
      return {
        cause: causeStep,
        chain: [
          causeStep < made && cut,
          [made, "made", [optimizer]],
          causeStep > made && cut,
          [step, "none", [optimizer]],
        ],
        names: [names.x, names.module, names.optimizer],
        facts: names,
      };
    },
  }),
];

const MIN_STEPS = 2;
