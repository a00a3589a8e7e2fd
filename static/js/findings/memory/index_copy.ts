/**
 * A write into the copy that an advanced index made, which is lost; and elements that one write means several times.
 */

import { diagnosis, gradNameOf, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, EventOccurrence, RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

const KIND = { kind: "index_copy", severity: "warning", lookedFor: "sharing" } as const;

export const FINDINGS = [
  diagnosis({ ...KIND, of: (facts) => facts.eventsOfKind("index_copy_written"), say: lostWrite }),
  diagnosis({
    ...KIND,
    of: (facts) => groupBy(facts.eventsOfKind("indices_repeated"), ({ step }) => facts.lineOf(step)),
    say: (facts, [event]) => repeatedIndex(facts, event),
  }),
];

function lostWrite(facts: RunFacts, event: EventOccurrence<"index_copy_written">): Diagnosis {
  const { step, copy } = event;
  const tensor = facts.namedViewSource(event.tensor, step);
  const x = facts.nameFact(tensor, step);
  const place = facts.place(step);
  const op = operationName(facts.producingOperation(copy)?.name ?? "");
  return {
    variant: op === "index" ? "lost" : "lost_op",
    cause: place,
    chain: [
      [facts.birthStep(tensor), "made", [tensor]],
      [place, "written", [copy], { code: facts.statementFact(step) }],
    ],
    facts: { x, name: nameTextOfFact(x), op, code: facts.statementFact(step) },
    fixes: [["assign_through_index"]],
  };
}

/** Null where the write says the same of an element each time. */
function repeatedIndex(facts: RunFacts, event: EventOccurrence<"indices_repeated">): Diagnosis | null {
  const { step, tensor, count, distinct } = event;
  const op = facts.operationOfEvent(event);
  const value = op?.inputs.at(-1);
  const isRead = facts
    .opsAt(step)
    .some((other) => other.at < event.at && /^aten::index(\.|$)/.test(other.name) && other.inputs[0] === tensor);
  const hasGradient = facts.tensor(value, step)?.requires_grad ?? false;
  const isScalar = value ? (facts.handle(value, step)?.shape ?? []).length === 0 : true;
  if (!isRead && isScalar) return null;
  const written = op && /^aten::scatter\./.test(op.name) ? op.outputs[0] : tensor;
  const x = facts.nameFact(written, step);
  const y = facts.nameFact(value, step);
  const place = facts.place(step);
  return {
    variant: isRead ? "repeated" : hasGradient ? "gradient" : "overwritten",
    severity: isRead || hasGradient ? "warning" : "note",
    cause: place,
    chain: [
      [facts.birthStep(tensor), "made", [tensor]],
      [place, "written", [tensor], { code: facts.statementFact(step) }],
    ],
    names: [x, ...(hasGradient ? [y] : [])],
    facts: { x, y, grad: gradNameOf(y), count, distinct, code: facts.statementFact(step) },
    fixes: [["accumulate"]],
  };
}
