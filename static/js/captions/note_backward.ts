/** Notes on a visit of a backward: the node that ran, the gradient that it added, and what a hook made of one. */

import { findEntity } from "../trace/entities.ts";
import { elementsText, listFirstFew, tensorText } from "./note_texts.ts";
import type { Entities } from "../trace/state.ts";
import type { Visit } from "../trace/wire.ts";
import type { NoteContext, CaptionNote } from "./note.ts";

export function backwardVisitNotes({
  step: { visit },
  entities,
  before,
  nameOf,
  nodeName,
}: NoteContext): CaptionNote[] {
  if (!visit) return [];
  const nodeText = nodeName(visit.node);
  if (visit.failed) return [{ key: "visit_failed", args: { node: nodeText }, tone: "bad" }];
  if (!visit.accumulates) {
    const targets = listFirstFew(gradientTargetNames(visit, entities, nameOf, nodeName));
    return [
      targets ? { key: "visit", args: { node: nodeText, targets } } : { key: "visit_end", args: { node: nodeText } },
    ];
  }
  const key = findEntity(before, visit.accumulates, "tensor")?.grad ? "grad_added" : "grad_first";
  const value = tensorText(entities, findEntity(entities, visit.accumulates, "tensor")?.grad);
  return [{ key, args: { tensor: nameOf(visit.accumulates), value } }];
}

/** What the gradients of a visit go to, each once: leaves by their tensors' names. */
function gradientTargetNames(
  visit: Visit,
  entities: Entities,
  nameOf: NoteContext["nameOf"],
  nodeName: NoteContext["nodeName"],
) {
  const next = findEntity(entities, visit.node, "node")?.next ?? [];
  const names = (visit.grad_inputs ?? []).flatMap((grad, k) => {
    const to = grad ? next[k]?.[0] : null;
    if (!to) return [];
    const leafUid = findEntity(entities, to, "node")?.variable;
    return [leafUid ? nameOf(leafUid) : nodeName(to)];
  });
  return [...new Set(names)];
}

/** A gradient that arrives as another one than was sent, at a node whose tensor has hooks. Only where one edge leads
 * there and what went along it is in the trace: a sum that is not whole would look like a change. */
export function gradientHookNotes({ opened, step: { visit }, index: i, before, nameOf }: NoteContext): CaptionNote[] {
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
  return [{ key: "hooked", args: { tensor: nameOf(tensorUid), from: sent, to: received } }];
}
