/** How the attributes of a run's objects changed: parameters that were replaced, modules that were exchanged. */

import { memoizePerRun } from "./memoize_per_run.ts";
import { referencedUid } from "../../trace/names.ts";
import type { Item, Value } from "../../trace/wire.ts";
import type { RecordedRun } from "./recorded_run.ts";

/** an attribute that came to refer to another entity; before is null where it is new */
export interface AttributeChange {
  owner: string;
  name: string;
  step: number;
  before: string | null;
  after: string | null;
}

/** Every attribute that was given or exchanged, in order. */
export const attributeChanges = memoizePerRun((facts: RecordedRun): AttributeChange[] => {
  const replacements: AttributeChange[] = [];
  /** by object */
  const attributesOf = new Map<string, Record<string, Value>>();
  for (const { uid: owner, step, fields } of facts.index.objectChanges) {
    if (!fields.attrs) continue;
    const attributesBefore = attributesOf.get(owner) ?? {};
    for (const [name, value] of Object.entries(fields.attrs)) {
      const [uidBefore, uidAfter] = [referencedUid(attributesBefore[name]), referencedUid(value)];
      if (uidBefore !== uidAfter) replacements.push({ owner, name, step, before: uidBefore, after: uidAfter });
    }
    attributesOf.set(owner, fields.attrs);
  }
  return replacements;
});

/** The values that a change put into a list, tuple or dict. */
export function itemsOfChange(items: unknown, splice: unknown): Value[] {
  const inserted = ((splice ?? []) as [number, number, Item[]][]).flatMap((edit) => edit[2]);
  return [...((items ?? []) as Item[]), ...inserted].map((item) => (Array.isArray(item) ? item[1] : item) as Value);
}
