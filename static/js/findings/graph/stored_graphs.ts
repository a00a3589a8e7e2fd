/** What a container keeps of graphs, however deep in tuples, dicts, lists and objects its items are. */

import type { RunFacts } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";

export interface StoredTensor {
  uid: string;
  /** how it is reached from what was stored, as Python writes it: `['h']`, `.state[0]`; empty for itself */
  suffix: string;
}

const MAX_OBJECTS = 64;

/** The nearest tensor with a history in what was stored; a tensor that was stored itself, with one or not. */
export function storedTensor(facts: RunFacts, stored: string | null, step: number): StoredTensor | null {
  if (stored?.[0] === "t") return { uid: stored, suffix: "" };
  if (stored?.[0] !== "o") return null;
  const _history = facts.history;
  const entities = facts.stateAt(step);
  const queue: StoredTensor[] = [{ uid: stored, suffix: "" }];
  const seen = new Set([stored]);
  for (let k = 0; k < queue.length && k < MAX_OBJECTS; k++) {
    const object = findEntity(entities, queue[k].uid, "object");
    // modules and optimizers are kept for what they are
    if (!object || typeof object.training === "boolean" || object.attrs?.param_groups) continue;
    const items = keyValuePairs(object) ?? (object.items ?? []).map((item, i): [Value, Value] => [i, item as Value]);
    const parts: [string, Value][] = [
      ...items.map(([key, value]): [string, Value] => [`[${typeof key === "string" ? `'${key}'` : key}]`, value]),
      ...Object.entries(object.attrs ?? {}).map(([name, value]): [string, Value] => [`.${name}`, value]),
    ];
    for (const [part, value] of parts) {
      const uid = referencedUid(value);
      if (!uid || seen.has(uid)) continue;
      seen.add(uid);
      const found = { uid, suffix: queue[k].suffix + part };
      if (uid[0] === "o") queue.push(found);
      else if (facts.gradFnOf(uid, step)) return found;
    }
  }
  return null;
}

/** Whether an operation takes several of these tensors, as `stack` does: they are kept for that. */
export function areOperandsOfOneOperation(facts: RunFacts, uids: string[]): boolean {
  const kept = new Set(uids);
  for (const { inputs } of facts.scan.allOperations())
    if (new Set(inputs.filter((uid) => kept.has(uid))).size > 1) return true;
  return false;
}
