/** A `view` or `reshape` to the same sizes in another order, where a transpose is meant: no element moves. */

import type { Diagnosis, DiagnosisRow } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { codeFact } from "../finding.ts";
import { calleeName, callsIn, isTorchMember, receiver } from "../../syntax/expressions.ts";
import { childOf } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Operation } from "../facts/scan.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "view_swaps_axes", severity: "note", diagnose: diagnoseViewThatSwapsAxes },
  { kind: "view_swaps_axes", severity: "warning", diagnose: diagnoseViewOfFinalStates },
];

const VIEW = /^(?:view|reshape|_unsafe_view)$/;
const RECURRENT = /^(?:lstm|gru|rnn_tanh|rnn_relu)$/;

function diagnoseViewThatSwapsAxes(facts: RunFacts): Diagnosis[] {
  /** by line */
  const byLine = new Map<number, Operation[]>();
  for (const op of facts.scan.operationsNamed(VIEW)) {
    const { line, visit } = facts.steps[op.step];
    if (!visit && viewNameAt(facts, op.step)) addToList(byLine, line, op);
  }
  return [...byLine.values()].flatMap(([op]) => diagnosisOf(facts, op) ?? []);
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

function diagnosisOf(facts: RunFacts, op: Operation): Diagnosis | null {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  const [sizes, swapped] = [from, to].map((shape) => shape.filter((size) => size > 1));
  if (sizes.length < 2 || String(sizes) === String(swapped)) return null;
  if (String([...sizes].sort((a, b) => a - b)) !== String([...swapped].sort((a, b) => a - b))) return null;
  const order = axesInOrder(from, to);
  const x = facts.nameFact(op.inputs[0], op.step);
  const call = codeFact(viewNameAt(facts, op.step) ?? "reshape");
  return {
    cause: op.step,
    chain: [[op.step, "used", [op.inputs[0], op.outputs[0]]]],
    names: [x, call],
    facts: {
      x,
      call,
      from: codeFact(`(${from.join(", ")})`),
      to: codeFact(`(${to.join(", ")})`),
    },
    fixes: order ? [["swap_axes", { order: order.join(", ") }]] : [],
  };
}

/** The axes of the first shape in the order that gives the second one; null where there is none, or more than one. */
function axesInOrder(from: number[], to: number[]): number[] | null {
  const order = to.map((size) => from.indexOf(size));
  const isOrder = from.length === to.length && new Set(order).size === from.length && !order.includes(-1);
  return isOrder ? order : null;
}

/**
 * A `view` of a recurrent layer's final states, the batch in the middle, to rows of as many: each row is of several
 * samples.
 */
function diagnoseViewOfFinalStates(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  const states = new Set(facts.scan.operationsNamed(RECURRENT).flatMap(({ outputs }) => outputs.slice(1)));
  if (!states.size) return [];
  for (const op of facts.scan.operationsNamed(VIEW)) {
    const { line, visit } = facts.steps[op.step];
    if (visit || out.has(line) || !states.has(op.inputs[0])) continue;
    const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
    if (from.length !== 3 || from[0] < 2 || from[1] < 2 || to[0] !== from[1] || to.length < 2) continue;
    if (String(to) === String(from)) continue;
    const x = facts.nameFact(op.inputs[0], op.step);
    const call = codeFact(viewNameAt(facts, op.step) ?? "reshape");
    out.set(line, {
      variant: "final_states",
      severity: "warning",
      cause: op.step,
      chain: [[op.step, "used", [op.inputs[0], op.outputs[0]]]],
      names: [x, call],
      facts: {
        x,
        call,
        n: from[1],
        from: codeFact(`(${from.join(", ")})`),
        to: codeFact(`(${to.join(", ")})`),
      },
      fixes: [["batch_in_front"]],
    });
  }
  return [...out.values()];
}
