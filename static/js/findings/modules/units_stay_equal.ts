/** A matrix whose rows are equal when training begins and after it: its units learn one and the same thing. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";
import type { Optimizer } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "layers_start_equal",
    severity: "warning",
    of: equalUnits,
    once: ({ optimizer }) => optimizer, // one cause, mostly, for all of its layers
    say: (facts, { uid, written, used, n }) => {
      const x = facts.nameFact(uid, used);
      return {
        variant: "units",
        cause: written,
        chain: [
          [written, "made", [uid]],
          [used, "used", [uid]],
        ],
        names: [x],
        facts: { x, n, step: facts.lineOf(used) },
      };
    },
  }),
];

const MIN_UPDATES = 2;
/** Gradients of equal units differ by as much of the largest. */
const ROUNDING = 1e-3;

/** n: how many rows it has */
interface EqualUnits {
  optimizer: string;
  uid: string;
  written: number;
  used: number;
  n: number;
}

function equalUnits(facts: RunFacts): EqualUnits[] {
  return facts.optimizers.flatMap((optimizer) =>
    optimizer.steps.length < MIN_UPDATES
      ? []
      : facts.parametersOf(optimizer.uid, optimizer.steps[0]).flatMap((uid) => unitsOf(facts, optimizer, uid) ?? []),
  );
}

/** Null where rows or their gradients differ or nothing moved: an update by signs keeps rows equal for a while. */
function unitsOf(facts: RunFacts, { uid: optimizer, steps }: Optimizer, uid: string): EqualUnits | null {
  const before = stepBeforeStatement(facts.steps, steps[0]);
  const after = steps[steps.length - 1];
  const [n = 0, size = 0] = facts.tensor(uid, before)?.shape ?? [];
  const [first, last] = [before, after].map((step) => facts.numbersOf(uid, step) ?? []);
  if (n < 2 || !size || !areRowsEqual(first, n) || !areRowsEqual(last, n) || `${first}` === `${last}`) return null;
  const gradient = facts.numbersOf(facts.gradOf(uid, after - 1) ?? "", after - 1) ?? [];
  if (!areRowsEqual(gradient, n, ROUNDING * Math.max(...gradient.map(Math.abs)))) return null;
  const used = steps.find((step) => `${facts.numbersOf(uid, step)}` !== `${first}`) ?? after;
  const writes = facts.writesOf(facts.tensor(uid, before)?.storage).filter(({ step }) => step <= before);
  return {
    optimizer,
    uid,
    written: writes.at(-1)?.step ?? facts.birthStep(uid),
    used,
    n,
  };
}

function areRowsEqual(numbers: number[], count: number, tolerance = 0): boolean {
  const size = numbers.length / count;
  return numbers.length >= 2 * count && numbers.every((number, k) => Math.abs(number - numbers[k % size]) <= tolerance);
}
