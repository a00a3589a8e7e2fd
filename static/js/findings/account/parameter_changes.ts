/**
 * At which steps what is told of a parameter may become another: so that of a thousand only those are looked at again
 * that changed.
 */

import { gradientLedgerOf } from "./gradient_ledger.ts";
import { addToList } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Value } from "../../trace/wire.ts";

/** The steps that set or free an entity, or free what it was. */
function changesOf({ index }: RunFacts, uid: string): number[] {
  const death = index.lifetimes.get(uid)?.death;
  return death === undefined ? [] : [...index.changeStepsOf(uid), death + 1];
}

/** The steps that may have changed a tensor's fields or its numbers, of a sparse one those of its parts. */
function numberChangesOf(facts: RunFacts, uid: string): number[] {
  const own = changesOf(facts, uid);
  const inner = new Set<string>();
  for (const step of facts.index.changeStepsOf(uid)) {
    const { storage, parts } = facts.steps[step].set[uid];
    if (storage) for (const each of [...changesOf(facts, storage), ...writesOf(facts, storage)]) own.push(each);
    for (const part of Object.values(parts ?? {})) inner.add(part);
  }
  return [...own, ...[...inner].flatMap((part) => numberChangesOf(facts, part))];
}

function writesOf(facts: RunFacts, storage: string) {
  return facts.writesOf(storage).map(({ step }) => step);
}

/**
 * The steps at which a parameter's fields, its numbers or its gradient may have changed. `isScaled`: losses are
 * multiplied, so that it matters what became of a gradient that stays as it is.
 */
export function stepsThatChangeParameter(facts: RunFacts, uid: string, isScaled: boolean): number[] {
  const grads = new Set(
    facts.history.fieldChanges(uid, "grad").flatMap(({ value }) => (typeof value === "string" ? [value] : [])),
  );
  return [
    ...numberChangesOf(facts, uid),
    ...[...grads].flatMap((grad) => numberChangesOf(facts, grad)),
    ...(isScaled ? (gradientLedgerOf(facts, uid)?.entries ?? []) : []).map(({ step }) => step),
  ];
}

/** In order, the steps that may have changed what the groups of an optimizer hold, or their learning rates. */
export function stepsThatChangeGroups(facts: RunFacts): number[] {
  const changes = new Map<string, { step: number; values: unknown }[]>();
  for (const { uid, step, fields } of facts.index.objectChanges)
    addToList(changes, uid, { step, values: [fields.items, fields.attrs] });
  const steps = new Set<number>();
  const seen = new Set<string>();
  const pending: string[] = [];
  for (const { uid } of facts.optimizers) {
    for (const step of changesOf(facts, uid)) steps.add(step);
    for (const step of facts.index.changeStepsOf(uid)) {
      const groups = referencedUid(facts.steps[step].set[uid].attrs?.param_groups);
      if (groups) pending.push(groups);
    }
  }
  for (let uid = pending.pop(); uid !== undefined; uid = pending.pop()) {
    if (seen.has(uid)) continue;
    seen.add(uid);
    for (const step of changesOf(facts, uid)) steps.add(step);
    for (const { values } of changes.get(uid) ?? []) pending.push(...objectUidsInValue(values));
    for (const tensor of learningRateTensorsIn(changes.get(uid) ?? []))
      for (const step of numberChangesOf(facts, tensor)) steps.add(step);
  }
  return [...steps].sort((a, b) => a - b);
}

/** The objects that a value of the trace refers to, however deep in its lists. */
function objectUidsInValue(value: unknown): string[] {
  const ref = typeof value === "object" && value !== null ? referencedUid(value as Value) : null;
  if (ref) return ref[0] === "o" ? [ref] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(objectUidsInValue) : [];
}

/** The tensors that are learning rates: of a group, the value of `lr`. */
function learningRateTensorsIn(changes: { values: unknown }[]): string[] {
  return changes.flatMap(({ values }) => {
    const [items] = values as [unknown[] | undefined];
    return (items ?? []).flatMap((item) => (Array.isArray(item) && item[0] === "lr" && referencedUid(item[1])) || []);
  });
}
