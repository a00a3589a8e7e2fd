/** Notes on what nodes keep for backward: one for each node, with the program's own names. */

import { findEntity } from "../trace/entities.ts";
import { numel } from "../trace/reads.ts";
import { pythonValueText, elementCountArgument } from "./note_arguments.ts";
import type { Slot } from "../trace/wire.ts";
import type { CaptionNote, CaptionArgument, CaptionContext } from "./note.ts";

/** Slots in which a node keeps what it made itself. */
const RESULT_SLOT = /^(result|output)s?\d*$/;

/** What the nodes of a step keep, the last first: what was computed last is nearest to the reader's line. */
export function savedNotes(context: CaptionContext): CaptionNote[] {
  const { step, entities } = context;
  if (step.visit) return [];
  const slotsByNode = new Map<string, string[]>();
  for (const entry of step.log)
    if (entry.kind === "event" && entry.event === "saved")
      slotsByNode.set(entry.node, [...(slotsByNode.get(entry.node) ?? []), entry.slot]);
  return [...slotsByNode].flatMap(([node, slotNames]) => {
    const saved = findEntity(entities, node, "node")?.saved ?? {};
    const kept: CaptionArgument[] = [];
    const seen = new Set<string>();
    for (const name of orderedLikeOperands(slotNames)) {
      const slot = saved[name];
      if (!slot) continue;
      const thing = savedValueArgument(context, node, name, slot);
      const identity = JSON.stringify(thing);
      if (!seen.has(identity)) kept.push(thing);
      seen.add(identity);
    }
    return kept.length ? [{ key: "saved", args: { node: context.node(node), kept }, minor: true }] : [];
  });
}

/** torch tells `other` before `self`; a reader has them the other way round. */
function orderedLikeOperands(slotNames: string[]) {
  return [...slotNames].sort((a, b) => Number(b === "self") - Number(a === "self"));
}

/**
 * What a slot keeps: a name of the program, a number of it, the node's own result or that of another, or memory of some
 * size without a name.
 */
export function savedValueArgument(context: CaptionContext, node: string, name: string, slot: Slot): CaptionArgument {
  const { opened, index, pathOf, hasName, named } = context;
  if (slot.value !== undefined && slot.value !== null)
    return { key: "kept_number", args: { value: pythonValueText(slot.value) } };
  const readers = tensorsReading(context, slot);
  const isOwnResult = opened.index.outputsOfNode(node, index).includes(slot.tensor ?? "") || RESULT_SLOT.test(name);
  const reader = [slot.tensor, ...readers.same].find(pathOf);
  if (reader) return named(reader);
  if (isOwnResult) return { key: "kept_result", args: {} };
  const earlier = [slot.tensor, ...readers.same].find(hasName);
  if (earlier) return named(earlier);
  const sameNumbers = readers.asMany.find(hasName);
  if (sameNumbers) return { key: "kept_numbers_of", args: { tensor: named(sameNumbers) } };
  const maker = [slot.tensor, ...readers.same].flatMap(
    (uid) => findEntity(context.entities, uid, "tensor")?.grad_fn ?? [],
  )[0];
  if (maker) return { key: "kept_result_of", args: { node: context.node(maker) } };
  return slot.shape
    ? { key: "kept_size", args: { size: elementCountArgument(slot) } }
    : { key: "kept_unnamed", args: {} };
}

/** Tensors that read the same numbers as a slot: in the same way, and as many in another order. */
function tensorsReading({ opened, index, entities }: CaptionContext, { storage, shape, stride, offset, dtype }: Slot) {
  const same: string[] = [];
  const asMany: string[] = [];
  const reading = JSON.stringify([shape, stride, offset ?? 0, dtype]);
  for (const uid of opened.index.handlesOfStorage(storage, index)) {
    const tensor = findEntity(entities, uid, "tensor");
    if (!tensor) continue;
    if (JSON.stringify([tensor.shape, tensor.stride, tensor.offset ?? 0, tensor.dtype]) === reading) same.push(uid);
    const isDense =
      tensor.dtype === dtype &&
      (tensor.offset ?? 0) === (offset ?? 0) &&
      cellSpan(tensor) === cellSpan({ shape, stride });
    if (isDense && numel(tensor.shape) === numel(shape) && cellSpan(tensor) === numel(shape)) asMany.push(uid);
  }
  return { same, asMany };
}

/** How many cells lie between the first and the last that are read. */
function cellSpan({ shape, stride }: { shape?: number[] | null; stride?: number[] | null }) {
  return (shape ?? []).reduce((span, size, d) => span + Math.max(0, size - 1) * (stride?.[d] ?? 0), 1);
}
