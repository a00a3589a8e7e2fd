/** A relation that changes from step to step: which things are at which other thing, for stretches of steps. */

import { addToList } from "./multimap.ts";

interface Stretch {
  uid: string;
  /** from, to: the first and last step */
  from: number;
  to: number;
}

/** Each thing is at no more than one other at a time. */
export class TimedRelation {
  stretches = new Map<string, Stretch[]>();
  current = new Map<string, { target: string; stretch: Stretch }>();

  /** @param target null where it is at none any more */
  setTarget(uid: string, target: string | null | undefined, step: number) {
    const open = this.current.get(uid);
    if (open?.target === target) return;
    if (open) {
      open.stretch.to = step - 1;
      this.current.delete(uid);
    }
    if (!target) return;
    const stretch = { uid, from: step, to: Infinity };
    addToList(this.stretches, target, stretch);
    this.current.set(uid, { target, stretch });
  }

  uidsAt(target: string, step: number): string[] {
    const out = [];
    for (const { uid, from, to } of this.stretches.get(target) ?? []) if (from <= step && step <= to) out.push(uid);
    return out;
  }
}
