/** A parameter that every update throws further, until nothing that is computed from it is finite. */

import type { RunFacts } from "../diagnosis.ts";

/** the updates that threw it, and its largest element before the first and after each */
export interface DivergingParameter {
  uid: string;
  steps: number[];
  values: number[];
}

const MIN_DIVERGING_UPDATES = 3;
const MIN_GROWTH_PER_UPDATE = 2;
const MIN_TOTAL_GROWTH = 100;
const MAX_LEAVES_EXAMINED = 40;
const MAX_WRITES_EXAMINED = 400;

/** The parameter whose largest element grew with each of the last updates before a step, the most of all; null where
 * none did. */
export function divergingParameterBefore(facts: RunFacts, step: number): DivergingParameter | null {
  let strongest: DivergingParameter | null = null;
  const leaves = [...facts.index.lifetimes.values()].filter(({ uid, kind, birth }) => {
    const tensor = kind === "tensor" && birth < step ? facts.tensor(uid, step) : undefined;
    return tensor?.leaf && tensor.requires_grad;
  });
  for (const { uid } of leaves.slice(0, MAX_LEAVES_EXAMINED)) {
    const divergence = parameterDivergence(facts, uid, step);
    if (
      divergence &&
      (!strongest || divergence.values[divergence.values.length - 1] > strongest.values[strongest.values.length - 1])
    )
      strongest = divergence;
  }
  return strongest;
}

function parameterDivergence(facts: RunFacts, uid: string, before: number): DivergingParameter | null {
  const storage = facts.handle(uid, before)?.storage;
  const writes = facts.writesOf(storage).filter(({ step }) => step < before);
  const steps: number[] = [];
  const values: number[] = [];
  for (const { step } of writes.slice(-MAX_WRITES_EXAMINED).reverse()) {
    const [magnitudeBefore, magnitudeAfter] = [
      largestMagnitude(facts, uid, step - 1),
      largestMagnitude(facts, uid, step),
    ];
    if (steps.length && magnitudeAfter !== values[0]) break; // something unseen lies between
    if (
      magnitudeBefore === null ||
      magnitudeAfter === null ||
      magnitudeAfter < MIN_GROWTH_PER_UPDATE * magnitudeBefore
    ) {
      if (magnitudeAfter === null && !steps.length) continue; // not finite any more
      break;
    }
    if (!steps.length) values.push(magnitudeAfter);
    steps.unshift(step);
    values.unshift(magnitudeBefore);
  }
  if (steps.length < MIN_DIVERGING_UPDATES || values[values.length - 1] < MIN_TOTAL_GROWTH * Math.max(values[0], 0.01))
    return null;
  return { uid, steps, values };
}

/** The largest magnitude of a tensor's elements; null where one is not finite, or they are not known. */
function largestMagnitude(facts: RunFacts, uid: string, step: number) {
  const magnitudes = (facts.numbersOf(uid, step) ?? []).map(Math.abs);
  return magnitudes.length && magnitudes.every(Number.isFinite) ? Math.max(...magnitudes) : null;
}
