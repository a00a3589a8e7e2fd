/** By which attributes a stage draws the properties of a tensor that are different. */

import type { OpenTrace } from "../trace/state.ts";

/** The attributes that draw properties of a handle; null for a plain value, which the stage doesn't draw. */
export function attributesThatDrawProperties(
  opened: OpenTrace,
  step: number,
  uid: string | null,
  properties: string[],
): { name: string; value: string }[] {
  if (uid === null) return [];
  const entity = opened.state(step).get(uid);
  const storage = entity && "storage" in entity ? entity.storage : null;
  const attributes = new Map<string, string>();
  for (const property of properties)
    if (property === "grad") attributes.set("data-grad-of", uid);
    else if (storage && (property === "values" || property === "memory")) attributes.set("data-storage-strip", storage);
    else attributes.set("data-handle", uid);
  return [...attributes].map(([name, value]) => ({ name, value }));
}
