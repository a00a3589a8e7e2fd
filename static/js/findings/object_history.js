/** How the attributes of a run's objects changed: parameters that were replaced, modules that were exchanged. */

import { refOf } from "../trace/names.js";

/** @typedef {{owner: string, name: string, step: number, before: string | null, after: string | null}} Replacement
 *   an attribute that came to refer to another entity; before is null where it is new */

/** @type {WeakMap<object, Replacement[]>} */
const changesByTrace = new WeakMap();

/** Every attribute that was given or exchanged, in order. @param {import("./run_facts.js").RunFacts} facts @returns {Replacement[]} */
export function attributeChanges(facts) {
  const cached = changesByTrace.get(facts.trace);
  if (cached) return cached;
  /** @type {Replacement[]} */
  const replacements = [];
  /** @type {Map<string, Record<string, import("../trace/wire.js").Value>>} by object */
  const attributesOf = new Map();
  for (const { uid: owner, step, fields } of facts.index.objectChanges) {
    if (!fields.attrs) continue;
    const attributesBefore = attributesOf.get(owner) ?? {};
    for (const [name, value] of Object.entries(fields.attrs)) {
      const [uidBefore, uidAfter] = [refOf(attributesBefore[name]), refOf(value)];
      if (uidBefore !== uidAfter) replacements.push({ owner, name, step, before: uidBefore, after: uidAfter });
    }
    attributesOf.set(owner, fields.attrs);
  }
  changesByTrace.set(facts.trace, replacements);
  return replacements;
}
