/** The optimizers of a run: the tensors in their groups, and the steps at which they update them. */

import { memoizePerRun } from "./memoize_per_run.ts";
import { findEntity } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";
import type { RecordedRun } from "./recorded_run.ts";

export interface Optimizer {
  uid: string;
  /** its own, and those of optimizers that it wraps and that have its groups: their steps are its steps */
  uids: Set<string>;
  made: number;
  /** at which its `step()` had run */
  steps: number[];
  /** the same with the place in the step's log */
  stepped: OptimizerStep[];
  /** of its steps in iterations that were not recorded */
  unrecorded: number;
}

interface OptimizerStep {
  step: number;
  at: number;
}

/** The optimizers by uid. */
export const optimizersOf = memoizePerRun((facts: RecordedRun): Map<string, Optimizer> => {
  const optimizers = new Map<string, Optimizer>();
  for (const { uid, step, fields } of facts.index.objectChanges)
    if (fields.attrs && "param_groups" in fields.attrs && !optimizers.has(uid))
      optimizers.set(uid, { uid, uids: new Set([uid]), made: step, steps: [], stepped: [], unrecorded: 0 });
  mergeWrapped(facts, optimizers);
  addRecordedSteps(facts, optimizers);
  return optimizers;
});

/** One that holds another in an attribute, with its groups, is one optimizer with it. */
function mergeWrapped(facts: RecordedRun, optimizers: Map<string, Optimizer>) {
  for (const { uid, step, fields } of facts.index.objectChanges)
    for (const value of Object.values((optimizers.has(uid) && fields.attrs) || {})) {
      const inner = referencedUid(value) ?? "";
      const groups = optimizers.has(inner) && inner !== uid ? paramGroupDicts(facts, inner, step) : [];
      if (!groups.some((group) => paramGroupDicts(facts, uid, step).includes(group))) continue;
      optimizers.get(uid)?.uids.add(inner);
      optimizers.delete(inner);
    }
}

/** The dicts in an optimizer's groups after a step. */
export function paramGroupDicts(facts: RecordedRun, uid: string, step: number): string[] {
  const entities = facts.stateAt(step);
  const list = referencedUid(findEntity(entities, uid, "object")?.attrs?.param_groups);
  return (findEntity(entities, list, "object")?.items ?? []).flatMap((item) => referencedUid(item as Value) ?? []);
}

function addRecordedSteps(facts: RecordedRun, optimizers: Map<string, Optimizer>) {
  for (const { optimizer: uid, unrecorded, step, at } of facts.eventsOfKind("optimizer_stepped")) {
    const optimizer = optimizerWith(optimizers, uid ?? "");
    if (!optimizer) continue;
    if (unrecorded) optimizer.unrecorded += unrecorded;
    else {
      if (optimizer.steps.at(-1) !== step) optimizer.steps.push(step);
      optimizer.stepped.push({ step, at });
    }
  }
}

/** The optimizer that has this uid, or wraps the one that has it. */
export function optimizerWith(optimizers: Map<string, Optimizer>, uid: string): Optimizer | undefined {
  return optimizers.get(uid) ?? [...optimizers.values()].find(({ uids }) => uids.has(uid));
}

/** The tensors in an optimizer's groups after a step. */
export function optimizerParameters(facts: RecordedRun, uid: string, step: number): string[] {
  return optimizerGroups(facts, uid, step).flatMap(({ parameters }) => parameters);
}

interface OptimizerGroup {
  /** those that the trace lists */
  parameters: string[];
  /** whether it lists all */
  complete: boolean;
  /** the learning rate: a number or a tensor */
  lr: Value | undefined;
  /** whether it was given `named_parameters()` */
  isNamed: boolean;
}

/** An optimizer's groups of parameters after a step; the last ones where that step freed it. */
export function optimizerGroups(facts: RecordedRun, uid: string, step: number): OptimizerGroup[] {
  const entities = facts.stateAt(Math.min(step, facts.index.lifetimes.get(uid)?.death ?? step));
  const attribute = findEntity(entities, uid, "object")?.attrs?.param_groups;
  const groups = findEntity(entities, referencedUid(attribute), "object")?.items ?? [];
  return groups.map((group) => {
    const dict = findEntity(entities, referencedUid(group as Value), "object");
    const fields = new Map((dict && keyValuePairs(dict)) ?? []);
    const list = findEntity(entities, referencedUid(fields.get("params")), "object");
    const listed = (list?.items ?? []).flatMap((item) => referencedUid(item as Value) ?? []);
    const more = (list?.more_tensors ?? []).flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, k) => `t${first + k}`),
    );
    const complete = list !== undefined && (list.elided ?? 0) <= more.length;
    return { parameters: [...listed, ...more], complete, lr: fields.get("lr"), isNamed: fields.has("param_names") };
  });
}
