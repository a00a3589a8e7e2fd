/** Backward stopped at a saved tensor that was detached in place: its numbers are there, its place in the graph is not. */

import { fix, link, nameOf, namesOf, type Diagnosis } from "./finding.ts";
import type { RunFacts } from "./run_facts.ts";

export function savedDetached(facts: RunFacts): Diagnosis[] {
  const failed = facts.failedVisit;
  if (!failed || !/detached in-place/.test(facts.error?.message ?? "")) return [];
  const detachEvent = facts
    .events("saved_detached")
    .find((event) => event.node === failed.node && event.step <= failed.step);
  const slot = facts.slotsOfNode(failed.node).find((each) => each.slot === detachEvent?.slot);
  if (!detachEvent || !slot) return [];
  const { step } = detachEvent;
  const x = facts.nameFact(detachEvent.by ?? slot.tensor, step);
  const findingFacts = {
    x,
    op: facts.operation(failed.node),
    code: facts.codeFact(step),
    saved_line: facts.lineOf(slot.birth),
  };
  return [
    {
      cause: facts.place(step),
      chain: [
        link(facts.place(slot.birth), "saved", findingFacts, [slot.node, slot.tensor], slot.key),
        link(facts.place(step), "cut", findingFacts, [detachEvent.by]),
        link(facts.place(failed.step), "checked", findingFacts, [slot.node], slot.key),
      ],
      names: namesOf(x),
      facts: findingFacts,
      fixes: [fix("out_of_place", facts.place(step), { name: nameOf(x) }), fix("remove_line", facts.place(step))],
      explainsError: true,
    },
  ];
}
