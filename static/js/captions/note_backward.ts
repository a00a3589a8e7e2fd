/** Notes on a visit of a backward: the node that ran, the gradient that it added, and what a hook made of one. */

import { find } from "../trace/entities.ts";
import { elementsText, firstFew, tensorText } from "./note_texts.ts";
import type { Entities } from "../trace/state.ts";
import type { Visit } from "../trace/wire.ts";
import type { Context, Note } from "./note.ts";

export function visitNotes({ step: { visit }, entities, before, nameOf, nodeName }: Context): Note[] {
  if (!visit) return [];
  const nodeText = nodeName(visit.node);
  if (visit.failed) return [{ key: "visit_failed", args: { node: nodeText }, tone: "bad" }];
  if (!visit.accumulates) {
    const targets = firstFew(targetsOf(visit, entities, nameOf, nodeName));
    return [
      targets ? { key: "visit", args: { node: nodeText, targets } } : { key: "visit_end", args: { node: nodeText } },
    ];
  }
  const key = find(before, visit.accumulates, "tensor")?.grad ? "grad_added" : "grad_first";
  const value = tensorText(entities, find(entities, visit.accumulates, "tensor")?.grad);
  return [{ key, args: { tensor: nameOf(visit.accumulates), value } }];
}

/** What the gradients of a visit go to, each once: leaves by their tensors' names. */
function targetsOf(visit: Visit, entities: Entities, nameOf: Context["nameOf"], nodeName: Context["nodeName"]) {
  const next = find(entities, visit.node, "node")?.next ?? [];
  const names = (visit.grad_inputs ?? []).flatMap((grad, k) => {
    const to = grad ? next[k]?.[0] : null;
    if (!to) return [];
    const leafUid = find(entities, to, "node")?.variable;
    return [leafUid ? nameOf(leafUid) : nodeName(to)];
  });
  return [...new Set(names)];
}

/** A gradient that arrives as another one than was sent, at a node whose tensor has hooks. Only where one edge leads
 * there and what went along it is in the trace: a sum that is not whole would look like a change. */
export function hookNotes({ opened, step: { visit }, index: i, before, nameOf }: Context): Note[] {
  if (!visit) return [];
  const { index, trace } = opened;
  const variable = find(before, visit.node, "node")?.variable;
  const handles = index.outputsOf(visit.node, i - 1);
  if (variable && !handles.includes(variable)) handles.push(variable);
  const tensorUid = index.sortByAppearance(handles).find((uid) => find(before, uid, "tensor")?.hooks);
  const edges = tensorUid ? index.edgesInto(visit.node, i - 1) : [];
  if (!tensorUid || edges.length !== 1) return [];
  const [{ node, edge }] = edges;
  const sender = trace.steps[index.visitBefore(visit.backward, node, i)]?.visit;
  const sent = elementsText(sender?.grad_inputs[edge]?.cells);
  const input = find(before, node, "node")?.next?.[edge]?.[1] ?? 0;
  const received = elementsText(visit.grad_outputs[input]?.cells);
  if (!sent || !received || sent === received) return [];
  return [{ key: "hooked", args: { tensor: nameOf(tensorUid), from: sent, to: received } }];
}
