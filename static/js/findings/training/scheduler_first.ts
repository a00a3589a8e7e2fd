/** A learning rate that no step ever used, since the scheduler stepped before the optimizer's first step. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { keyValuePairs } from "../../trace/names.ts";
import { methodCalls } from "../../syntax/expressions.ts";
import { roundedNumber } from "./training_facts.ts";
import { paramGroupDicts } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "scheduler_first",
    severity: "warning",
    of: (facts) => facts.optimizers,
    say: (facts, { uid, made, stepped }) => {
      if (!stepped.length) return null;
      const first = stepped[0].step;
      const change = firstChangeByScheduler(facts, uid, made, first);
      if (!change || !isRunAgainAfter(facts, change.step, first)) return null;
      const usedRates = stepped.map(({ step }) => learningRateAt(facts, uid, step - 1));
      if (change.before === 0 || usedRates.some((rate) => rate === null || rate === change.before)) return null;
      const optimizer = facts.nameFact(uid, first);
      const names = {
        optimizer,
        rate: roundedNumber(change.before),
        first: roundedNumber(learningRateAt(facts, uid, first - 1) ?? Number.NaN),
        step: facts.place(first).line,
      };
      return {
        cause: change.step,
        chain: [
          [made, "made", [uid]],
          [change.step, "written", [uid]],
          [first, "used", [uid]],
        ],
        names: [optimizer],
        facts: names,
        fixes: [["move_after", { to: facts.place(first).line }]],
      };
    },
  }),
];

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
  const group = facts.object(paramGroupDicts(facts, uid, step)[0], step);
  const rate = group ? (keyValuePairs(group) ?? []).find(([key]) => key === "lr")?.[1] : null;
  return typeof rate === "number" ? rate : null;
}
