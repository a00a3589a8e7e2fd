/** Notes on what a statement bound to names, turned on or off, and put into containers. */

import { findEntity, isHandle, type Handle } from "../trace/entities.ts";
import { shapeText } from "../findings/operands.ts";
import { referencedUid } from "../trace/names.ts";
import { listFirstFew, pythonValueText, nodeNameWithoutNamespace } from "./note_texts.ts";
import type { Tensor, Value } from "../trace/wire.ts";
import type { NoteContext, CaptionNote } from "./note.ts";

/** Calls and returns, and names that mean something else now. */
export function bindingNotes(context: NoteContext): CaptionNote[] {
  const { step, entities, fresh } = context;
  if (step.kind === "call") {
    const [inner] = [...fresh].flatMap((uid) => findEntity(entities, uid, "frame") ?? []);
    return inner ? [{ key: "call", args: { name: inner.name } }] : [];
  }
  const out: CaptionNote[] = [];
  if (["return", "yield", "resume"].includes(step.kind))
    out.push({ key: step.kind, args: { name: findEntity(entities, step.frame, "frame")?.name ?? "" } });
  const frame = step.set[step.frame ?? ""];
  for (const [name, value] of Object.entries(frame?.vars ?? {})) out.push(...notesOfBinding(context, name, value));
  for (const name of frame?.unset ?? []) out.push({ key: "unbound", args: { name } });
  return out;
}

function notesOfBinding(context: NoteContext, name: string, value: Value): CaptionNote[] {
  const uid = referencedUid(value);
  if (!uid) {
    const opaque = value && typeof value === "object" && "py" in value ? value.py : "";
    if (["module", "type", "function"].includes(opaque)) return [{ key: `bound_${opaque}`, args: { name } }];
    return [{ key: "bound", args: { name, value: pythonValueText(value) } }];
  }
  const entity = context.entities.get(uid);
  if (isHandle(entity)) return notesOfNamedHandle(context, name, uid, entity);
  if (entity?.kind === "object")
    return [
      {
        key: wasReachableByAnotherName(context, uid, name) ? "same_object" : "new_object",
        args: { name, type: entity.type },
      },
    ];
  if (entity?.kind === "node")
    return [{ key: "bound_node", args: { name, node: nodeNameWithoutNamespace(entity.name ?? "") } }];
  return [];
}

/** Whether anything else leads to an object after a step: what a call made was known inside of the call only. */
function wasReachableByAnotherName({ opened, index, fresh }: NoteContext, uid: string, name: string) {
  return !fresh.has(uid) && (opened.names(index).tags.get(uid) ?? []).some(({ text }) => text !== name);
}

/** A name for a tensor or an array: a new one, one that shares memory, or one that was there before. */
function notesOfNamedHandle(
  { opened, index, entities, before, fresh, nameOf }: NoteContext,
  name: string,
  uid: string,
  entity: Handle,
): CaptionNote[] {
  if (!fresh.has(uid)) {
    if (!before.has(uid)) return [];
    const tags = opened.names(index - 1).tags.get(uid) ?? [];
    const other = tags.find((tag) => tag.text !== name)?.text;
    return [{ key: "same", args: { name, other: other || uid } }];
  }
  const { storage } = entity;
  if (!storage) return [{ key: "new_bare", args: { name } }];
  const other = opened.index
    .handlesOfStorage(storage, index)
    .find((handleUid) => handleUid !== uid && before.has(handleUid));
  if (other) {
    const key = entity.kind === "array" ? "array_shares" : "shares";
    return [{ key, args: { name, other: nameOf(other), storage } }];
  }
  const nodeText = nodeNameWithoutNamespace(findEntity(entities, entity.grad_fn, "node")?.name ?? "");
  return [{ key: entity.grad_fn ? "new_node" : "new", args: { name, storage, node: nodeText } }];
}

/** What a statement turned on or off: a tensor's requires_grad, its gradient, a mode; and the shapes that it
 * changed. */
export function modeAndFlagNotes({ step, entities, before, nameOf, hasName }: NoteContext): CaptionNote[] {
  const out: CaptionNote[] = [];
  const cleared = [];
  for (const uid of Object.keys(step.set)) {
    const [old, now] = [before.get(uid), entities.get(uid)];
    if (now?.kind === "mode" && old?.kind === "mode") {
      for (const mode of ["grad", "inference"] as const)
        if (old[mode] !== now[mode]) out.push({ key: `mode_${mode}_${now[mode] ? "on" : "off"}`, args: {} });
    } else if (now?.kind === "tensor" && old?.kind === "tensor") {
      if (old.requires_grad !== now.requires_grad)
        out.push({ key: now.requires_grad ? "requires_grad" : "requires_no_grad", args: { tensor: nameOf(uid) } });
      if (old.grad && !now.grad) cleared.push(nameOf(uid));
      if (hasNewShapeOrStride(old, now) && hasName(uid))
        out.push({
          key: "reshaped",
          args: { tensor: nameOf(uid), shape: shapeText(now.shape ?? []), stride: shapeText(now.stride ?? []) },
        });
    }
  }
  if (cleared.length) out.push({ key: "grad_cleared", args: { tensors: listFirstFew(cleared) } });
  return out;
}

/** Whether a handle reads its memory in another shape or with other strides than before: `t_()`, `resize_`, `.data
 * =`. */
function hasNewShapeOrStride(old: Tensor, now: Tensor) {
  return (
    Boolean(old.stride && now.stride) && (`${old.shape}` !== `${now.shape}` || `${old.stride}` !== `${now.stride}`)
  );
}

/** Containers that were there before and hold something else now. */
export function changedContainerNotes(context: NoteContext): CaptionNote[] {
  const { step, entities, before, nameOf } = context;
  const sameNotes = sharedAttributeNotes(context);
  if (sameNotes.length) return sameNotes;
  const refilled = Object.keys(step.set).filter((uid) => findEntity(before, uid, "object") && entities.has(uid));
  return refilled.length ? [{ key: "refilled", args: { objects: listFirstFew(refilled.map(nameOf)) } }] : [];
}

/** Attributes that came to be a tensor that was there before, under another name. */
function sharedAttributeNotes({ step, before, entities, opened, index, nameOf }: NoteContext): CaptionNote[] {
  return Object.keys(step.set).flatMap((uid) => {
    const [attrsBefore, attrsNow] = [
      findEntity(before, uid, "object")?.attrs ?? {},
      findEntity(entities, uid, "object")?.attrs ?? {},
    ];
    if (!before.has(uid)) return [];
    return Object.entries(attrsNow).flatMap(([name, value]) => {
      const ref = referencedUid(value);
      if (!ref || ref === referencedUid(attrsBefore[name]) || !isHandle(before.get(ref))) return [];
      const other = opened.names(index - 1).paths.get(ref);
      return other && opened.names(index).tags.has(ref)
        ? [{ key: "same", args: { name: `${nameOf(uid)}.${name}`, other } }]
        : [];
    });
  });
}
