/** A parameter that was frozen with a `.grad` left from before: an optimizer updates it as long as that stays. */

import { fix, link, namesOf } from "./finding.js";
import { gradName } from "./gradient_name.js";
import { optimizersOf, parametersOf } from "./optimizers.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {{uid: string, frozen: number, updated: number, optimizer: string}} FrozenParameter
 *   frozen, updated: the steps at which it was frozen, and at which it was then updated first */

const MAX_NAMES = 8;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function frozenUpdated(facts) {
  /** @type {Map<number, FrozenParameter[]>} by the line that freezes */
  const byLine = new Map();
  for (const frozen of frozenParameters(facts)) {
    const { line } = facts.place(frozen.frozen);
    byLine.set(line, [...(byLine.get(line) ?? []), frozen]);
  }
  return [...byLine.values()].map((parameters) => diagnosisOf(facts, parameters));
}

/** The parameters that an optimizer updated after they were frozen. @param {RunFacts} facts @returns {FrozenParameter[]} */
function frozenParameters(facts) {
  const history = tensorHistory(facts);
  /** @type {FrozenParameter[]} */
  const out = [];
  for (const { uid: optimizer, steps } of optimizersOf(facts).values()) {
    const lastStep = steps.at(-1);
    if (lastStep === undefined) continue;
    for (const uid of parametersOf(facts, optimizer, lastStep)) {
      const frozen = freezingStep(history.changes(uid, "requires_grad"), lastStep);
      if (frozen === null) continue;
      const writeSteps = new Set(
        facts
          .writesOf(/** @type {string | null} */ (history.valueAt(uid, "storage", lastStep)))
          .map(({ step }) => step),
      );
      const updated = steps.find((step) => step > frozen && writeSteps.has(step));
      if (updated !== undefined) out.push({ uid, frozen, updated, optimizer });
    }
  }
  return out;
}

/** The step that turned `requires_grad` off and left it so until another step; null where none did.
 * @param {import("./tensor_history.js").FieldChange[]} changes @param {number} until */
function freezingStep(changes, until) {
  const before = changes.filter(({ step }) => step < until);
  const lastChange = before.at(-1);
  return lastChange && !lastChange.value && before.at(-2)?.value ? lastChange.step : null;
}

/** @param {RunFacts} facts @param {FrozenParameter[]} parameters of one line, of which the first is told @returns {Diagnosis} */
function diagnosisOf(facts, parameters) {
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
