/**
 * How a tensor's `.grad` came to hold what it holds: every backward that added to it, every write, since it was last
 * None.
 */

import type { RunFacts } from "../diagnosis.ts";
import { gradientFlowOfBackward, type GradientArrival, type GradientFlow } from "./gradient_flow.ts";
import { haveSameElements, tensorAsGradient, type Gradient } from "./gradient_values.ts";
import type { FieldChange } from "../facts/field_history.ts";
import type { Visit } from "../../trace/wire.ts";

/** before, after: what `.grad` held; unseen: it changed among steps that were not recorded */
export type GradChange =
  | {
      kind: "backward";
      step: number;
      flow: GradientFlow;
      arrival: GradientArrival;
      before: Gradient | null;
      after: Gradient | null;
    }
  | { kind: "written" | "assigned" | "unseen"; step: number; before: Gradient | null; after: Gradient | null };

/** The changes of a tensor's `.grad` from None to what it holds after a step, in order; none where it is None. */
export function gradientChangesSinceNone(facts: RunFacts, uid: string, step: number): GradChange[] {
  const changes = facts.history.fieldChanges(uid, "grad").filter((change) => change.step <= step);
  if (!changes.at(-1)?.value) return [];
  const reset = changes.findLastIndex(({ value }) => !value);
  const resetStep = reset < 0 ? -1 : changes[reset].step;
  const visits = gradChangesByBackward(facts, uid, resetStep, step);
  const visited = new Set(
    visits.flatMap(({ step: at }) => {
      const { visit } = facts.steps[at];
      return stepBeforeGradientArrived(facts, visit, at) < at - 1 ? [at - 1, at] : [at];
    }),
  );
  const others = gradChangesOutsideBackward(facts, uid, changes.slice(reset + 1), step).filter(
    (change) => !visited.has(change.step),
  );
  const allChanges = [...visits, ...others].sort((a, b) => a.step - b.step);
  return withUnrecordedChanges(allChanges, gradValueAt(facts, uid, step), step);
}

/** What a tensor's `.grad` holds after a step. */
export function gradValueAt(facts: RunFacts, uid: string, step: number): Gradient | null {
  const grad = facts.gradOf(uid, step);
  return grad ? tensorAsGradient(facts.stateAt(step), facts.tensor(grad, step)) : null;
}

/** Visits that added to it: of a leaf's accumulating node, or of the node that made a tensor that retains its
 * gradient. */
function gradChangesByBackward(facts: RunFacts, uid: string, since: number, until: number): GradChange[] {
  const gradFns = facts.history
    .fieldChanges(uid, "grad_fn")
    .flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const changes: GradChange[] = [];
  for (const call of facts.backwardCalls) {
    if (call.api !== "backward" || call.end < since || call.step > until) continue;
    for (const { node, step } of facts.index.visitsByBackward.get(call.uid) ?? []) {
      const { visit } = facts.steps[step];
      if (step <= since || step > until || visit?.failed) continue;
      if (visit?.accumulates !== uid && !gradFns.includes(node)) continue;
      const nr = visit?.accumulates === uid ? 0 : (facts.tensor(uid, step)?.output_nr ?? 0);
      const flow = gradientFlowOfBackward(facts, call);
      const arrival = flow.arrivalForOutput(node, nr);
      const [before, after] = [
        gradValueAt(facts, uid, stepBeforeGradientArrived(facts, visit, step)),
        gradValueAt(facts, uid, step),
      ];
      if (arrival.grad && after) changes.push({ kind: "backward", step, flow, arrival, before, after });
    }
  }
  return changes;
}

/** The last step before a gradient came to a tensor: one that retains it has it before its node runs, which the step
 * of the visit before may have seen. */
function stepBeforeGradientArrived(facts: RunFacts, visit: Visit | null | undefined, step: number) {
  const isSeenEarly = !visit?.accumulates && facts.steps[step - 1]?.visit?.backward === visit?.backward;
  return isSeenEarly ? step - 2 : step - 1;
}

/**
 * Gradients that the program assigned, and writes into the memory of one. `fieldChanges` are those of `.grad` since it
 * was None.
 */
function gradChangesOutsideBackward(
  facts: RunFacts,
  uid: string,
  fieldChanges: FieldChange[],
  until: number,
): GradChange[] {
  const out = new Map<number, GradChange>();
  const addChange = (kind: "written" | "assigned" | "unseen", step: number) => {
    const [before, after] = [gradValueAt(facts, uid, step - 1), gradValueAt(facts, uid, step)];
    if (!out.has(step) && !haveSameElements(before, after)) out.set(step, { kind, step, before, after });
  };
  fieldChanges.forEach(({ step, value }, k) => {
    addChange(facts.steps[step].skipped ? "unseen" : "assigned", step);
    const last = fieldChanges[k + 1]?.step ?? until + 1;
    const storageUid = facts.tensor(value as string, step)?.storage;
    for (const write of facts.writesOf(storageUid))
      if (write.step > step && write.step < last) addChange("written", write.step);
  });
  return [...out.values()].filter(({ step }) => step <= until);
}

/** The changes, with one for each place where it holds something else than the change before left. */
function withUnrecordedChanges(changes: GradChange[], heldNow: Gradient | null, step: number): GradChange[] {
  const out: GradChange[] = [];
  for (const change of changes) {
    const previous = out.at(-1);
    if (haveSameElements(previous?.after ?? null, change.before) === false)
      out.push({ kind: "unseen", step: change.step, before: previous?.after ?? null, after: change.before });
    out.push(change);
  }
  const lastChange = out.at(-1);
  if (!lastChange || haveSameElements(lastChange.after, heldNow) === false)
    out.push({ kind: "unseen", step, before: lastChange?.after ?? null, after: heldNow });
  return out;
}
