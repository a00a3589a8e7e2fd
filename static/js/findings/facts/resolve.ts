/** What a path of the program's text, like `net[0].weight`, refers to at a step. */

import { findEntity, type EntityLookup } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";
import type { RunFacts } from "./run_facts.ts";

/**
 * The uid that a path of names, attributes and constant indices refers to, null where the trace doesn't show it. The
 * path is read in the frame of `step`, and looked up in the state after `stateStep`.
 */
export function resolvePath(facts: RunFacts, path: string, step: number, stateStep: number = step): string | null {
  const frameUid = facts.steps[step]?.frame ?? null;
  const entities = facts.stateAt(stateStep);
  const [root, ...rest] = path.match(/[A-Za-z_]\w*|\[[^\]]*\]/g) ?? [];
  let value = root ? variableValue(entities, frameUid, root) : undefined;
  for (const part of rest) {
    const ref = referencedUid(value);
    if (!ref) return null;
    value = part.startsWith("[")
      ? itemValue(entities, ref, keyInBrackets(entities, frameUid, part))
      : attributeValue(entities, ref, part);
  }
  return referencedUid(value);
}

/** A variable as a frame sees it: its own, else one of the frames around. */
function variableValue(entities: EntityLookup, frameUid: string | null, name: string): Value | undefined {
  for (let uid = frameUid, depth = 0; uid && depth < 50; depth++) {
    const found = findEntity(entities, uid, "frame");
    if (found?.vars.has(name)) return found.vars.get(name);
    uid = found?.caller ?? null;
  }
  return undefined;
}

/** `part` stands in brackets. */
function keyInBrackets(entities: EntityLookup, frameUid: string | null, part: string) {
  const text = part.slice(1, -1);
  if (/^-?\d+$/.test(text)) return Number(text);
  if (/^['"]/.test(text)) return text.slice(1, -1);
  return variableValue(entities, frameUid, text);
}

function itemValue(entities: EntityLookup, uid: string, key: Value | undefined): Value | undefined {
  const object = findEntity(entities, uid, "object");
  if (!object) return undefined;
  const pairs = keyValuePairs(object);
  if (pairs) return pairs.find(([k]) => k === key)?.[1];
  const items = object.items ?? [];
  if (typeof key === "number" && items.length) return items.at(key) as Value;
  return object.attrs?.[String(key)];
}

function attributeValue(entities: EntityLookup, uid: string, name: string): Value | undefined {
  if (name === "grad") {
    const grad = findEntity(entities, uid, "tensor")?.grad;
    return grad ? { ref: grad } : null;
  }
  return findEntity(entities, uid, "object")?.attrs?.[name];
}
