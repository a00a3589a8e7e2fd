/** An optimizer that never steps, though backward after backward fills the gradients of what it holds. */

import { diagnosis, nameTextOfFact, type RunFacts } from "../diagnosis.ts";
import { gradientLedgers } from "../account/gradient_ledger.ts";
import type { Optimizer } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "no_step",
    severity: "warning",
    lookedFor: "optimizers",
    when: ({ ranToItsEnd }) => ranToItsEnd,
    of: optimizersWithoutStep,
    /** None where the program takes the gradients itself, or changes the parameters otherwise. */
    say: (facts, { uid: optimizer, made, uids }) => {
      const ledgers = gradientLedgers(facts).filter(({ uid }) => uids.includes(uid));
      const entries = ledgers.flatMap((ledger) => ledger.entries.filter(({ step }) => step > made));
      const additions = entries.filter(({ kind }) => kind === "added");
      const backwards = new Set(additions.map(({ by }) => by));
      if (backwards.size < 2 || entries.some(({ kind }) => ["read", "unscaled"].includes(kind))) return null;
      if (uids.some((uid) => isWrittenAfter(facts, uid, made))) return null;
      const firstStep = additions[0].step;
      const backwardStep = facts.backwardAt(firstStep)?.step ?? firstStep;
      const optimizerName = facts.nameFact(optimizer, backwardStep);
      const names = {
        optimizer: optimizerName,
        name: nameTextOfFact(optimizerName),
        n: ledgers.length,
        code: facts.statementFact(made),
      };
      const code = facts.statementFact(backwardStep);
      return {
        cause: made,
        chain: [
          [made, "made", [optimizer]],
          [backwardStep, "gradient", [additions[0].by], { code }],
          [facts.steps.length - 1, "none", uids.slice(0, 1)],
        ],
        names: [optimizerName],
        facts: { ...names, backward: facts.place(backwardStep).line, backward_code: code },
        concerns: uids,
        fixes: [["add_step", { name: nameTextOfFact(optimizerName) }, backwardStep]],
      };
    },
  }),
];

/** Those that hold nothing which another steps. */
function optimizersWithoutStep(facts: RunFacts) {
  const optimizers = facts.optimizers;
  const hasStepped = ({ stepped, unrecorded }: Optimizer) => stepped.length + unrecorded > 0;
  const stepping = optimizers.filter(hasStepped);
  const held = new Set(stepping.flatMap(({ uid, made, steps }) => facts.parametersOf(uid, steps.at(-1) ?? made)));
  return optimizers
    .filter((optimizer) => !hasStepped(optimizer))
    .map(({ uid, made }) => ({ uid, made, uids: facts.parametersOf(uid, made) }))
    .filter(({ uids }) => !uids.some((uid) => held.has(uid)));
}

function isWrittenAfter(facts: RunFacts, uid: string, made: number) {
  const storage = facts.storageOf(uid, made);
  return facts.writesOf(storage).some(({ step }) => step > made);
}
