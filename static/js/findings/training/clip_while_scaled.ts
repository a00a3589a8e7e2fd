/** Gradients that are clipped, or used by a step, while they are still times a GradScaler's scale. */

import { diagnosis, nameTextOfFact, type Facts, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { gradScalerByBackward, type GradScalerUse } from "../account/scaled_losses.ts";
import { gradientLedgers, type LedgerEntry } from "../account/gradient_ledger.ts";
import { gradientNormAt, roundedNumber } from "./training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "clip_while_scaled",
    severity: "warning",
    of: (facts) => groupBy(takenWhileScaled(facts), ({ taken }) => `${taken.kind} ${facts.lineOf(taken.step)}`),
    say: (facts, gradients) => {
      const [{ added, taken, unscaled, scaler }] = gradients;
      const uids = gradients.filter((gradient) => gradient.taken.step === taken.step).map(({ uid }) => uid);
      const isClip = taken.kind === "clipped";
      const optimizer = facts.optimizers.find(({ uid, made }) =>
        facts.parametersOf(uid, Math.max(made, taken.step)).includes(uids[0]),
      );
      const scalerName = facts.nameFact(scaler.uid, taken.step);
      const optimizerName = facts.nameFact(optimizer?.uid ?? null, taken.step);
      const [before, after] = [taken.step - 1, taken.step].map((step) => gradientNormAt(facts, uids, step));
      const isMeasured = isClip && before !== null && after !== null;
      const norms: Facts = isMeasured
        ? { before: roundedNumber(before), limit: roundedNumber(after), after: roundedNumber(after / scaler.value) }
        : {};
      const name = nameTextOfFact(scalerName);
      return {
        variant: isClip ? (isMeasured ? "measured" : undefined) : "step",
        cause: taken.step,
        chain: [
          [added.step, "gradient", uids],
          [taken.step, isClip ? "written" : "used", uids],
          unscaled && [unscaled.step, "released", uids],
        ],
        names: [scalerName, optimizerName],
        facts: {
          scaler: scalerName,
          optimizer: optimizerName,
          scale: roundedNumber(scaler.value),
          name: nameTextOfFact(scalerName),
          optimizer_name: nameTextOfFact(optimizerName),
          ...norms,
        },
        fixes: isClip
          ? [["unscale_first", { name, optimizer: nameTextOfFact(optimizerName) }]]
          : [["scaler_step", { name, optimizer: nameTextOfFact(optimizerName) }]],
      };
    },
  }),
];

/** a gradient that a scaled loss gave, and what was done with it before it was divided again */
interface ScaledGradient {
  uid: string;
  added: LedgerEntry;
  /** clipped or used */
  taken: LedgerEntry;
  unscaled: LedgerEntry | null;
  scaler: GradScalerUse;
}

function takenWhileScaled(facts: RunFacts): ScaledGradient[] {
  const calls = gradScalerByBackward(facts);
  return calls.size
    ? gradientLedgers(facts).flatMap(({ uid, entries }) => firstTakenWhileScaled(uid, entries, calls) ?? [])
    : [];
}

function firstTakenWhileScaled(
  uid: string,
  entries: LedgerEntry[],
  scaledCalls: Map<string, GradScalerUse>,
): ScaledGradient | null {
  let added: LedgerEntry | null = null;
  for (const [k, entry] of entries.entries()) {
    if (entry.kind === "added") added = scaledCalls.has(entry.by) ? entry : null;
    else if (["reset", "unscaled", "unseen", "rewritten", "read"].includes(entry.kind)) added = null;
    const scaler = added && scaledCalls.get(added.by);
    if (added && scaler && (entry.kind === "clipped" || entry.kind === "used")) {
      const next = entries.slice(k + 1).find(({ kind }) => kind !== "clipped");
      return { uid, added, taken: entry, unscaled: next?.kind === "unscaled" ? next : null, scaler };
    }
  }
  return null;
}
