/** A learning rate that no step ever used, since the scheduler stepped before the optimizer's first step. */

import { chainLink, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { findEntity } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import { methodCalls } from "../../syntax/expressions.ts";
import { roundedNumber } from "./training_facts.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Value } from "../../trace/wire.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "scheduler_first", severity: "warning", diagnose: diagnoseSchedulerFirst },
];

function diagnoseSchedulerFirst(facts: RunFacts): Diagnosis[] {
  return [...optimizersOf(facts).values()].flatMap(({ uid, made, stepped }) => {
    const [first] = stepped;
    if (!first) return [];
    const change = firstChangeByScheduler(facts, uid, made, first.step);
    if (!change || !isRunAgainAfter(facts, change.step, first.step)) return [];
    const usedRates = stepped.map(({ step }) => learningRateAt(facts, uid, step - 1));
    if (change.before === 0 || usedRates.some((rate) => rate === null || rate === change.before)) return [];
    return [diagnosisOf(facts, uid, made, change, first.step)];
  });
}

interface RateChange {
  step: number;
  before: number;
}

/** The first statement like `scheduler.step()` before an optimizer's first step that changed its learning rate. */
function firstChangeByScheduler(facts: RunFacts, uid: string, made: number, before: number): RateChange | null {
  let rate = learningRateAt(facts, uid, made);
  for (let step = made + 1; step < before; step++) {
    if (facts.opsAt(step).some(({ name }) => name.includes("_amp_"))) return null; // a scaler may have left a step out
    const now = learningRateAt(facts, uid, step);
    if (rate !== null && now !== null && now !== rate && methodCalls(facts.syntax(step), "step").length)
      return { step, before: rate };
    rate = now;
  }
  return null;
}

/** Whether the statement is one of the training's loop: a loop of its own brings a schedule to where it was. */
function isRunAgainAfter(facts: RunFacts, step: number, after: number) {
  const { stmt } = facts.steps[step];
  return facts.steps.some((traceStep, i) => i > after && traceStep.stmt === stmt);
}

/** The learning rate of an optimizer's first group after a step; null where it is no number. */
export function learningRateAt(facts: RunFacts, uid: string, step: number): number | null {
  const entities = facts.stateAt(step);
  const groups = findEntity(
    entities,
    referencedUid(findEntity(entities, uid, "object")?.attrs?.param_groups),
    "object",
  );
  const group = findEntity(entities, referencedUid(groups?.items?.[0] as Value), "object");
  const rate = group ? (keyValuePairs(group) ?? []).find(([key]) => key === "lr")?.[1] : null;
  return typeof rate === "number" ? rate : null;
}

function diagnosisOf(facts: RunFacts, uid: string, made: number, change: RateChange, first: number): Diagnosis {
  const optimizer = facts.nameFact(uid, first);
  const code = facts.statementFact(change.step);
  const names = {
    optimizer,
    code,
    rate: roundedNumber(change.before),
    first: roundedNumber(learningRateAt(facts, uid, first - 1) ?? Number.NaN),
    step: facts.place(first).line,
  };
  return {
    cause: facts.place(change.step),
    chain: [
      chainLink(facts.place(made), "made", names, [uid]),
      chainLink(facts.place(change.step), "written", names, [uid]),
      chainLink(facts.place(first), "used", { ...names, code: facts.statementFact(first) }, [uid]),
    ],
    names: namesInFacts(optimizer),
    facts: names,
    fixes: [fixHint("move_after", facts.place(change.step), { to: facts.place(first).line })],
  };
}
