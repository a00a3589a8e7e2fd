/** Gradients that are clipped after the optimizer's step has used them, and dropped before another one does. */

import { diagnosis, type Facts, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { gradientLedgers, type GradientLedger, type LedgerEntry } from "../account/gradient_ledger.ts";
import { gradientNormAt, roundedNumber } from "./training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "clip_after_step",
    severity: "warning",
    of: (facts) => groupBy(lateClips(facts), ({ clipped }) => facts.lineOf(clipped.step)),
    /** What one line clips. */
    say: (facts, clips) => {
      const [{ added, used, clipped, dropped }] = clips;
      const uids = clips.filter((clip) => clip.clipped.step === clipped.step).map(({ uid }) => uid);
      const [before, after] = [clipped.step - 1, clipped.step].map((step) => gradientNormAt(facts, uids, step));
      const isMeasured = before !== null && after !== null;
      const norms: Facts = isMeasured ? { before: roundedNumber(before), after: roundedNumber(after) } : {};
      const optimizer = facts.nameFact(used.by, used.step);
      return {
        variant: isMeasured ? "measured" : undefined,
        cause: clipped.step,
        chain: [
          [added.step, "gradient", uids],
          [used.step, "used", [used.by]],
          [clipped.step, "written", uids],
          dropped && [dropped.step, "released", uids],
        ],
        names: [optimizer, facts.nameFact(uids[0], clipped.step)],
        facts: {
          optimizer,
          step_code: facts.statementFact(used.step),
          step: facts.place(used.step).line,
          ...norms,
        },
        fixes: [["move_before", { to: facts.place(used.step).line }]],
      };
    },
  }),
];

/** a gradient's life in which it was clipped too late; dropped: null where the run ended first */
interface LateClip {
  uid: string;
  added: LedgerEntry;
  used: LedgerEntry;
  clipped: LedgerEntry;
  dropped: LedgerEntry | null;
}

function lateClips(facts: RunFacts): LateClip[] {
  return gradientLedgers(facts).flatMap(
    (ledger) => lateClipsOf(ledger).find(({ uid, clipped }) => changedNumbers(facts, uid, clipped.step)) ?? [],
  );
}

/** None where a clip came in time even once, or where gradients add up: what was clipped is then used after all. */
function lateClipsOf({ uid, entries }: GradientLedger): LateClip[] {
  const out: LateClip[] = [];
  let [added, used, late]: [LedgerEntry | null, LedgerEntry | null, LateClip | null] = [null, null, null];
  for (const entry of entries) {
    if (entry.kind === "added") {
      if (late) return [];
      [added, used] = [entry, null];
    } else if (entry.kind === "used") {
      [used, late] = [entry, null];
    } else if (entry.kind === "clipped") {
      if (added && !used) return [];
      if (added && used) late = { uid, added, used, clipped: entry, dropped: null };
    } else if (entry.kind === "reset" || entry.kind === "unseen") {
      if (late && entry.kind === "reset") out.push({ ...late, dropped: entry });
      [added, used, late] = [null, null, null];
    }
  }
  if (late) out.push(late);
  return out;
}

function changedNumbers(facts: RunFacts, uid: string, step: number) {
  const grad = facts.gradOf(uid, step);
  return facts.writesOf(facts.tensor(grad, step)?.storage).some((write) => write.step === step);
}
