/** A parameter that was frozen with a `.grad` left from before: an optimizer updates it as long as that stays. */

import { fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { gradName } from "./gradient_name.ts";
import { optimizersOf, parametersOf } from "./optimizers.ts";
import { tensorHistory, type FieldChange } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";

interface FrozenParameter {
  uid: string;
  /** frozen, updated: the steps at which it was frozen, and at which it was then updated first */
  frozen: number;
  updated: number;
  optimizer: string;
}

const MAX_NAMES = 8;

export function frozenUpdated(facts: RunFacts): Diagnosis[] {
  /** by the line that freezes */
  const byLine = new Map<number, FrozenParameter[]>();
  for (const frozen of frozenParameters(facts)) {
    const { line } = facts.place(frozen.frozen);
    byLine.set(line, [...(byLine.get(line) ?? []), frozen]);
  }
  return [...byLine.values()].map((parameters) => diagnosisOf(facts, parameters));
}

/** The parameters that an optimizer updated after they were frozen. */
function frozenParameters(facts: RunFacts): FrozenParameter[] {
  const history = tensorHistory(facts);
  const out: FrozenParameter[] = [];
  for (const { uid: optimizer, steps } of optimizersOf(facts).values()) {
    const lastStep = steps.at(-1);
    if (lastStep === undefined) continue;
    for (const uid of parametersOf(facts, optimizer, lastStep)) {
      const frozen = freezingStep(history.changes(uid, "requires_grad"), lastStep);
      if (frozen === null) continue;
      const writeSteps = new Set(
        facts.writesOf(history.valueAt(uid, "storage", lastStep) as string | null).map(({ step }) => step),
      );
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

/** @param parameters of one line, of which the first is told */
function diagnosisOf(facts: RunFacts, parameters: FrozenParameter[]): Diagnosis {
  const [{ uid, frozen, updated, optimizer }] = parameters;
  const names = parameters.slice(0, MAX_NAMES).map((other) => facts.nameFact(other.uid, other.updated));
  const x = names[0];
  const accumulated = facts.events("grad_accumulated").findLast((event) => event.tensor === uid && event.step < frozen);
  return {
    cause: facts.place(frozen),
    chain: [
      ...(accumulated
        ? [
            link(
              facts.place(accumulated.step),
              "gradient",
              { x, grad: gradName(x), code: facts.codeFact(accumulated.step) },
              [uid, accumulated.grad],
            ),
          ]
        : []),
      link(facts.place(frozen), "cut", { x, grad: gradName(x), code: facts.codeFact(frozen) }, [uid]),
      link(facts.place(updated), "written", { x, code: facts.codeFact(updated) }, [uid]),
    ],
    names: namesOf(...names, facts.nameFact(uid, frozen)),
    facts: {
      x,
      frozen: names,
      grad: gradName(x),
      optimizer: facts.nameFact(optimizer, updated),
      code: facts.codeFact(frozen),
      effect: facts.steps[updated].line,
    },
    fixes: [fix("reset_frozen", facts.place(frozen))],
  };
}
