/** Parameters that were frozen and, before anything ran, all made to require grad again: the freezing has no effect. */

import { diagnosis, gradNameOf, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
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
      const names = all.slice(0, MAX_NAMED_PARAMETERS).map((freezing) => facts.nameFact(freezing.uid, gradient.step));
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

/** undone: the step that turned it on again; -1 where none did before the first backward */
interface ParameterFreeze {
  uid: string;
  frozen: number;
  undone: number;
}

const MAX_NAMED_PARAMETERS = 4;

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
