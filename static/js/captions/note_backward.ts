/** Notes on backward: a visit of a node, a gradient that arrived in a `.grad`, what a hook made of one, and its end. */

import { findEntity, findHandle } from "../trace/entities.ts";
import { firstVisitStepOfStatement } from "../trace/steps/backward_statement.ts";
import { numel } from "../trace/reads.ts";
import { elementsText, numberText, valueText } from "./note_arguments.ts";
import type { Cell } from "../trace/entities.ts";
import type { Visit } from "../trace/wire.ts";
import type { CaptionNote, CaptionArgument, CaptionContext } from "./note.ts";

export function backwardVisitNotes(context: CaptionContext): CaptionNote[] {
  const { visit } = context.step;
  if (!visit) return [];
  const node = context.node(visit.node);
  if (visit.failed) return [{ key: "visit_failed", args: { node }, tone: "bad" }];
  if (visit.accumulates) return [noteOfArrival(context, visit, visit.accumulates)];
  const { count, targets } = gradientTargets(visit, context);
  if (!count) return [{ key: "visit_end", args: { node } }];
  if (targets.length === 1)
    return [{ key: count > 1 ? "visit_same" : "visit", args: { node, n: count, targets: targets[0] } }];
  return [{ key: count === targets.length ? "visit_each" : "visit_some", args: { node, n: count, targets } }];
}

/** What the gradients of a visit go to, each once: leaves by their tensors' names. */
function gradientTargets(visit: Visit, { entities, named, node }: CaptionContext) {
  const next = findEntity(entities, visit.node, "node")?.next ?? [];
  const targets = new Map<string, CaptionArgument>();
  let count = 0;
  for (const [k, gradient] of (visit.grad_inputs ?? []).entries()) {
    const to = gradient ? next[k]?.[0] : null;
    if (!to) continue;
    count += 1;
    const leaf = findEntity(entities, to, "node")?.variable;
    targets.set(to, leaf ? named(leaf) : node(to));
  }
  return { count, targets: [...targets.values()] };
}

/** A gradient that came to a leaf. */
function noteOfArrival(context: CaptionContext, visit: Visit, leaf: string): CaptionNote {
  const { entities, before, pathOf } = context;
  const [old, now] = [findEntity(before, leaf, "tensor")?.grad, findEntity(entities, leaf, "tensor")?.grad];
  const path = pathOf(leaf);
  if (!path) return { key: old ? "grad_added_unnamed" : "grad_first_unnamed", args: {} };
  const grad = { name: `${path}.grad` };
  if (!hasArrived(visit, context)) return { key: "grad_not_added", args: { grad } };
  if (!now) return { key: "grad_taken", args: { grad } };
  const value = valueText(entities, now);
  const n = numel(findHandle(entities, now)?.shape);
  if (!old) return value ? { key: "grad_first", args: { grad, value } } : { key: "grad_first_many", args: { grad, n } };
  const valueBefore = valueText(before, old);
  const sum = sumText(valueBefore, visit, value);
  if (sum) return { key: "grad_added_sum", args: { grad, sum, value } };
  return value && valueBefore
    ? { key: "grad_added", args: { grad, before: valueBefore, value } }
    : { key: "grad_added_many", args: { grad, n } };
}

/**
 * Whether a visit of a leaf puts a gradient into its `.grad`: none comes where a function returned None, and a leaf
 * that was frozen meanwhile takes none.
 */
function hasArrived(visit: Visit, { entities }: Pick<CaptionContext, "entities">) {
  return Boolean(visit.grad_outputs[0] && findEntity(entities, visit.accumulates, "tensor")?.requires_grad);
}

/** `2 + 1.6`, where a gradient of one number was added as it came. */
function sumText(valueBefore: string | null, visit: Visit, value: string | null) {
  const cells = visit.grad_outputs[0]?.cells;
  if (cells?.length !== 1 || visit.grad_outputs.length !== 1) return null;
  const [was, came, is] = [Number(withoutBrackets(valueBefore)), cells[0], Number(withoutBrackets(value))];
  if (typeof came !== "number" || !(Math.abs(was + came - is) <= 1e-4 * Math.max(1, Math.abs(is)))) return null;
  return `${withoutBrackets(valueBefore)} + ${numberText(came as Cell)}`.replace(/\+ −/, "− ");
}

/** The number in a text of one. */
function withoutBrackets(text: string | null) {
  return (text ?? "").replace(/[[\]]/g, "").replace("−", "-");
}

/** A gradient that arrives as another one than was sent, at a node whose tensor has hooks. Only where one edge leads
 * there and what went along it is in the trace: a sum that is not whole would look like a change. */
export function gradientHookNotes({ opened, step: { visit }, index: i, before, named }: CaptionContext): CaptionNote[] {
  if (!visit) return [];
  const { index, trace } = opened;
  const variable = findEntity(before, visit.node, "node")?.variable;
  const handles = index.outputsOfNode(visit.node, i - 1);
  if (variable && !handles.includes(variable)) handles.push(variable);
  const tensorUid = index.sortUidsByAppearance(handles).find((uid) => findEntity(before, uid, "tensor")?.hooks);
  const edges = tensorUid ? index.edgesLeadingTo(visit.node, i - 1) : [];
  if (!tensorUid || edges.length !== 1) return [];
  const [{ node, edge }] = edges;
  const sender = trace.steps[index.lastVisitBefore(visit.backward, node, i)]?.visit;
  const sent = elementsText(sender?.grad_inputs[edge]?.cells);
  const input = findEntity(before, node, "node")?.next?.[edge]?.[1] ?? 0;
  const received = elementsText(visit.grad_outputs[input]?.cells);
  if (!sent || !received || sent === received) return [];
  return [{ key: "hooked", args: { tensor: named(tensorUid), from: sent, to: received } }];
}

/** The statement that ran a backward, after its visits. */
export function backwardEndNotes({ opened, step, index: i, pathOf, entities }: CaptionContext): CaptionNote[] {
  const { steps } = opened.trace;
  const first = firstVisitStepOfStatement(steps, i);
  if (first === null) return [];
  const leaves = new Set<string>();
  let isInPart = Boolean(step.skipped);
  const ran = steps.slice(first, i);
  // a backward within a hook runs nodes of the one around it
  const own = new Set(ran.flatMap(({ visit, frame }) => (visit && frame === step.frame ? [visit.backward] : [])));
  for (const { visit, skipped, i: at } of ran) {
    if (!visit || !own.has(visit.backward)) continue;
    isInPart ||= Boolean(skipped);
    const isGone = !findEntity(entities, visit.accumulates, "tensor"); // of a module without a name
    if (visit.accumulates && hasArrived(visit, { entities: isGone ? opened.state(at) : entities }))
      leaves.add(visit.accumulates);
  }
  if (isInPart) return [{ key: "backward_in_part", args: {} }];
  const named = [...leaves].flatMap((leaf) => {
    const path = pathOf(leaf);
    return path ? [{ name: `${path}.grad` }] : [];
  });
  if (!leaves.size) return [{ key: "backward_done", args: {} }];
  const isAdded = [...leaves].every((leaf) => findEntity(opened.state(first - 1), leaf, "tensor")?.grad);
  return named.length === leaves.size
    ? [{ key: isAdded ? "backward_added" : "backward_reached", args: { n: leaves.size, grads: named } }]
    : [{ key: "backward_reached_count", args: { n: leaves.size } }];
}
