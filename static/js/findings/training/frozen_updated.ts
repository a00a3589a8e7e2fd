/**
 * A parameter that was frozen with a `.grad` left from before, which an optimizer goes on to use; and parameters that
 * were frozen and, before anything ran, all made to require grad again, so that the freezing has no effect.
 */

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
  diagnosis({
    kind: "frozen_updated",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => groupBy(parameterFreezes(facts), ({ frozen }) => facts.steps[frozen].stmt ?? null),
    /** `all` is what one statement froze. Null where a call of a module lies between, or where some stay frozen. */
    say: (facts, all) => {
      const [{ uid, frozen, undone }] = all;
      const undoing = new Set(all.map((freezing) => facts.steps[freezing.undone]?.stmt));
      if (all.some((freezing) => freezing.undone < 0) || undoing.size !== 1) return null;
      if (undoing.has(facts.steps[frozen].stmt)) return null;
      if (facts.eventsOfKind("module_called").some(({ step }) => step > frozen && step < undone)) return null;
      const [gradient] = facts.gradientsTo(uid);
      if (!gradient) return null;
      const names = all.slice(0, MAX_NAMED_AS_FROZEN).map((freezing) => facts.nameFact(freezing.uid, gradient.step));
      const x = names[0];
      const findingFacts = {
        x,
        frozen: names,
        n: all.length,
        grad: gradNameOf(x),
        freezing: facts.statementFact(frozen),
        made: facts.place(frozen).line,
      };
      return {
        variant: "undone",
        cause: undone,
        chain: [
          [frozen, "cut", [uid], { code: findingFacts.freezing }],
          [undone, "written", [uid]],
          [gradient.step, "gradient", [uid, gradient.grad]],
        ],
        names: [...names],
        facts: findingFacts,
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

/** undone: the step that turned it on again; -1 where none did before the first backward */
interface ParameterFreeze {
  uid: string;
  frozen: number;
  undone: number;
}

const MAX_NAMED_AS_FROZEN = 4;

/** The parameters that were frozen before the first backward. */
function parameterFreezes(facts: RunFacts): ParameterFreeze[] {
  const [backward] = facts.backwardCalls;
  if (!backward) return [];
  return [...facts.index.moduleOfTensor.keys()].flatMap((uid) => {
    const changes = facts.history.fieldChanges(uid, "requires_grad");
    const k = changes.findIndex(({ value }, at) => at > 0 && value === false && changes[at - 1].value === true);
    if (k < 0 || changes[k].step >= backward.step) return [];
    const next = changes[k + 1];
    const isUndone = next?.value === true && next.step < backward.step && changes.length === k + 2;
    return [{ uid, frozen: changes[k].step, undone: isUndone ? next.step : -1 }];
  });
}
