/** The tensors of a module, its own and those of the modules in it. */

import { findEntity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import type { RunFacts } from "./run_facts.ts";

const MAX_MODULES = 500;
const NO_MODULE = /^(?:dict|list|tuple|set|defaultdict|OrderedDict|Function|Generator)$/;

/**
 * The parameters and buffers that attributes of a module lead to after a step; none for what is no module, like an
 * optimizer.
 */
export function tensorsOfModule(facts: RunFacts, uid: string, step: number): string[] {
  const entities = facts.stateAt(step);
  const seen = new Set([uid]);
  const tensors = new Set<string>();
  for (const objectUid of seen) {
    if (seen.size > MAX_MODULES) break;
    const object = findEntity(entities, objectUid, "object");
    if (!object || NO_MODULE.test(object.type ?? "") || "param_groups" in (object.attrs ?? {})) continue;
    for (const value of Object.values(object.attrs ?? {})) {
      const ref = referencedUid(value);
      if (ref?.[0] === "o") seen.add(ref);
      if (ref?.[0] === "t" && isParameter(facts, ref, step)) tensors.add(ref);
    }
  }
  return [...tensors];
}

function isParameter(facts: RunFacts, uid: string, step: number) {
  return facts.tensor(uid, step)?.type === "Parameter";
}

/** The modules that a module has as attributes, each with its names. */
export function submoduleNames(facts: RunFacts, uid: string, step: number): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const [name, value] of Object.entries(facts.object(uid, step)?.attrs ?? {})) {
    const ref = referencedUid(value);
    if (ref?.[0] === "o") names.set(ref, [...(names.get(ref) ?? []), name]);
  }
  return names;
}
