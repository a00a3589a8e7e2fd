/** What became of a saved slot: the steps that a click on its pin, or on an exception of backward, leads to. */

import type { OpenTrace } from "./state.ts";
import type { SavedSlot, TraceIndex } from "./trace_index.ts";
import type { Step } from "./wire.ts";

/** The step at which a slot stopped being what was saved, by a write or in silence; null where it did not. */
function breakingStepOfSlot({ stale, changed }: SavedSlot): number | null {
  if (stale === null || changed === null) return stale ?? changed;
  return Math.min(stale, changed);
}

/**
 * Where a click on a pin leads: to the step that broke it; from there, or where nothing did, to the one that saved it;
 * -1 for a slot that kept nothing.
 */
export function stepOfPinClick(index: TraceIndex, nodeUid: string, slot: string, step: number): number {
  const slotLife = index.slots.get(`${nodeUid}:${slot}`);
  if (!slotLife) return -1;
  const breakStep = breakingStepOfSlot(slotLife);
  return breakStep === null || breakStep === step ? slotLife.birth : breakStep;
}

/**
 * The step that made backward fail: the write that broke a slot of the node that failed, else the backward that let go
 * of what the node had saved; null where the trace doesn't say.
 */
export function stepThatMadeBackwardFail({ trace, index }: OpenTrace): number | null {
  const step = trace.outcome.error?.step;
  if (typeof step !== "number") return null;
  const failedNode = nodeWhereBackwardFailed(trace.steps, step);
  if (!failedNode) return null;
  const failedSlots = [...index.slots.values()].filter(({ node, birth }) => node === failedNode && birth < step);
  const lastPastStep = (steps: (number | null)[]) =>
    Math.min(...steps.map((slotStep) => (slotStep !== null && slotStep < step ? slotStep : Infinity)));
  const breakStep = lastPastStep(failedSlots.map(({ stale }) => stale));
  const cause = breakStep < Infinity ? breakStep : lastPastStep(failedSlots.map(({ released }) => released));
  return cause < Infinity ? cause : null;
}

/**
 * Whether a backward of these steps reaches a node and fails in it. A saved value of another version harms nobody else.
 */
export function doesBackwardFailIn(steps: Step[], node: string): boolean {
  return steps.some(({ visit }) => visit?.failed && visit.node === node);
}

/** The node in which the backward of a step failed. */
function nodeWhereBackwardFailed(steps: Step[], step: number) {
  for (let i = step; i >= 0 && steps[i].stmt === steps[step].stmt; i--)
    if (steps[i].visit?.failed) return steps[i].visit?.node ?? null;
  return null;
}
