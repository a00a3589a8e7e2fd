/**
 * A Function of the program whose backward is not the derivative of its forward: measured at that one node, after the
 * run.
 */

import { codeFact, diagnosis, gradNameOf, phrase } from "../diagnosis.ts";
import type { Diagnosis, EventOccurrence, RunFacts } from "../diagnosis.ts";
import { shortNumberText } from "../../trace/format.ts";
import { gradientValuesFact } from "./gradient_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "backward_not_derivative",
    severity: "warning",
    of: (facts) => facts.eventsOfKind("function_checked"),
    say: (facts, event) => {
      const node = visitedNode(facts, event);
      return node && diagnosisOf(facts, event, node);
    },
  }),
];

const SIGNIFICANT_CHARACTERS = 7;

/** The node of a Function that a backward ran, of one that made a graph where its second derivative is meant. */
function visitedNode(
  facts: RunFacts,
  event: EventOccurrence<"function_checked">,
): { uid: string; visit: number } | null {
  const graphs = new Set(facts.backwardCalls.flatMap(({ uid, createsGraph }) => (createsGraph ? [uid] : [])));
  for (const [uid, { name }] of facts.index.nodes) {
    if (name.replace(/^.*::/, "") !== `${event.function}Backward`) continue;
    const visit = facts
      .visitsOf(uid)
      .find((step) => event.order === 1 || graphs.has(facts.steps[step].visit?.backward ?? ""));
    if (visit !== undefined) return { uid, visit };
  }
  return null;
}

function diagnosisOf(
  facts: RunFacts,
  event: EventOccurrence<"function_checked">,
  { uid, visit }: { uid: string; visit: number },
): Diagnosis {
  const cause = returnOfBackward(facts, visit) ?? facts.birthStep(uid);
  const { grad_outputs: given = [], grad_inputs: sent = [] } = facts.steps[visit].visit ?? {};
  const leaf = facts.eventsOfKind("grad_accumulated").find(({ step }) => step > visit);
  const x = leaf ? facts.nameFact(leaf.tensor, leaf.step) : null;
  const number = (value: number) => shortNumberText(Number(value.toPrecision(4)), SIGNIFICANT_CHARACTERS);
  const findingFacts = {
    function: codeFact(`${event.function}.backward`),
    forward: codeFact(`${event.function}.forward`),
    incoming: number(event.incoming),
    got: number(event.got),
    wanted: number(event.wanted),
    element: event.element,
    argument: argumentOfBackward(facts, cause),
    given: gradientValuesFact(given.find(Boolean)),
    sent: gradientValuesFact(sent[event.argument] ?? sent.find(Boolean)),
    code: facts.statementFact(cause),
  };
  return {
    variant: event.order === 2 ? "second" : event.ignores_incoming ? "ignores_incoming" : "slope",
    cause,
    chain: [
      [facts.birthStep(uid), "made", [uid]],
      [cause, "checked", [uid]],
      leaf && [
        leaf.step,
        "gradient",
        [leaf.tensor, leaf.grad],
        { grad: gradNameOf(facts.nameFact(leaf.tensor, leaf.step)) },
      ],
    ],
    names: [codeFact(event.function), findingFacts.argument, ...(x ? [x] : [])],
    facts: { ...findingFacts, grad: x ? gradNameOf(x) : codeFact(".grad") },
    fixes: event.ignores_incoming ? [["times_incoming"]] : [],
  };
}

/** What a Function's `backward` calls the gradient that comes in. */
function argumentOfBackward(facts: RunFacts, returned: number) {
  const name = Object.keys(facts.scan.initialFields(facts.steps[returned].frame)?.vars ?? {})[1];
  return name ? codeFact(name) : phrase("finding.backward_not_derivative.argument");
}

/** The step in which a Function's `backward` returned, during the visit of its node. */
function returnOfBackward(facts: RunFacts, visit: number): number | null {
  for (let i = visit; i >= Math.max(0, visit - 200); i--) {
    const { kind, frame } = facts.steps[i];
    if (i < visit && kind === "visit") return null;
    if (kind === "return" && facts.scan.initialFields(frame)?.name === "backward") return i;
  }
  return null;
}
