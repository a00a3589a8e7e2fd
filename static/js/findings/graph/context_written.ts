/**
 * A tensor that a custom function kept as an attribute of its `ctx`, and that was written before its backward read it.
 */

import { diagnosis, nameTextOfFact, type Diagnosis, type EventOccurrence, type RunFacts } from "../diagnosis.ts";
import { customFunctionName, forwardCall } from "../facts/custom_function_call.ts";

export const FINDINGS = [
  diagnosis({
    kind: "wrong_gradient",
    severity: "warning",
    lookedFor: "writes",
    of: (facts) => facts.eventsOfKind("context_kept"),
    say: (facts, kept) => {
      const found = findWriteBeforeUse(facts, kept);
      return found && diagnosisOf(facts, kept, found);
    },
  }),
];

type TensorKeptOnContext = EventOccurrence<"context_kept">;

/** The last write between forward and the visit whose backward reads the tensor, and the step that reads it. */
function findWriteBeforeUse(facts: RunFacts, { node, tensor, step }: TensorKeptOnContext) {
  const { end = step } = forwardCall(facts, node, facts.birthStep(node)) ?? {};
  const visit = facts.visitsOf(node).find((visitStep) => visitStep > end);
  if (visit === undefined || facts.steps[visit].visit?.failed) return null;
  const { depth } = facts.steps[visit];
  const backwardStart = facts.steps.findLastIndex((row, i) => i < visit && row.depth <= depth);
  const read = facts.usesOf(tensor).find((op) => op.step > Math.max(end, backwardStart) && op.step <= visit);
  const write =
    read &&
    facts
      .writesOf(facts.handle(tensor, step)?.storage)
      .findLast((event) => event.step > end && event.step < read.step && (event.changed ?? 1) > 0);
  return write ? { write, used: read.step } : null;
}

function diagnosisOf(
  facts: RunFacts,
  { node, tensor, name, step }: TensorKeptOnContext,
  { write, used: readStep }: NonNullable<ReturnType<typeof findWriteBeforeUse>>,
): Diagnosis {
  const x = facts.nameFact(tensor, write.step);
  const findingFacts = {
    x,
    attribute: { code: `ctx.${name}` },
    function: customFunctionName(facts, node),
    saved: facts.steps[step].line,
  };
  return {
    variant: "context",
    cause: write.step,
    chain: [
      [step, "kept", [tensor, node], { x: facts.nameFact(tensor, step) }],
      [write.step, "written", [write.by, tensor]],
      [readStep, "read", [tensor, node]],
    ],
    names: [x, findingFacts.attribute],
    facts: findingFacts,
    fixes: [
      ["clone_before", { name: nameTextOfFact(x) }],
      ["out_of_place", { name: nameTextOfFact(x) }],
    ],
  };
}
