/**
 * Backward stopped at a saved tensor that was detached in place: its numbers are there, its place in the graph is not.
 */

import { fixHint, chainLink, nameTextOfFact, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

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
  const findingFacts = {
    x,
    op: facts.nodeOperationName(failed.node),
    code: facts.statementFact(step),
    saved_line: facts.lineOf(slot.birth),
  };
  return [
    {
      cause: facts.place(step),
      chain: [
        chainLink(facts.place(slot.birth), "saved", findingFacts, [slot.node, slot.tensor], slot.key),
        chainLink(facts.place(step), "cut", findingFacts, [detachEvent.by]),
        chainLink(facts.place(failed.step), "checked", findingFacts, [slot.node], slot.key),
      ],
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [
        fixHint("out_of_place", facts.place(step), { name: nameTextOfFact(x) }),
        fixHint("remove_line", facts.place(step)),
      ],
      explainsError: true,
    },
  ];
}
