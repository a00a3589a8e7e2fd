/** A parameter that was frozen with a `.grad` left from before: an optimizer updates it as long as that stays. */

import { diagnosis, gradNameOf, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import type { FieldChange } from "../facts/field_history.ts";

export const FINDINGS = [
  diagnosis({
    kind: "frozen_updated",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => groupBy(frozenParameters(facts), ({ frozen }) => facts.lineOf(frozen)),
    /** The parameters are of one line; the first is told. */
    say: (facts, parameters) => {
      const [{ uid, frozen, updated, optimizer }] = parameters;
      const names = parameters.slice(0, MAX_NAMED_PARAMETERS).map((other) => facts.nameFact(other.uid, other.updated));
      const x = names[0];
      const accumulated = facts.gradientsTo(uid).findLast((event) => event.step < frozen);
      return {
        cause: frozen,
        chain: [
          accumulated && [accumulated.step, "gradient", [uid, accumulated.grad]],
          [frozen, "cut", [uid]],
          [updated, "written", [uid]],
        ],
        names: [...names, facts.nameFact(uid, frozen)],
        facts: {
          x,
          frozen: names,
          grad: gradNameOf(x),
          optimizer: facts.nameFact(optimizer, updated),
          effect: facts.steps[updated].line,
        },
        fixes: [["reset_frozen"]],
      };
    },
  }),
];

interface FrozenParameter {
  uid: string;
  /** frozen, updated: the steps at which it was frozen, and at which it was then updated first */
  frozen: number;
  updated: number;
  optimizer: string;
}

const MAX_NAMED_PARAMETERS = 8;

/** The parameters that an optimizer updated after they were frozen. */
function frozenParameters(facts: RunFacts): FrozenParameter[] {
  const out: FrozenParameter[] = [];
  for (const { uid: optimizer, steps } of facts.optimizers) {
    const lastStep = steps.at(-1);
    if (lastStep === undefined) continue;
    for (const uid of facts.parametersOf(optimizer, lastStep)) {
      const frozen = freezingStep(facts.history.fieldChanges(uid, "requires_grad"), lastStep);
      if (frozen === null) continue;
      const writeSteps = new Set(facts.writesTo(uid, lastStep).map(({ step }) => step));
      const updated = steps.find((step) => step > frozen && writeSteps.has(step));
      if (updated !== undefined) out.push({ uid, frozen, updated, optimizer });
    }
  }
  return out;
}

/** The step that turned `requires_grad` off and left it so until another step; null where none did. */
function freezingStep(changes: FieldChange[], until: number) {
  const before = changes.filter(({ step }) => step < until);
  const lastChange = before.at(-1);
  return lastChange && !lastChange.value && before.at(-2)?.value ? lastChange.step : null;
}
