/**
 * What storages without a name are for: a gradient on its way, kept for backward, or left over from an expression or a
 * node.
 */

import { isHandle, type Entity } from "../../trace/entities.ts";
import { operationNameOfNode } from "../../trace/format.ts";
import { nameInSentences } from "./pane_names.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { RowBlock, UnnamedStoragePurpose } from "./memory_parts.ts";

export function createUnnamedStoragePurposeFinder(memoryStep: MemoryStep): (block: RowBlock) => UnnamedStoragePurpose {
  const gradients = gradientsInFlight(memoryStep);
  return (block) => {
    const gradientOnWay = gradients.get(block.key);
    if (gradientOnWay) {
      const { to, shape, arrived: hasArrived } = gradientOnWay;
      const gradient = block.uids.find((uid) => hasShape(memoryStep.entities.get(uid), shape));
      const foldKind = hasArrived ? "unnamed" : "flight";
      if (!to) return { foldKind, labelKey: "gradient", name: "", gradient };
      return { foldKind, labelKey: "gradientFor", name: gradientTargetName(memoryStep, to), gradient };
    }
    const ownerUid = block.uids.map((uid) => memoryStep.owners.get(uid)).find((uid) => uid !== undefined);
    if (ownerUid)
      return { foldKind: "flight", labelKey: "gradientOfName", name: nameInSentences(memoryStep, ownerUid) ?? "" };
    const [pin] = block.pins;
    if (pin) return { foldKind: "kept", labelKey: "keptBy", name: nodeDisplayName(memoryStep, pin.node) };
    for (const uid of block.uids) {
      const handle = memoryStep.entities.get(uid);
      if (isHandle(handle) && handle.grad_fn)
        return { foldKind: "unnamed", labelKey: "madeBy", name: nodeDisplayName(memoryStep, handle.grad_fn) };
    }
    return { foldKind: "unnamed", labelKey: null, name: "" };
  };
}

function hasShape(entity: Entity | undefined, shape: number[]) {
  return isHandle(entity) && String(entity.shape ?? []) === String(shape);
}

function nodeDisplayName(memoryStep: MemoryStep, uid: string) {
  const node = memoryStep.entities.get(uid);
  return memoryStep.model.nodeNames.get(uid) ?? operationNameOfNode((node?.kind === "node" && node.name) || uid);
}

interface GradientInFlight {
  /** the node that it goes to, empty for what a node begins with */
  to: string;
  shape: number[];
  /** that node has run, at an earlier step */
  arrived: boolean;
}

/** Storages that the backwards under way hand from node to node. */
function gradientsInFlight(memoryStep: MemoryStep): Map<string, GradientInFlight> {
  const out = new Map<string, GradientInFlight>();
  const { trace, index } = memoryStep.model.opened;
  for (const [uid, entity] of memoryStep.entities) {
    if (entity.kind !== "backward") continue;
    for (const { node, step } of index.visitsByBackward.get(uid) ?? []) {
      if (step > memoryStep.index) break;
      const visit = trace.steps[step].visit;
      const hasArrived = step < memoryStep.index;
      for (const grad of visit?.grad_outputs ?? [])
        if (grad?.storage && (hasArrived || !out.has(grad.storage)))
          out.set(grad.storage, { to: hasArrived ? node : "", shape: grad.shape, arrived: hasArrived });
      const from = memoryStep.entities.get(node);
      (visit?.grad_inputs ?? []).forEach((grad, k) => {
        const to = from?.kind === "node" ? from.next?.[k]?.[0] : undefined;
        if (grad?.storage && to) out.set(grad.storage, { to, shape: grad.shape, arrived: false });
      });
    }
  }
  return out;
}

function gradientTargetName(memoryStep: MemoryStep, uid: string) {
  const node = memoryStep.entities.get(uid);
  const leafUid = node?.kind === "node" ? node.variable : undefined;
  return (leafUid && nameInSentences(memoryStep, leafUid)) || nodeDisplayName(memoryStep, uid);
}
