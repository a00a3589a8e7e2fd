/**
 * An optimizer that steps and leaves its parameters as they were: what it adds is less than they can hold, or its
 * learning rate is zero.
 */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";
import { numel } from "../../trace/reads.ts";
import { roundedNumber } from "./training_facts.ts";
import type { Optimizer as KnownOptimizer } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "nothing_moves",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => facts.optimizers,
    say: (facts, { uid, made, steps }) => {
      const type = facts.object(uid, made)?.type ?? "";
      if (steps.length < MIN_STEPS || !PLAIN_OPTIMIZER.test(type)) return null;
      const rates = steps.flatMap((step) => facts.groupsOf(uid, step - 1).map(({ lr }) => lr));
      const isZero = rates.every((rate) => rate === 0);
      if (!isZero && !rates.every((rate) => typeof rate === "number" && rate > 0)) return null;
      let last: StepEffect | null = null;
      for (const step of steps) {
        last = effectOfStep(facts, uid, step, steps[0]);
        const dtype = last && facts.tensor(last.example, step)?.dtype;
        const share = isZero ? 0 : PRECISIONS[dtype ?? ""]?.share;
        if (!last || share === undefined || last.heavy.moved > share * last.heavy.total) return null;
      }
      return last && diagnosisOf(facts, { uid, made, steps }, last, Number(rates.at(-1)));
    },
  }),
];

type Optimizer = Pick<KnownOptimizer, "uid" | "made" | "steps">;

/** Optimizers whose step moves whatever has a gradient, and never calls a closure twice. */
const PLAIN_OPTIMIZER = /^(?:SGD|ASGD|Adam|AdamW|Adamax|NAdam|RAdam|RMSprop|Adagrad|Adadelta|Adafactor)$/;
const MIN_STEPS = 2;
/** By dtype: how far from 1 the next number is, and of the numbers that have a gradient the share that may change. */
const PRECISIONS: Record<string, { gap: string; share: number }> = {
  bfloat16: { gap: "0.0078", share: 0.25 },
  float16: { gap: "0.00098", share: 0.25 },
  float32: { gap: "0.00000012", share: 0.1 },
};

/** What a step did. */
interface StepEffect {
  step: number;
  /** numbers with a gradient that is not zero, and those of them that it changed */
  total: number;
  moved: number;
  /** the same without parameters that were all zeros: whatever is added to 0 stays */
  heavy: { total: number; moved: number };
  /** a parameter with such a gradient, if possible one that stays whole */
  example: string;
}

/** Null where it is not known, where no gradient came, and where the optimizer writes none of the numbers. */
function effectOfStep(facts: RunFacts, optimizer: string, step: number, first: number): StepEffect | null {
  const _history = facts.history;
  const before = stepBeforeStatement(facts.steps, step);
  const effect = { step, total: 0, moved: 0, heavy: { total: 0, moved: 0 }, example: "" };
  let fewest = Infinity;
  for (const uid of facts.parametersOf(optimizer, step)) {
    const grad = (facts.gradOf(uid, before) ?? facts.gradOf(uid, step)) as string | null;
    const nonzero = grad ? countNonzero(facts, grad, before) : 0;
    if (nonzero === null) return null;
    if (!nonzero) continue;
    const storage = facts.storageOf(uid, step);
    if (storage !== facts.storageOf(uid, before)) return null;
    if (!facts.opsAt(step).some(({ inputs, outputs }) => inputs.includes(uid) && outputs.includes(uid))) return null;
    const writes = facts.writesOf(storage).filter((write) => write.step > before && write.step <= step);
    if (writes.some(({ changed }) => changed === null)) return null;
    const moved = writes.reduce((sum, { changed }) => sum + (changed ?? 0), 0);
    const start = facts.rangeOf(uid, stepBeforeStatement(facts.steps, first));
    for (const counts of start && start.min === 0 && start.max === 0 ? [effect] : [effect, effect.heavy]) {
      counts.total += nonzero;
      counts.moved += Math.min(moved, nonzero);
    }
    if (moved < fewest) [fewest, effect.example] = [moved, uid];
  }
  return effect.heavy.total ? effect : null;
}

/** How many elements of a gradient are not zero; null where one is not finite, or that is not known. */
function countNonzero(facts: RunFacts, uid: string, step: number): number | null {
  const numbers = facts.numbersOf(uid, step);
  if (numbers) return numbers.every(Number.isFinite) ? numbers.filter((number) => number !== 0).length : null;
  const range = facts.rangeOf(uid, step);
  if (!range || !Number.isFinite(range.max - range.min)) return null;
  return range.min === 0 && range.max === 0 ? 0 : numel(facts.tensor(uid, step)?.shape ?? []);
}

function diagnosisOf(facts: RunFacts, { uid, made }: Optimizer, last: StepEffect, rate: number): Diagnosis {
  const { step, moved, total, example } = last;
  const [optimizer, x] = [facts.nameFact(uid, step), facts.nameFact(example, step)];
  const dtype = facts.tensor(example, step)?.dtype ?? "";
  const variant = rate === 0 ? "rate" : dtype === "float32" ? "tiny" : "rounded";
  const placed = facts.history.fieldChanges(example, "storage").filter((change) => change.step < step);
  const given = placed.at(-1)?.step ?? facts.birthStep(example);
  return {
    variant,
    cause: variant === "rounded" ? given : made,
    chain: [variant === "rounded" && [given, "way", [example]], [made, "made", [uid]], [step, "used", [uid, example]]],
    names: [optimizer, x],
    facts: {
      optimizer,
      x,
      dtype: codeFact(dtype),
      gap: PRECISIONS[dtype]?.gap ?? "",
      moved,
      total,
      rate: roundedNumber(rate),
    },
  };
}
