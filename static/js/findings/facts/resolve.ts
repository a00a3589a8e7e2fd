/** What an expression of the program, like `net[0].weight`, refers to at a step. */

import { findEntity, type EntityLookup } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import { attributeRead, literalValue } from "../../syntax/expressions.ts";
import { comprehensionOfName } from "../../syntax/name_uses.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";
import type { Value } from "../../trace/wire.ts";
import type { RecordedRun } from "./recorded_run.ts";

/** Of what a comprehension goes through so many items are looked at. */
const MAX_ITEMS = 64;

interface NameScope {
  entities: EntityLookup;
  frame: string | null;
}

/** The uids that an expression refers to: of the variable of a comprehension, one an item. */
export function resolveExpressionUids(
  facts: RecordedRun,
  node: SyntaxNode | null,
  step: number,
  stateStep: number = step,
): string[] {
  const place = { entities: facts.stateAt(stateStep), frame: facts.steps[step]?.frame ?? null };
  return node ? values(place, node).flatMap((value) => referencedUid(value) ?? []) : [];
}

/**
 * The uid that a name as sentences say it, like `net[0].weight`, refers to, read in the frame of `step`, in the state
 * after `stateStep`.
 */
export function resolvePath(facts: RecordedRun, path: string, step: number, stateStep = step): string | null {
  const place = { entities: facts.stateAt(stateStep), frame: facts.steps[step]?.frame ?? null };
  const [root, ...rest] = path.match(/[^.[\]]+|\[[^\]]*\]/g) ?? [];
  let value = root ? variableValue(place, root) : undefined;
  for (const part of rest) {
    const uid = referencedUid(value) ?? "";
    value = part.startsWith("[")
      ? itemValue(place.entities, uid, keyInBrackets(place, part.slice(1, -1)))
      : attributeValue(place.entities, uid, part);
  }
  return referencedUid(value);
}

function keyInBrackets(place: NameScope, text: string) {
  if (/^-?\d+$/.test(text)) return Number(text);
  return /^['"]/.test(text) ? text.slice(1, -1) : variableValue(place, text);
}

/** The values that an expression has; none where the trace doesn't show them. */
function values(place: NameScope, node: SyntaxNode): (Value | undefined)[] {
  const constant = literalValue(node);
  if (constant !== undefined) return [constant];
  if (node.kind === "Name") {
    const comprehension = comprehensionOfName(node);
    return comprehension ? valuesOfVariable(place, node, comprehension) : [variableValue(place, String(node.value))];
  }
  const read = attributeRead(node);
  if (read)
    return values(place, read.object).map((value) =>
      attributeValue(place.entities, referencedUid(value) ?? "", read.attribute),
    );
  if (node.kind === "NamedExpr") return values(place, node.children[1]);
  if (node.kind !== "Subscript") return [];
  const key = childOf(node, "slice");
  const keys = key ? values(place, key) : [];
  if (keys.length !== 1) return [];
  return values(place, node.children[0]).map((value) => itemValue(place.entities, referencedUid(value) ?? "", keys[0]));
}

/** What the variable of a comprehension means, one after the other. */
function valuesOfVariable(place: NameScope, name: SyntaxNode, comprehension: SyntaxNode): (Value | undefined)[] {
  const [target, iterable] = [childOf(comprehension, "target"), childOf(comprehension, "iter")];
  if (target?.kind !== "Name" || target.value !== name.value || !iterable) return [];
  if (["Tuple", "List", "Set"].includes(iterable.kind))
    return iterable.children.slice(0, MAX_ITEMS).flatMap((element) => values(place, element));
  return values(place, iterable).flatMap((value) => {
    const object = findEntity(place.entities, referencedUid(value) ?? "", "object");
    return object && !keyValuePairs(object) ? ((object.items ?? []) as Value[]).slice(0, MAX_ITEMS) : [];
  });
}

/** A variable as a frame sees it: its own, else one of the frames around. */
function variableValue({ entities, frame }: NameScope, name: string): Value | undefined {
  for (let uid = frame, depth = 0; uid && depth < 50; depth++) {
    const found = findEntity(entities, uid, "frame");
    if (found?.vars.has(name)) return found.vars.get(name);
    uid = found?.caller ?? null;
  }
  return undefined;
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
