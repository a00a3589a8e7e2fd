/** A parameter that every update throws further, until nothing that is computed from it is finite. */

import { cellsRead, numberOf } from "./numbers.ts";
import type { RunFacts } from "./run_facts.ts";

/** the updates that threw it, and its largest element before the first and after each */
export interface Divergence {
  uid: string;
  steps: number[];
  values: number[];
}

const MIN_UPDATES = 3;
const MIN_GROWTH = 2;
const MIN_TOTAL_GROWTH = 100;
const MAX_LEAVES = 40;
const MAX_WRITES = 400;

/** The parameter whose largest element grew with each of the last updates before a step, the most of all; null where
 * none did. */
export function divergenceBefore(facts: RunFacts, step: number): Divergence | null {
  let strongest: Divergence | null = null;
  const leaves = [...facts.index.lifetimes.values()].filter(({ uid, kind, birth }) => {
    const tensor = kind === "tensor" && birth < step ? facts.tensor(uid, step) : undefined;
    return tensor?.leaf && tensor.requires_grad;
  });
  for (const { uid } of leaves.slice(0, MAX_LEAVES)) {
    const divergence = divergenceOf(facts, uid, step);
    if (
      divergence &&
      (!strongest || divergence.values[divergence.values.length - 1] > strongest.values[strongest.values.length - 1])
    )
      strongest = divergence;
  }
  return strongest;
}

function divergenceOf(facts: RunFacts, uid: string, before: number): Divergence | null {
  const storage = facts.handle(uid, before)?.storage;
  const writes = facts.writesOf(storage).filter(({ step }) => step < before);
  const steps: number[] = [];
  const values: number[] = [];
  for (const { step } of writes.slice(-MAX_WRITES).reverse()) {
    const [magnitudeBefore, magnitudeAfter] = [
      largestMagnitude(facts, uid, step - 1),
      largestMagnitude(facts, uid, step),
    ];
    if (steps.length && magnitudeAfter !== values[0]) break; // something unseen lies between
    if (magnitudeBefore === null || magnitudeAfter === null || magnitudeAfter < MIN_GROWTH * magnitudeBefore) {
      if (magnitudeAfter === null && !steps.length) continue; // not finite any more
      break;
    }
    if (!steps.length) values.push(magnitudeAfter);
    steps.unshift(step);
    values.unshift(magnitudeBefore);
  }
  if (steps.length < MIN_UPDATES || values[values.length - 1] < MIN_TOTAL_GROWTH * Math.max(values[0], 0.01))
    return null;
  return { uid, steps, values };
}

/** The largest magnitude of a tensor's elements; null where one is not finite, or they are not known. */
function largestMagnitude(facts: RunFacts, uid: string, step: number) {
  const handle = facts.handle(uid, step);
  const cells = handle ? cellsRead(facts.state(step), handle) : null;
  const magnitudes = (cells ?? []).map((cell) => Math.abs(numberOf(cell)));
  return magnitudes.length && magnitudes.every(Number.isFinite) ? Math.max(...magnitudes) : null;
}
