/**
 * Backward stopped at a saved tensor that was detached in place: its numbers are there, its place in the graph is not.
 */

import { declareErrorDiagnosis, nameTextOfFact } from "../diagnosis.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "saved_detached",
    message: /detached in-place/,
    say: (facts) => {
      const { step: failed, node } = facts.failedVisit ?? { step: -1, node: "" };
      const event = facts.eventsOfKind("saved_detached").find((each) => each.node === node && each.step <= failed);
      const slot = facts.slotsOfNode(node).find((each) => each.slot === event?.slot);
      if (!event || !slot) return null;
      const { step, by } = event;
      const x = facts.nameFact(by ?? slot.tensor, step);
      return {
        cause: step,
        chain: [
          [slot.birth, "saved", [slot.node, slot.tensor], {}, slot.key],
          [step, "cut", [by]],
          [failed, "checked", [slot.node], {}, slot.key],
        ],
        facts: { x, op: facts.nodeOperationName(node), saved_line: facts.lineOf(slot.birth) },
        fixes: [["out_of_place", { name: nameTextOfFact(x) }], ["remove_line"]],
      };
    },
  }),
];
