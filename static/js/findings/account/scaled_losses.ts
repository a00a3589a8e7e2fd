/** Losses that a GradScaler multiplied: their gradients are times its scale until something divides them again. */

import { referencedUid } from "../../trace/names.ts";
import type { BackwardCall } from "../facts/scan.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export interface GradScalerUse {
  uid: string;
  /** the tensor that holds it */
  scale: string;
  value: number;
}

/** By backward, the scaler whose scale its loss was multiplied by. */
export function gradScalerByBackward(facts: RunFacts): Map<string, GradScalerUse> {
  const out = new Map<string, GradScalerUse>();
  const scales = facts.index.objectChanges.flatMap(({ uid, step, fields }) => {
    const scale = fields.attrs && "_scale" in fields.attrs ? referencedUid(fields.attrs._scale) : null;
    return scale ? [{ uid, step, scale }] : [];
  });
  for (const call of scales.length ? facts.backwardCalls : []) {
    for (const { uid, scale } of scales) {
      const value = facts.numbersOf(scale, call.step)?.[0] ?? 1;
      if (value > 1 && isMultipliedBy(facts, call, scale)) out.set(call.uid, { uid, scale, value });
    }
  }
  return out;
}

function isMultipliedBy(facts: RunFacts, call: BackwardCall, scale: string) {
  const path = facts.dataflow.shortestPath(scale, call.roots, call.step);
  return path !== null && /::mul/.test(path[0]?.op?.name ?? "");
}
