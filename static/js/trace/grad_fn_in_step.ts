/**
 * The node that a tensor had amid a step: the trace has the one at its end, and a write in place after that gave it
 * another.
 */

import { addToList } from "./multimap.ts";
import type { Step } from "./wire.ts";

/**
 * Asks for the node after an entry of the log, by its place there. `last` is the tensor's node at the end of the step.
 */
type GradFnAt = (tensor: string, place: number, last: string | null | undefined) => string | null;

/** `aten::relu_`, `aten::add_.Tensor`: others that return what they were given write nothing. */
const IN_PLACE = /[a-z\d]_(\.|$)/;

/** The first edge of a node that a write in place made leads to the node before it; `edgesOf` gives a node's edges. */
export function gradFnInStep(
  step: Step,
  edgesOf: (node: string) => ([string, number] | null)[] | null | undefined,
): GradFnAt {
  /** by tensor, the places of the operations that wrote it and gave it another node */
  const writes = new Map<string, number[]>();
  for (const [place, entry] of (step.log ?? []).entries()) {
    if (entry.kind !== "op" || !entry.grad_mode || !IN_PLACE.test(entry.name)) continue;
    for (const [k, uid] of entry.outputs.entries())
      if (entry.requires_grad[k] && entry.inputs.includes(uid)) addToList(writes, uid, place);
  }
  return (tensor, place, last) => {
    let node = last ?? null;
    for (const write of writes.get(tensor) ?? []) if (write > place && node) node = edgesOf(node)?.[0]?.[0] ?? null;
    return node;
  };
}
