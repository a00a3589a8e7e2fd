/** Micro batches that add up without being divided: the step uses the sum of several means. */

import { chainLink, diagnosis, nameTextOfFact, type BackwardCall, type RunFacts } from "../diagnosis.ts";
import { gradientLedgers, type LedgerEntry } from "../account/gradient_ledger.ts";
import { innermostIteration } from "./training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "accumulation_undivided",
    severity: "note",
    of: undividedAccumulations,
    once: ({ calls: [first] }, facts) => facts.placeOfBackward(first).line,
    say: (facts, { calls, used }) => {
      const [call] = calls;
      const optimizer = facts.optimizer(used.by);
      const optimizerName = facts.nameFact(optimizer?.uid, used.step);
      const loss = facts.nameFact(call.roots[0], call.step);
      return {
        cause: call,
        chain: [
          ...calls.map(({ step, roots }) =>
            chainLink(
              facts.place(step),
              "gradient",
              { iteration: innermostIteration(facts, step), code: facts.statementFact(step) },
              roots,
            ),
          ),
          [used.step, "used", [used.by]],
        ],
        names: [loss, optimizerName],
        facts: {
          loss,
          loss_name: nameTextOfFact(loss),
          optimizer: optimizerName,
          n: calls.length,
          step: facts.place(used.step).line,
        },
        fixes: [["divide_loss", { n: calls.length }]],
      };
    },
  }),
];

/** Operations whose result is a mean, or is one unless they are told otherwise. */
const MEAN_OPERATION =
  /^aten::(?:mean|mse_loss|cross_entropy_loss|nll_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy)/;

/** backwards of one statement that one step used together */
interface Accumulation {
  calls: BackwardCall[];
  used: LedgerEntry;
}

function undividedAccumulations(facts: RunFacts): Accumulation[] {
  const calls = new Map(facts.backwardCalls.map((call) => [call.uid, call]));
  return gradientLedgers(facts).flatMap(({ entries }) => {
    const found = accumulations(entries, calls);
    if (found.length < 2 || !found.every((accumulation) => isUndivided(facts, accumulation))) return [];
    return new Set(found.map((accumulation) => accumulation.calls.length)).size > 1 ? [] : [found[0]];
  });
}

/**
 * Empty where anything but backward, clipping, step and reset came to the gradient, or where no reset followed a step.
 */
function accumulations(entries: LedgerEntry[], calls: Map<string, BackwardCall>): Accumulation[] {
  const out: Accumulation[] = [];
  let added: BackwardCall[] = [];
  let isUsed = false;
  for (const entry of entries) {
    const call = calls.get(entry.by);
    if (entry.kind === "added" && call && !isUsed) added.push(call);
    else if (entry.kind === "used" && !isUsed) {
      out.push({ calls: added, used: entry });
      isUsed = true;
    } else if (entry.kind === "reset") [added, isUsed] = [[], false];
    else if (entry.kind !== "clipped") return [];
  }
  return out;
}

/**
 * Whether a step used several backwards of one statement in one loop, each of a mean that nothing has divided. In a
 * loop within the step's own, the sum may be over tasks, and is meant.
 */
function isUndivided(facts: RunFacts, { calls, used }: Accumulation) {
  if (calls.length < 2 || new Set(calls.map(({ stmt }) => stmt)).size > 1) return false;
  const depth = (step: number) => facts.steps[step].iter?.length ?? 0;
  if (depth(calls[0].step) !== depth(used.step) || facts.steps[calls[0].step].frame !== facts.steps[used.step].frame)
    return false;
  return calls.every(({ roots, step }) => {
    const op = facts.producingOperation(roots[0]);
    const shape = facts.tensor(roots[0], step)?.shape;
    return roots.length === 1 && shape?.length === 0 && op !== undefined && MEAN_OPERATION.test(op.name);
  });
}
