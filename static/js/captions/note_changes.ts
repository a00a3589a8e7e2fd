/** Notes on what a statement turned on or off, on gradients that it dropped, shapes and containers that it changed. */

import { findEntity, isHandle } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { nameArgument } from "./note_arguments.ts";
import type { Tensor } from "../trace/wire.ts";
import type { CaptionNote, CaptionArgument, CaptionContext } from "./note.ts";

/**
 * What a statement turned on or off: a tensor's requires_grad, its gradient, a mode; and the shapes that it changed.
 */
export function modeAndFlagNotes({ step, entities, before, pathOf, named, node }: CaptionContext): CaptionNote[] {
  const out: CaptionNote[] = [];
  const cleared: CaptionArgument[] = [];
  let unnamedCleared = 0;
  for (const uid of Object.keys(step.set)) {
    const [old, now] = [before.get(uid), entities.get(uid)];
    if (now?.kind === "mode" && old?.kind === "mode") {
      for (const mode of ["grad", "inference"] as const)
        if (old[mode] !== now[mode]) out.push({ key: `mode_${mode}_${now[mode] ? "on" : "off"}`, args: {} });
    } else if (now?.kind === "tensor" && old?.kind === "tensor") {
      if (old.requires_grad !== now.requires_grad) {
        const args = { tensor: named(uid), ...(now.grad_fn ? { node: node(now.grad_fn) } : {}) };
        const key = !now.requires_grad ? "requires_no_grad" : now.grad_fn ? "followed" : "requires_grad";
        out.push({ key, args });
      }
      const path = pathOf(uid);
      if (old.grad && !now.grad && path) cleared.push({ name: `${path}.grad` });
      else if (old.grad && !now.grad) unnamedCleared += 1;
      if (path && hasNewShapeOrStride(old, now)) out.push(noteOfReshape({ name: path, of: uid }, old, now));
    }
  }
  if (cleared.length) out.push({ key: "grad_cleared", args: { grads: cleared, n: cleared.length } });
  else if (unnamedCleared) out.push({ key: "grad_cleared_unnamed", args: { n: unnamedCleared } });
  return out;
}

/** Whether a handle reads its memory in another shape or with other strides than before: `t_()`, `resize_`, `.data
 * =`. */
function hasNewShapeOrStride(old: Tensor, now: Tensor) {
  return (
    Boolean(old.stride && now.stride) && (`${old.shape}` !== `${now.shape}` || `${old.stride}` !== `${now.stride}`)
  );
}

function noteOfReshape(tensor: CaptionArgument, old: Tensor, now: Tensor): CaptionNote {
  if (`${old.shape}` === `${now.shape}`) return { key: "reordered", args: { tensor } };
  const shape = (now.shape ?? []).join(" × ");
  return shape.includes("×")
    ? { key: "reshaped", args: { tensor, shape } }
    : { key: "resized", args: { tensor, n: Number(shape || 1) } };
}

/** Containers that were there before and hold something else now. */
export function changedContainerNotes(context: CaptionContext): CaptionNote[] {
  const { step, entities, before, pathOf, named } = context;
  const sameNotes = sharedAttributeNotes(context);
  if (sameNotes.length) return sameNotes;
  const changed = Object.keys(step.set).filter((uid) => findEntity(before, uid, "object") && entities.has(uid));
  const [uid] = changed;
  const [old, now] = [findEntity(before, uid, "object")?.len, findEntity(entities, uid, "object")?.len];
  const path = pathOf(uid);
  if (changed.length === 1 && path && typeof old === "number" && typeof now === "number" && old !== now)
    return [{ key: "refilled_count", args: { object: { name: path, of: uid }, n: now, before: old } }];
  return changed.length ? [{ key: "refilled", args: { objects: changed.map((each) => named(each)) } }] : [];
}

/** Attributes that came to be a tensor that was there before, under another name. */
function sharedAttributeNotes({ step, before, entities, opened, index, pathOf }: CaptionContext): CaptionNote[] {
  const names = objectNamesAt(opened, index);
  return Object.keys(step.set).flatMap((uid) => {
    const [attrsBefore, attrsNow] = [
      findEntity(before, uid, "object")?.attrs ?? {},
      findEntity(entities, uid, "object")?.attrs ?? {},
    ];
    const owner = pathOf(uid);
    if (!before.has(uid) || !owner) return [];
    return Object.entries(attrsNow).flatMap(([name, value]) => {
      const ref = referencedUid(value);
      if (!ref || ref === referencedUid(attrsBefore[name]) || !isHandle(before.get(ref))) return [];
      const path = `${owner}.${name}`;
      const other = names.namesOf(ref).find(({ text }) => text !== path);
      const key = entities.get(ref)?.kind === "array" ? "same_array" : "same";
      return other ? [{ key, args: { name: { name: path, of: ref }, other: nameArgument(other, ref) } }] : [];
    });
  });
}
