/**
 * A `view` or `reshape` where a transpose is meant: no element moves, and what reads the result takes parts of several
 * rows for one.
 */

import { addToList } from "../../trace/multimap.ts";
import { axesOf, isKnown, isOfParameter, sizeOfAxis, wholesOf, type AxisUse } from "../facts/axes.ts";
import { operationName } from "../facts/operation_name.ts";
import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { calleeName, callsIn, isTorchMember, receiver } from "../../syntax/expressions.ts";
import { childOf } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Operation } from "../facts/scan.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "view_swaps_axes", severity: "note", diagnose: diagnoseViews }];

const VIEW = /^(?:view|reshape|_unsafe_view)$/;

function diagnoseViews(facts: RunFacts): Diagnosis[] {
  const mixed = mixingViews(facts);
  /** by line */
  const byLine = new Map<number, Operation[]>();
  for (const op of facts.scan.operationsNamed(VIEW)) {
    const { line, visit } = facts.steps[op.step];
    if (!visit && !mixed.has(line) && viewNameAt(facts, op.step)) addToList(byLine, line, op);
  }
  return [...mixed.values(), ...[...byLine.values()].flatMap(([op]) => swapOf(facts, op) ?? [])];
}

/** What a step's statement calls to view a tensor in another shape, the innermost such call; null where it has none. */
function viewNameAt(facts: RunFacts, step: number) {
  const call = callsIn(facts.syntax(step)).findLast(
    (each) =>
      /^(?:view|reshape|flatten|unflatten)$/.test(calleeName(each)) &&
      (receiver(each) !== null || isTorchMember(childOf(each, "func"))),
  );
  return call ? calleeName(call) : null;
}

/** What is said of every view: whose tensor, and which sizes. */
function factsOfView(facts: RunFacts, op: Operation) {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  return {
    x: facts.nameFact(op.inputs[0], op.step),
    call: codeFact(viewNameAt(facts, op.step) ?? operationName(op.name)),
    from: codeFact(`(${from.join(", ")})`),
    to: codeFact(`(${to.join(", ")})`),
    code: facts.statementFact(op.step),
  };
}

/** A view to the same sizes in another order, whatever reads it. */
function swapOf(facts: RunFacts, op: Operation): Diagnosis | null {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  const [sizes, swapped] = [from, to].map((shape) => shape.filter((size) => size > 1));
  if (sizes.length < 2 || String(sizes) === String(swapped)) return null;
  if (String([...sizes].sort((a, b) => a - b)) !== String([...swapped].sort((a, b) => a - b))) return null;
  const findingFacts = factsOfView(facts, op);
  return {
    cause: facts.place(op.step),
    chain: [chainLink(facts.place(op.step), "used", findingFacts, [op.inputs[0], op.outputs[0]])],
    names: namesInFacts(findingFacts.x, findingFacts.call),
    facts: findingFacts,
    fixes: swapFixes(facts, op),
  };
}

function swapFixes(facts: RunFacts, op: Operation) {
  const [from, to] = [op.inputs[0], op.outputs[0]].map((uid) => facts.handle(uid, op.step)?.shape ?? []);
  const order = axesInOrder(from, to);
  return order ? [fixHint("swap_axes", facts.place(op.step), { order: order.join(", ") })] : [];
}

/** The axes of the first shape in the order that gives the second one; null where there is none, or more than one. */
function axesInOrder(from: number[], to: number[]): number[] | null {
  const order = to.map((size) => from.indexOf(size));
  const isOrder = from.length === to.length && new Set(order).size === from.length && !order.includes(-1);
  return isOrder ? order : null;
}

/**
 * By line, the views after which an axis of several origins stands where one of a layer stood, and is read as that:
 * features, classes, positions.
 */
function mixingViews(facts: RunFacts): Map<number, Diagnosis> {
  const out = new Map<number, Diagnosis>();
  /** of queries, keys and values that are viewed alike the first is said */
  const seen = new Set<string>();
  const axes = axesOf(facts);
  for (const use of axes.uses) {
    const { op, meant } = axes.displaced.get(use.axis) ?? {};
    if (!op || !meant || use.as === "rows" || out.has(facts.steps[op.step].line)) continue;
    const kinds = new Set(
      axes
        .of(op.outputs[0])
        .filter((axis) => axes.displaced.has(axis))
        .flatMap((axis) => axis.flatMap(wholesOf))
        .map(({ kind }) => kind),
    );
    const isMixed = isKnown(use.axis) && !isOfParameter(use.axis) && (kinds.has("parameter") || kinds.has("layers"));
    if (!isMixed || kinds.has("unknown") || !viewNameAt(facts, op.step)) continue;
    const found = mixedDiagnosis(facts, op, sizeOfAxis(meant), use, kinds.has("layers"));
    const key = `${found.variant} ${JSON.stringify([found.facts.from, found.facts.to])}`;
    if (!seen.has(key)) out.set(found.cause.line, found);
    seen.add(key);
  }
  return out;
}

function mixedDiagnosis(facts: RunFacts, op: Operation, n: number, use: AxisUse, isOfStates: boolean): Diagnosis {
  const place = facts.place(op.step);
  const findingFacts = {
    ...factsOfView(facts, op),
    n,
    read: facts.place(use.op.step).line,
    reader: codeFact(operationName(use.op.name).replace(/_nd$/, "")),
  };
  const readFacts = { ...findingFacts, code: facts.statementFact(use.op.step) };
  return {
    variant: isOfStates ? "final_states" : `mixed_${use.as}`,
    severity: "warning",
    cause: place,
    chain: [
      chainLink(place, "used", findingFacts, [op.inputs[0], op.outputs[0]]),
      ...(use.op.step > op.step ? [chainLink(facts.place(use.op.step), "read", readFacts, [use.uid])] : []),
    ],
    names: namesInFacts(findingFacts.x, findingFacts.call),
    facts: findingFacts,
    fixes: isOfStates ? [fixHint("batch_in_front", place)] : swapFixes(facts, op),
  };
}
