/**
 * A gradient that was computed from other numbers than were saved: the saved memory was changed without its version.
 */

import { diagnosis, gradNameOf } from "../diagnosis.ts";
import type { Diagnosis, EventOccurrence, Facts, Link, RunFacts } from "../diagnosis.ts";
import { findHandle } from "../../trace/entities.ts";
import { actualAndExpectedGradient } from "./local_gradients.ts";
import { cellsReadBy, numbersText } from "../facts/cell_values.ts";
import { isGradcheckStep } from "../facts/write_origins.ts";
import type { SavedSlot } from "../../trace/trace_index.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "wrong_gradient",
    severity: "warning",
    lookedFor: "writes",
    of: (facts) => groupBy(changesSeenByBackward(facts), ({ change }) => `${change.step} ${change.by ?? ""}`),
    most: 8,
    say: (facts, [{ change, slot, visit }]) => diagnosisOf(facts, change, slot, visit),
  }),
];

type SilentChange = EventOccurrence<"saved_changed_silently">;

/** The changes of saved numbers that a backward met, each with the step of its visit. */
function changesSeenByBackward(facts: RunFacts) {
  return facts.eventsOfKind("saved_changed_silently").flatMap((change) => {
    const slot = facts.index.slots.get(`${change.node}:${change.slot}`);
    const visit = facts.visitsOf(change.node).find((step) => step >= change.step);
    if (!slot || visit === undefined || facts.steps[visit].visit?.failed) return [];
    const isChanged = facts.node(slot.node, visit - 1)?.saved?.[slot.slot]?.state === "changed";
    return isChanged && !isGradcheckStep(facts, change.step) ? [{ change, slot, visit }] : [];
  });
}

/** Null where the numbers that backward needed, at the step of its visit, are the same as before. */
function diagnosisOf(facts: RunFacts, change: SilentChange, slot: SavedSlot, visit: number): Diagnosis | null {
  const values = savedAndCurrentCells(facts, slot, change.step, visit);
  const local = actualAndExpectedGradient(facts, slot, visit, values.kept);
  if (local && local.given === local.expected) return null;
  const x = savedNameFact(facts, slot, change.step);
  const writer = writerName(facts, change, slot);
  const op = facts.nodeOperationName(slot.node);
  const leaf = local?.leaf ? facts.nameFact(local.leaf, visit) : null;
  const findingFacts: Facts = {
    x,
    y: writer ?? x,
    op,
    saved: facts.steps[slot.birth].line,
    kept: values.kept ? numbersText(values.kept) : "",
    now: values.now ? numbersText(values.now) : "",
    ...(local ? { given: local.given, expected: local.expected } : {}),
    ...(leaf ? { leaf, grad: gradNameOf(leaf) } : {}),
  };
  const variant = local ? (leaf ? "leaf_values" : "values") : values.kept && values.now ? "contents" : undefined;
  return {
    variant,
    cause: change.step,
    chain: [
      [slot.birth, "saved", [slot.tensor, slot.node], {}, slot.key],
      memorySharingLink(facts, change, slot),
      [change.step, "written", [change.by, slot.storage], { x: writer ?? x }],
      [visit, "used", [slot.node], {}, slot.key],
    ],
    names: [x, writer ?? undefined, leaf ?? undefined],
    facts: findingFacts,
    fixes: [["clone_before"], ["move_after_backward", { to: facts.steps[visit].line }]],
  };
}

/**
 * What a saved slot held as it was saved, or as it last was before the step `change`; and what backward finds there at
 * the step `visit`.
 */
function savedAndCurrentCells(facts: RunFacts, slot: SavedSlot, change: number, visit: number) {
  const saved = facts.node(slot.node, change)?.saved?.[slot.slot];
  const cells = (step: number) => (saved ? cellsReadBy(facts.stateAt(step), saved) : null);
  return { kept: cells(Math.max(change - 1, slot.birth)), now: cells(visit - 1) };
}

function savedNameFact(facts: RunFacts, slot: SavedSlot, step: number) {
  if (slot.tensor && facts.nameText(slot.tensor, step)) return facts.nameFact(slot.tensor, step);
  const outputs = facts.index.outputsOfNode(slot.node, step);
  const handles = [...outputs, ...facts.index.handlesOfStorage(slot.storage, step)];
  const namedHandle = handles.find(
    (uid) => findHandle(facts.stateAt(step), uid)?.storage === slot.storage && facts.nameText(uid, step),
  );
  return facts.nameFact(namedHandle ?? slot.tensor ?? outputs[0], step);
}

function writerName(facts: RunFacts, change: SilentChange, slot: SavedSlot) {
  if (!change.by || change.by === slot.tensor) return null;
  return facts.nameText(change.by, change.step) ? facts.nameFact(change.by, change.step) : null;
}

/** The step at which the memory came to be shared with what was written. */
function memorySharingLink(facts: RunFacts, change: SilentChange, slot: SavedSlot): Link | null {
  const birth = facts.birthStep(change.by);
  if (!change.by || change.by === slot.tensor || birth < 0 || birth === change.step || birth < slot.birth) return null;
  return [birth, "shares", [change.by, slot.storage], { y: facts.nameFact(change.by, birth) }];
}
