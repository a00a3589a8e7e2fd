/** What a step did, as far as it moves something in the picture. */

import type { Cell } from "../../trace/entities.ts";
import type { OpenTrace } from "../../trace/state.ts";

export interface StepChange {
  /** whether the reader went back: then only what is no more fades */
  back: boolean;
  /** entities that there are no more */
  gone: ReadonlySet<string>;
  /** by `storage:dtype:index`, what was written over */
  oldValues: ReadonlyMap<string, Cell>;
  /** the node that backward visits, and the leaf that gets what arrives there */
  visit: { node: string; accumulates: string | null } | null;
}

/** Between the step that was drawn and the next one, or the one before. */
export function changeOfStep(opened: OpenTrace, from: number, to: number): StepChange {
  if (to < from) return { back: true, gone: opened.at(from).fresh, oldValues: new Map(), visit: null };
  const { step, oldValues } = opened.at(to);
  return {
    back: false,
    gone: new Set(step?.gone),
    oldValues,
    visit: step?.visit ? { node: step.visit.node, accumulates: step.visit.accumulates ?? null } : null,
  };
}
