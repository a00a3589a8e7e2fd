/** How the attributes of a run's objects changed: parameters that were replaced, modules that were exchanged. */

import { referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";
import type { RunFacts } from "./run_facts.ts";

/** an attribute that came to refer to another entity; before is null where it is new */
export interface AttributeChange {
  owner: string;
  name: string;
  step: number;
  before: string | null;
  after: string | null;
}

const attributeChangesByTrace = new WeakMap<object, AttributeChange[]>();

/** Every attribute that was given or exchanged, in order. */
export function attributeChanges(facts: RunFacts): AttributeChange[] {
  const cached = attributeChangesByTrace.get(facts.trace);
  if (cached) return cached;
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
  attributeChangesByTrace.set(facts.trace, replacements);
  return replacements;
}
