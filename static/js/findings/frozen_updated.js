/** A parameter that was frozen with a `.grad` left from before: an optimizer updates it as long as that stays. */

import { fix, link, namesOf } from "./finding.js";
import { gradName } from "./gradient_name.js";
import { optimizersOf, parametersOf } from "./optimizers.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {{uid: string, frozen: number, updated: number, optimizer: string}} Frozen
 *   frozen, updated: the steps at which it was frozen, and at which it was then updated first */

const MAX_NAMES = 8;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function frozenUpdated(facts) {
  /** @type {Map<number, Frozen[]>} by the line that freezes */
  const byLine = new Map();
  for (const frozen of frozenParameters(facts)) {
    const { line } = facts.place(frozen.frozen);
    byLine.set(line, [...(byLine.get(line) ?? []), frozen]);
  }
  return [...byLine.values()].map((group) => diagnosisOf(facts, group));
}

/** The parameters that an optimizer updated after they were frozen. @param {RunFacts} facts @returns {Frozen[]} */
function frozenParameters(facts) {
  const history = tensorHistory(facts);
  /** @type {Frozen[]} */
  const out = [];
  for (const { uid: optimizer, steps } of optimizersOf(facts).values()) {
    const last = steps.at(-1);
    if (last === undefined) continue;
    for (const uid of parametersOf(facts, optimizer, last)) {
      const frozen = frozenAt(history.changes(uid, "requires_grad"), last);
      if (frozen === null) continue;
      const written = new Set(
        facts.writesOf(/** @type {string | null} */ (history.value(uid, "storage", last))).map(({ step }) => step),
      );
      const updated = steps.find((step) => step > frozen && written.has(step));
      if (updated !== undefined) out.push({ uid, frozen, updated, optimizer });
    }
  }
  return out;
}

/** The step that turned `requires_grad` off and left it so until another step; null where none did.
 * @param {import("./tensor_history.js").Change[]} changes @param {number} until */
function frozenAt(changes, until) {
  const before = changes.filter(({ step }) => step < until);
  const last = before.at(-1);
  return last && !last.value && before.at(-2)?.value ? last.step : null;
}

/** @param {RunFacts} facts @param {Frozen[]} group of one line, of which the first is told @returns {Diagnosis} */
function diagnosisOf(facts, group) {
  const [{ uid, frozen, updated, optimizer }] = group;
  const names = group.slice(0, MAX_NAMES).map((other) => facts.nameFact(other.uid, other.updated));
  const x = names[0];
  const added = facts.events("grad_accumulated").findLast((event) => event.tensor === uid && event.step < frozen);
  return {
    cause: facts.place(frozen),
    chain: [
      ...(added
        ? [
            link(facts.place(added.step), "gradient", { x, grad: gradName(x), code: facts.codeFact(added.step) }, [
              uid,
              added.grad,
            ]),
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
