/** An optimizer that never steps, though backward after backward fills the gradients of what it holds. */

import { chainLink, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { gradientLedgers } from "../account/gradient_ledger.ts";
import { optimizersOf, optimizerParameters } from "../facts/optimizers.ts";
import { plainName } from "../facts/gradient_name.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "no_step", severity: "warning", diagnose: diagnoseNoStep, lookedFor: "optimizers" },
];

function diagnoseNoStep(facts: RunFacts): Diagnosis[] {
  if (!facts.ranToItsEnd) return [];
  const optimizers = [...optimizersOf(facts).values()];
  const hasStepped = ({ stepped, steps, unrecorded }: (typeof optimizers)[number]) =>
    stepped.length + steps.length + unrecorded > 0;
  const held = new Set(
    optimizers
      .filter(hasStepped)
      .flatMap(({ uid, made, steps }) => optimizerParameters(facts, uid, steps.at(-1) ?? made)),
  );
  return optimizers.flatMap((optimizer) => {
    if (hasStepped(optimizer)) return [];
    const uids = optimizerParameters(facts, optimizer.uid, optimizer.made);
    return uids.some((uid) => held.has(uid)) ? [] : (diagnosisOf(facts, optimizer.uid, optimizer.made, uids) ?? []);
  });
}

/** None where the program takes the gradients itself, or changes the parameters otherwise. */
function diagnosisOf(facts: RunFacts, optimizer: string, made: number, uids: string[]): Diagnosis | null {
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
    name: plainName(optimizerName),
    n: ledgers.length,
    code: facts.statementFact(made),
  };
  const code = facts.statementFact(backwardStep);
  return {
    cause: facts.place(made),
    chain: [
      chainLink(facts.place(made), "made", names, [optimizer]),
      chainLink(facts.place(backwardStep), "gradient", { code }, [additions[0].by]),
      chainLink(facts.place(facts.steps.length - 1), "none", {}, uids.slice(0, 1)),
    ],
    names: namesInFacts(optimizerName),
    facts: { ...names, rounds: backwards.size, backward: facts.place(backwardStep).line, backward_code: code },
    concerns: uids,
    fixes: [fixHint("add_step", facts.place(backwardStep), { name: plainName(optimizerName) })],
  };
}

function isWrittenAfter(facts: RunFacts, uid: string, made: number) {
  const storage = tensorHistoryOf(facts).valueAt(uid, "storage", made) as string | null;
  return facts.writesOf(storage).some(({ step }) => step > made);
}
