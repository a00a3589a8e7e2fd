/**
 * A `view` or `reshape` where a transpose is meant: no element moves, and what reads the result takes parts of several
 * rows for one.
 */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Fix, Operation, RunFacts } from "../diagnosis.ts";
import { axesOf, isKnown, isParameterAxis, sizeOfAxis, originFactorsOf, type AxisUse } from "../facts/axes.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { calleeName, callsIn, isTorchMember, receiver } from "../../syntax/expressions.ts";
import { childOf } from "../../syntax/tree.ts";
import { moduleCallsOf } from "../../trace/module_calls.ts";

/** a view that mixed axes, and what takes a mixed one for its own; n: the size of the axis that was meant */
interface AxisMixing {
  op: Operation;
  use: AxisUse;
  n: number;
  isOfStates: boolean;
}

const VIEW = /^(?:view|reshape|_unsafe_view)$/;

export const FINDINGS = [
  diagnosis({
    kind: "view_swaps_axes",
    severity: "warning",
    of: (facts) => mixingsOf(facts),
    // queries, keys and values that are viewed alike are told once
    once: ({ op, use }, facts) => (use.as === "summed" ? shapesOf(facts, op).join(" to ") : facts.steps[op.step].line),
    say: (facts, { op, use, n, isOfStates }) => {
      const findingFacts = {
        ...factsOfView(facts, op),
        n,
        read: facts.place(use.op.step).line,
        reader: operationName(use.op.name).replace(/_nd$/, ""),
      };
      return {
        variant: isOfStates ? "final_states" : `mixed_${use.as}`,
        cause: op.step,
        chain: [
          [op.step, "used", [op.inputs[0], op.outputs[0]]],
          use.op.step > op.step && [use.op.step, "read", [use.uid]],
        ],
        names: [findingFacts.x],
        facts: findingFacts,
        fixes: isOfStates ? [["batch_in_front"]] : swapFixes(facts, op),
      };
    },
  }),
  diagnosis({
    kind: "view_swaps_axes",
    severity: "note",
    of: (facts) => {
      const mixed = new Set(mixingsOf(facts).map(({ op }) => facts.steps[op.step].line));
      const isOther = ({ step }: Operation) => !facts.steps[step].visit && !mixed.has(facts.steps[step].line);
      return facts.scan.operationsNamed(VIEW).filter((op) => isOther(op) && viewMethodName(facts, op));
    },
    once: statementOfCandidate,
    /** A view to the same sizes in another order, whatever operation reads it. */
    say: (facts, op) => {
      const [sizes, swapped] = shapesOf(facts, op).map((shape) => shape.filter((size) => size > 1));
      if (sizes.length < 2 || String(sizes) === String(swapped)) return null;
      if (String([...sizes].sort((a, b) => a - b)) !== String([...swapped].sort((a, b) => a - b))) return null;
      if (!facts.usesOf(op.outputs[0]).length) return null;
      const findingFacts = factsOfView(facts, op);
      return {
        cause: op.step,
        chain: [[op.step, "used", [op.inputs[0], op.outputs[0]]]],
        names: [findingFacts.x],
        facts: findingFacts,
        fixes: swapFixes(facts, op),
      };
    },
  }),
];

/**
 * What the statement of a view calls to make it, the innermost such call; null where it has none, or where the view is
 * a layer's whose lines are no steps.
 */
function viewMethodName(facts: RunFacts, { step, call: moduleCall }: Operation) {
  if (moduleCallsOf(facts.opened).calls.get(moduleCall ?? -1)?.begins === step) return null;
  const call = callsIn(facts.syntax(step)).findLast(
    (each) =>
      /^(?:view|reshape|flatten|unflatten)$/.test(calleeName(each)) &&
      (receiver(each) !== null || isTorchMember(childOf(each, "func"))),
  );
  return call ? calleeName(call) : null;
}

function shapesOf(facts: RunFacts, op: Operation) {
  return [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
}

/** What is said of every view: whose tensor, and which sizes. */
function factsOfView(facts: RunFacts, op: Operation) {
  const [from, to] = shapesOf(facts, op).map((shape) => codeFact(`(${shape.join(", ")})`));
  const call = viewMethodName(facts, op) ?? operationName(op.name);
  return { x: facts.nameFact(op.inputs[0], op.step), call, from, to };
}

function swapFixes(facts: RunFacts, op: Operation): Fix[] {
  const [from, to] = shapesOf(facts, op);
  const order = axesInOrder(from, to);
  return order ? [["swap_axes", { order: order.join(", ") }]] : [];
}

/** The axes of the first shape in the order that gives the second one; null where there is none, or more than one. */
function axesInOrder(from: number[], to: number[]): number[] | null {
  const order = to.map((size) => from.indexOf(size));
  const isOrder = from.length === to.length && new Set(order).size === from.length && !order.includes(-1);
  return isOrder ? order : null;
}

/**
 * The views after which an axis of several origins stands where one of a layer stood, with what reads it as that:
 * features, classes, steps, positions.
 */
const mixingsOf = memoizePerRun((facts: RunFacts): AxisMixing[] => {
  const axes = axesOf(facts);
  const found = axes.uses.flatMap((use) => {
    const { op, meant } = axes.displaced.get(use.axis) ?? {};
    if (!op || !meant || use.as === "rows" || !isKnown(use.axis) || isParameterAxis(use.axis)) return [];
    const cut = axes.of(op.outputs[0]).filter((axis) => axes.displaced.has(axis));
    const kinds = new Set(
      cut
        .flat()
        .flatMap(originFactorsOf)
        .map(({ kind }) => kind),
    );
    const isOfStates = kinds.has("layers");
    const isOfLayer = isOfStates || kinds.has("parameter");
    if (!isOfLayer || kinds.has("unknown") || !viewMethodName(facts, op)) return [];
    return [{ op, use, n: sizeOfAxis(meant), isOfStates }];
  });
  const lines = new Set(found.flatMap(({ op, use }) => (use.as === "summed" ? [] : facts.steps[op.step].line)));
  return found.filter(({ op, use }) => use.as !== "summed" || !lines.has(facts.steps[op.step].line));
});
