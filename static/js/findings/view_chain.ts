/** How a view came from its base: the operations that made it, one view of another. */

import type { RunFacts } from "./run_facts.ts";
import type { Operation } from "./scan.ts";

/** a view and the operation that made it of `op.inputs[0]` */
export interface ViewStep {
  uid: string;
  op: Operation;
}

const MAX_VIEWS_FOLLOWED = 64;

/**
 * The views from a handle back to the tensor that is none, the handle's own first.
 * @param step at which the handle is looked at
 */
export function viewsToBase(facts: RunFacts, uid: string, step: number): { views: ViewStep[]; base: string } {
  const views: ViewStep[] = [];
  let base = uid;
  const storageUid = facts.handle(uid, step)?.storage;
  while (views.length < MAX_VIEWS_FOLLOWED) {
    const op = facts.producingOperation(base);
    const source = op?.inputs[0];
    if (!op || !source || op.step > step || !storageUid || facts.handle(source, op.step)?.storage !== storageUid) break;
    views.push({ uid: base, op });
    base = source;
  }
  return { views, base };
}
