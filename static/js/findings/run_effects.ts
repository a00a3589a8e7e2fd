/**
 * What a run did to the tensors that are trained, by all names that the program has for them: which got a gradient,
 * which an update moved and which not. A fix is judged by it.
 */

import { openTrace } from "../trace/state.ts";
import { RunFacts } from "./facts/run_facts.ts";
import { addToList } from "../trace/multimap.ts";
import type { Trace } from "../trace/wire.ts";

interface RunEffects {
  /** names of tensors that got a `.grad` */
  reached: string[];
  /** names of those that were written after the first backward had begun */
  moved: string[];
}

const MAX_NAMES = 500;

export function effectsOfRun(trace: Trace): RunEffects {
  const facts = new RunFacts(openTrace(trace));
  const firstBackward = facts.backwardCalls[0]?.step ?? Infinity;
  const lastStep = facts.steps.length - 1;
  const reached = stepsOfGradients(facts);
  const steps = new Map([...reached].map(([uid, of]) => [uid, [...of, lastStep]]));
  for (const optimizer of facts.optimizers)
    for (const step of optimizer.steps.slice(-1))
      for (const parameter of facts.parametersOf(optimizer.uid, step)) addToList(steps, parameter, step);
  for (const uid of facts.index.moduleOfTensor.keys())
    if (facts.tensor(uid, lastStep)?.requires_grad) addToList(steps, uid, lastStep);
  const namesByTensor = new Map([...steps].map(([uid, of]) => [uid, namesAtSteps(facts, uid, of)]));
  const isMoved = (uid: string) =>
    facts.writesOf(facts.tensor(uid, lastStep)?.storage).some(({ step }) => step > firstBackward);
  const namesOf = (isWanted: (uid: string) => boolean) => {
    const names = [...namesByTensor].flatMap(([uid, list]) => (isWanted(uid) ? list : []));
    return [...new Set(names)].slice(0, MAX_NAMES);
  };
  return { reached: namesOf((uid) => reached.has(uid)), moved: namesOf(isMoved) };
}

/**
 * The first and the last step at which each tensor that ever had a `.grad` got one: also where `retain_grad()` or an
 * assignment put it there, which the ledgers of gradients don't tell of.
 */
function stepsOfGradients(facts: RunFacts): Map<string, number[]> {
  const out = new Map<string, number[]>();
  for (const { uid, kind } of facts.index.lifetimes.values()) {
    if (kind !== "tensor") continue;
    const steps = facts.history.fieldChanges(uid, "grad").flatMap(({ step, value }) => (value ? [step] : []));
    if (steps.length) out.set(uid, [steps[0], steps[steps.length - 1]]);
  }
  return out;
}

/** All that leads to a tensor at some steps, but for the lists of optimizers. */
function namesAtSteps(facts: RunFacts, uid: string, steps: number[]): string[] {
  const names = [...new Set(steps)].flatMap((step) => [
    ...facts.naming.namesAsRead(step).namesOf(uid),
    ...facts.objectNamesAt(step, null).namesOf(uid),
  ]);
  return [...new Set(names.map(({ text }) => text))].filter((text) => !text.includes("param_groups"));
}
