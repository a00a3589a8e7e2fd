/** A `view` or `reshape` to the same sizes in another order, where a transpose is meant: no element moves. */

import { byLine, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { calleeName, callsIn, isTorchMember, receiver } from "../../syntax/expressions.ts";
import { childOf } from "../../syntax/tree.ts";
import type { Operation } from "../facts/scan.ts";

export const FINDINGS = [
  diagnosis({
    kind: "view_swaps_axes",
    severity: "note",
    of: (facts) => groupBy(viewsOfProgram(facts), ({ step }) => facts.steps[step].line),
    say: (facts, [op]) => swappedAxes(facts, op),
  }),
  diagnosis({ kind: "view_swaps_axes", severity: "warning", of: viewsOfFinalStates, once: byLine, say: mixedSamples }),
];

const VIEW = /^(?:view|reshape|_unsafe_view)$/;
const RECURRENT = /^(?:lstm|gru|rnn_tanh|rnn_relu)$/;

function viewsOfProgram(facts: RunFacts): Operation[] {
  return facts.scan
    .operationsNamed(VIEW)
    .filter(({ step }) => !facts.steps[step].visit && viewNameAt(facts, step) !== null);
}

/** What a step's statement calls to view a tensor in another shape, the innermost such call; null where it has none. */
function viewNameAt(facts: RunFacts, step: number) {
  const call = callsIn(facts.syntax(step)).findLast(
    (each) =>
      ["view", "reshape"].includes(calleeName(each)) &&
      (receiver(each) !== null || isTorchMember(childOf(each, "func"))),
  );
  return call ? calleeName(call) : null;
}

function swappedAxes(facts: RunFacts, op: Operation): Diagnosis | null {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  const [sizes, swapped] = [from, to].map((shape) => shape.filter((size) => size > 1));
  if (sizes.length < 2 || String(sizes) === String(swapped)) return null;
  if (String([...sizes].sort((a, b) => a - b)) !== String([...swapped].sort((a, b) => a - b))) return null;
  const order = axesInOrder(from, to);
  return {
    ...viewDiagnosis(facts, op, from, to),
    fixes: order ? [["swap_axes", { order: order.join(", ") }]] : [],
  };
}

/** The axes of the first shape in the order that gives the second one; null where there is none, or more than one. */
function axesInOrder(from: number[], to: number[]): number[] | null {
  const order = to.map((size) => from.indexOf(size));
  const isOrder = from.length === to.length && new Set(order).size === from.length && !order.includes(-1);
  return isOrder ? order : null;
}

/** Views of what a recurrent layer gives last. */
function viewsOfFinalStates(facts: RunFacts): Operation[] {
  const states = new Set(facts.scan.operationsNamed(RECURRENT).flatMap(({ outputs }) => outputs.slice(1)));
  const isOfState = ({ step, inputs }: Operation) => !facts.steps[step].visit && states.has(inputs[0]);
  return states.size ? facts.scan.operationsNamed(VIEW).filter(isOfState) : [];
}

/**
 * A `view` of a recurrent layer's final states, the batch in the middle, to rows of as many: each row is of several
 * samples.
 */
function mixedSamples(facts: RunFacts, op: Operation): Diagnosis | null {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  if (from.length !== 3 || from[0] < 2 || from[1] < 2 || to[0] !== from[1] || to.length < 2) return null;
  return String(to) === String(from)
    ? null
    : { ...viewDiagnosis(facts, op, from, to), variant: "final_states", fixes: [["batch_in_front"]] };
}

function viewDiagnosis(facts: RunFacts, op: Operation, from: number[], to: number[]): Diagnosis {
  const x = facts.nameFact(op.inputs[0], op.step);
  const call = codeFact(viewNameAt(facts, op.step) ?? "reshape");
  const [before, after] = [from, to].map((shape) => codeFact(`(${shape.join(", ")})`));
  return {
    cause: op.step,
    chain: [[op.step, "used", [op.inputs[0], op.outputs[0]]]],
    names: [x, call],
    facts: { x, call, n: from[1], from: before, to: after },
  };
}
