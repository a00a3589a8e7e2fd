/**
 * Backward stopped at a saved tensor that was detached in place: its numbers are there, its place in the graph is not.
 */

import { nameTextOfFact, type Diagnosis, type DiagnosisRow, type RunFacts } from "../diagnosis.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "saved_detached", severity: "error", diagnose: diagnoseSavedTensorDetached, onError: true },
];

function diagnoseSavedTensorDetached(facts: RunFacts): Diagnosis[] {
  const failed = facts.failedVisit;
  if (!failed || !/detached in-place/.test(facts.error?.message ?? "")) return [];
  const detachEvent = facts
    .eventsOfKind("saved_detached")
    .find((event) => event.node === failed.node && event.step <= failed.step);
  const slot = facts.slotsOfNode(failed.node).find((each) => each.slot === detachEvent?.slot);
  if (!detachEvent || !slot) return [];
  const { step } = detachEvent;
  const x = facts.nameFact(detachEvent.by ?? slot.tensor, step);
  return [
    {
      cause: step,
      chain: [
        [slot.birth, "saved", [slot.node, slot.tensor], {}, slot.key],
        [step, "cut", [detachEvent.by]],
        [failed.step, "checked", [slot.node], {}, slot.key],
      ],
      facts: { x, op: facts.nodeOperationName(failed.node), saved_line: facts.lineOf(slot.birth) },
      fixes: [["out_of_place", { name: nameTextOfFact(x) }], ["remove_line"]],
      explainsError: true,
    },
  ];
}
