/** The gradient that arrived at what a module's call put out, by the backward that brought it. */

import { cellAsNumber } from "../findings/facts/cell_values.ts";
import { findEntity } from "../trace/entities.ts";
import { entityHistoryOf } from "../trace/entity_history.ts";
import { numel } from "../trace/reads.ts";
import type { ModuleCall } from "../trace/module_calls.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Grad } from "../trace/wire.ts";

interface OutputNode {
  node: string;
  output: number;
}

const nodesByTrace = new WeakMap<OpenTrace, Map<number, OutputNode[]>>();

/** The nodes that made what a call put out: those of its outputs that require a gradient. */
export function outputNodesOf(opened: OpenTrace, call: ModuleCall): OutputNode[] {
  const byCall = nodesByTrace.get(opened) ?? new Map<number, OutputNode[]>();
  nodesByTrace.set(opened, byCall);
  let nodes = byCall.get(call.call);
  if (!nodes) {
    nodes = findOutputNodes(opened, call);
    byCall.set(call.call, nodes);
  }
  return nodes;
}

function findOutputNodes(opened: OpenTrace, { outputs, ends }: ModuleCall): OutputNode[] {
  if (ends === null) return [];
  const { set } = opened.trace.steps[ends];
  return outputs.flatMap((uid) => {
    const fields = set[uid];
    const tensor =
      fields && fields.grad_fn !== undefined
        ? fields
        : findEntity(entityHistoryOf(opened).stateAfter(ends), uid, "tensor");
    const node = tensor?.grad_fn;
    return typeof node === "string" ? [{ node, output: (tensor?.output_nr as number | undefined) ?? 0 }] : [];
  });
}

/**
 * The norm of the gradient that a backward brought to a call's outputs until a step; null where it brought none, NaN
 * where the trace does not tell how large it was.
 */
export function gradientOfCall(opened: OpenTrace, call: ModuleCall, backward: string, until: number): number | null {
  const visits = opened.index.visitsByBackward.get(backward) ?? [];
  const grads = outputNodesOf(opened, call).flatMap(({ node, output }) => {
    const visit = visits.find((each) => each.node === node && each.step <= until);
    return visit ? [opened.trace.steps[visit.step].visit?.grad_outputs[output] ?? null] : [];
  });
  const present = grads.filter((grad): grad is Grad => grad !== null);
  return present.length ? Math.hypot(...present.map(normOfGrad)) : null;
}

/** The Euclidean norm of a gradient; NaN where the trace lists neither its elements nor the norm of all of them. */
function normOfGrad({ shape, cells, summary }: Grad): number {
  if (cells) return Math.sqrt(cells.reduce((sum: number, cell) => sum + cellAsNumber(cell) ** 2, 0));
  const isOfAll = summary?.bins?.reduce((a, b) => a + b, 0) === numel(shape); // it counts finite ones alone
  return isOfAll && typeof summary?.norm === "number" ? summary.norm : Number.NaN;
}
