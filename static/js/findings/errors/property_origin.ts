/**
 * Where a tensor got its shape, its dtype or its layout: the operation that gave it another than that of what it was
 * made from.
 */

import { operationName, type RunFacts } from "../diagnosis.ts";
import type { Tensor } from "../../trace/wire.ts";

export type Property = "shape" | "dtype" | "layout" | "device";

/** the step that made a tensor with a property, and the operation that gave it, if one did */
interface PropertyOrigin {
  uid: string;
  step: number;
  /** by which it differs from `before`; empty where it was made so */
  op: string;
  /** of what it was made from */
  before: Tensor | null;
}

/** So many operations are walked back. */
const MAX_OPERATIONS_BACK = 40;

/** The value of a property as text, by which two are compared. */
function propertyText(tensor: Tensor, property: Property) {
  return property === "shape" ? (tensor.shape ?? []).join() : String(tensor[property] ?? "");
}

/** Where a tensor got a property that it has at a step. */
export function propertyOrigin(facts: RunFacts, uid: string, property: Property, step: number): PropertyOrigin {
  let current = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    const tensor = facts.tensor(current, step);
    const op = facts.producingOperation(current);
    const source = op?.inputs[0];
    const before = source ? (facts.tensor(source, op.step) ?? null) : null;
    const made = Math.max(0, op?.step ?? facts.birthStep(current));
    if (!tensor || !op || !source || !before) return { uid: current, step: made, op: "", before: null };
    if (propertyText(before, property) !== propertyText(tensor, property))
      return { uid: current, step: made, op: operationName(op.name), before };
    if (facts.nameText(source, op.step) === null && facts.birthStep(source) < 0)
      return { uid: current, step: made, op: "", before: null };
    current = source;
  }
  return { uid, step: Math.max(0, facts.birthStep(uid)), op: "", before: null };
}

/** The operation on a tensor's way that changed how many dimensions there are, the last; null where none did. */
export function lastDimensionChange(facts: RunFacts, uid: string, step: number): PropertyOrigin | null {
  let current = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    const origin = propertyOrigin(facts, current, "shape", step);
    if (!origin.before) return null;
    const rank = facts.tensor(origin.uid, step)?.shape?.length;
    if (rank !== origin.before.shape?.length) return origin;
    const source = facts.producingOperation(origin.uid)?.inputs[0];
    if (!source) return null;
    current = source;
  }
  return null;
}

/** A `squeeze()` without a dimension that took the batch of one sample away with the others. */
export function batchSqueeze(facts: RunFacts, operands: { uid: string }[], step: number): PropertyOrigin | null {
  for (const { uid } of operands) {
    const change = lastDimensionChange(facts, uid, step);
    const before = change?.before?.shape ?? [];
    const isSqueeze = change && facts.producingOperation(change.uid)?.name === "aten::squeeze";
    if (isSqueeze && before[0] === 1 && before.length > 1) return change;
  }
  return null;
}
