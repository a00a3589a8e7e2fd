/** `next(iter(loader))` in a loop: each new iterator begins with the first batch, which is all that is trained on. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { isUpdatedBetween } from "../training/training_facts.ts";
import { groupBy } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import { calleePath, callsIn, positionalArguments } from "../../syntax/expressions.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "iterator_begins_again",
    severity: "warning",
    of: (facts) => groupBy(facts.findInStatements(sourcesOfNewIterators), ({ stmt }) => stmt),
    say: (facts, taken) => {
      const steps = taken.map(({ step }) => step);
      if (steps.length < MIN_ROUNDS || !isUpdatedBetween(facts, steps)) return null;
      const batches = steps.map((step) => tensorsNamedByStep(facts, step));
      const [first] = batches;
      if (batches.some((batch, k) => batch.some((uid) => !facts.numbersOf(uid, steps[k])))) return null;
      const texts = batches.map((batch, k) => batch.map((uid) => `${facts.numbersOf(uid, steps[k])}`).join("|"));
      const numbers = first.flatMap((uid) => facts.numbersOf(uid, steps[0]) ?? []);
      if (new Set(numbers).size < MIN_NUMBERS || texts.some((text) => text !== texts[0])) return null;
      const [{ found: loader }] = taken;
      return {
        cause: steps[0],
        chain: [
          [steps[0], "made", first],
          [steps[1], "used", batches[1]],
        ],
        names: first.map((uid) => facts.nameFact(uid, steps[0])),
        facts: { loader: { code: loader }, n: steps.length },
      };
    },
  }),
];

const MIN_ROUNDS = 3;
/** As many different numbers are not drawn again by chance. */
const MIN_NUMBERS = 3;

/** What `next(iter(…))` goes through. */
function sourcesOfNewIterators(tree: SyntaxNode): string[] {
  return callsIn(tree).flatMap((call) => {
    const [iterator] = calleePath(call) === "builtins.next" ? positionalArguments(call) : [];
    return iterator?.kind === "Call" && calleePath(iterator) === "builtins.iter"
      ? positionalArguments(iterator).map(({ text }) => text)
      : [];
  });
}

/** The tensors that a statement gives names. */
function tensorsNamedByStep(facts: RunFacts, step: number): string[] {
  const { set, frame } = facts.steps[step];
  const values = Object.values(set[frame ?? ""]?.vars ?? {});
  return values.flatMap((value) => referencedUid(value) ?? []).filter((uid) => uid[0] === "t");
}
