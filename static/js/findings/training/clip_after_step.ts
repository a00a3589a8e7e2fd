/** Gradients that are clipped after the optimizer's step has used them, and dropped before another one does. */

import { chainLink, fixHint, namesInFacts, type Diagnosis, type Facts } from "../finding.ts";
import { gradientLedgers, type GradientLedger, type LedgerEntry } from "../account/gradient_ledger.ts";
import { gradientNormAt, roundedNumber } from "./training_facts.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "clip_after_step", severity: "warning", diagnose: diagnoseClipAfterStep },
];

/** a gradient's life in which it was clipped too late; dropped: null where the run ended first */
interface LateClip {
  added: LedgerEntry;
  used: LedgerEntry;
  clipped: LedgerEntry;
  dropped: LedgerEntry | null;
}

function diagnoseClipAfterStep(facts: RunFacts): Diagnosis[] {
  /** by the line that clips, with the tensors whose gradients it clips */
  const byLine = new Map<number, { clip: LateClip; uids: string[] }>();
  for (const ledger of gradientLedgers(facts)) {
    const clip = lateClips(ledger).find(({ clipped }) => changedNumbers(facts, ledger.uid, clipped.step));
    if (!clip) continue;
    const { line } = facts.place(clip.clipped.step);
    const known = byLine.get(line);
    if (!known) byLine.set(line, { clip, uids: [ledger.uid] });
    else if (known.clip.clipped.step === clip.clipped.step) known.uids.push(ledger.uid);
  }
  return [...byLine.values()].map(({ clip, uids }) => diagnosisOf(facts, clip, uids));
}

/** None where a clip came in time even once, or where gradients add up: what was clipped is then used after all. */
function lateClips({ entries }: GradientLedger): LateClip[] {
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
      if (added && used) late = { added, used, clipped: entry, dropped: null };
    } else if (entry.kind === "reset" || entry.kind === "unseen") {
      if (late && entry.kind === "reset") out.push({ ...late, dropped: entry });
      [added, used, late] = [null, null, null];
    }
  }
  if (late) out.push(late);
  return out;
}

function changedNumbers(facts: RunFacts, uid: string, step: number) {
  const grad = tensorHistoryOf(facts).valueAt(uid, "grad", step) as string | null;
  return facts.writesOf(facts.tensor(grad, step)?.storage).some((write) => write.step === step);
}

/** `uids` are those of the tensors whose gradients are clipped. */
function diagnosisOf(facts: RunFacts, { added, used, clipped, dropped }: LateClip, uids: string[]): Diagnosis {
  const [before, after] = [clipped.step - 1, clipped.step].map((step) => gradientNormAt(facts, uids, step));
  const isMeasured = before !== null && after !== null;
  const norms: Facts = isMeasured ? { before: roundedNumber(before), after: roundedNumber(after) } : {};
  const optimizer = facts.nameFact(used.by, used.step);
  const findingFacts = {
    optimizer,
    code: facts.statementFact(clipped.step),
    step_code: facts.statementFact(used.step),
    step: facts.place(used.step).line,
    ...norms,
  };
  return {
    variant: isMeasured ? "measured" : undefined,
    cause: facts.place(clipped.step),
    chain: [
      chainLink(facts.place(added.step), "gradient", { code: facts.statementFact(added.step) }, uids),
      chainLink(facts.place(used.step), "used", { code: facts.statementFact(used.step) }, [used.by]),
      chainLink(facts.place(clipped.step), "written", { code: facts.statementFact(clipped.step) }, uids),
      ...(dropped
        ? [chainLink(facts.place(dropped.step), "released", { code: facts.statementFact(dropped.step) }, uids)]
        : []),
    ],
    names: namesInFacts(optimizer, facts.nameFact(uids[0], clipped.step)),
    facts: findingFacts,
    fixes: [fixHint("move_before", facts.place(clipped.step), { to: facts.place(used.step).line })],
  };
}
