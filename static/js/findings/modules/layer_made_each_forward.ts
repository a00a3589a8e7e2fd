/** A layer that is made anew in each call: every round trains another one, and no optimizer holds any. */

import { diagnosis, type Link, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { roundedNumber, innermostIteration } from "../training/training_facts.ts";
import { gradientLedgers } from "../account/gradient_ledger.ts";

export const FINDINGS = [
  diagnosis({
    kind: "layer_made_each_forward",
    severity: "warning",
    of: (facts) => groupBy(shortLivedParameters(facts), ({ born }) => facts.steps[born].stmt),
    /** `all` was made by one statement; null where that is none of a function, or made no other in another round. */
    say: (facts, all) => {
      const { stmt, depth } = facts.steps[all[0].born];
      const rounds = [...new Map(all.map((parameter) => [parameter.added, parameter])).values()];
      const byBackward = new Map(rounds.map((parameter) => [facts.backwardAt(parameter.added)?.uid, parameter]));
      if (typeof stmt !== "number" || !depth || byBackward.size < MIN_ROUNDS) return null;
      const parameters = [...byBackward.values()];
      const [first, second] = parameters;
      const code = facts.statementFact(first.born);
      const firstWeight = ({ uid, born }: ShortLivedParameter) => {
        const element = facts.numbersOf(uid, born)?.[0];
        return element === undefined ? "" : roundedNumber(element);
      };
      const names = { code, n: parameters.length, x: facts.nameFact(first.uid, first.born) };
      const made = ({ born, added, uid }: ShortLivedParameter, value: string): Link => {
        return [born, "made", [uid], { iteration: innermostIteration(facts, added), value }];
      };
      return {
        cause: first.born,
        chain: [
          made(first, firstWeight(first)),
          [first.added, "gradient", [first.uid], { iteration: innermostIteration(facts, first.added) }],
          made(second, firstWeight(second)),
        ],
        names: [names.x, code],
        facts: names,
      };
    },
  }),
];

/** a parameter that got a gradient once */
interface ShortLivedParameter {
  uid: string;
  born: number;
  /** the step of its gradient */
  added: number;
}

const MIN_ROUNDS = 2;

/**
 * Parameters that are in no optimizer, are never read or written, and have one gradient from a call after they were
 * made.
 */
function shortLivedParameters(facts: RunFacts): ShortLivedParameter[] {
  const optimizers = facts.optimizers.filter(({ stepped }) => stepped.length);
  if (!optimizers.length) return [];
  const held = new Set(
    optimizers.flatMap(({ uid, made, stepped }) =>
      [made, ...stepped.map(({ step }) => step)].flatMap((step) => facts.parametersOf(uid, step)),
    ),
  );
  return gradientLedgers(facts).flatMap(({ uid, entries }) => {
    const additions = entries.filter(({ kind }) => kind === "added");
    if (held.has(uid) || additions.length !== 1 || entries.some(({ kind }) => kind === "read")) return [];
    if (!facts.isParameter(uid)) return [];
    const born = facts.birthStep(uid);
    const isMadeInTraining = optimizers.some(({ made }) => made < born);
    const storage = facts.tensor(uid, born)?.storage;
    const isWritten = facts.writesOf(storage).some(({ step }) => step > born);
    return isMadeInTraining && !isWritten && isDeadAtEnd(facts, uid) ? [{ uid, born, added: additions[0].step }] : [];
  });
}

/** Whether it is gone when the run ends; the last round's may live on in its graph. */
function isDeadAtEnd(facts: RunFacts, uid: string) {
  const owner = facts.index.moduleOfTensor.get(uid);
  const { death = Infinity } = facts.index.lifetimes.get(uid) ?? {};
  return death < facts.lastStep() || !owner || facts.nameText(uid, facts.lastStep()) === null;
}
