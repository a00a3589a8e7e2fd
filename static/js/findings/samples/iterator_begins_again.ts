/** `next(iter(loader))` in a loop: each new iterator begins with the first batch, which is all that is trained on. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import { calleePath, callsIn, positionalArguments } from "../../syntax/expressions.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "iterator_begins_again",
    severity: "warning",
    of: (facts) => groupBy(facts.findInStatements(iteratorsMadeAnew), ({ stmt }) => stmt),
    say: (facts, taken) => {
      const updates = facts.optimizers.flatMap(({ steps }) => steps);
      const steps = taken.map(({ step }) => step);
      if (
        steps.length < MIN_ROUNDS ||
        !steps.slice(1).every((step, k) => updates.some((at) => at > steps[k] && at < step))
      )
        return null;
      const batches = steps.map((step) => tensorsBound(facts, step));
      const [first] = batches;
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
function iteratorsMadeAnew(tree: SyntaxNode): string[] {
  return callsIn(tree).flatMap((call) => {
    const [iterator] = calleePath(call) === "builtins.next" ? positionalArguments(call) : [];
    return iterator?.kind === "Call" && calleePath(iterator) === "builtins.iter"
      ? positionalArguments(iterator).map(({ text }) => text)
      : [];
  });
}

/** The tensors that a statement gives names. */
function tensorsBound(facts: RunFacts, step: number): string[] {
  const { set, frame } = facts.steps[step];
  const values = Object.values(set[frame ?? ""]?.vars ?? {});
  return values.flatMap((value) => referencedUid(value) ?? []).filter((uid) => uid[0] === "t");
}
