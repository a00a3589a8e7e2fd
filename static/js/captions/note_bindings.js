/** Notes on what a statement bound to names, turned on or off, and put into containers. */

import { find, isHandle } from "../trace/entities.js";
import { shapeText } from "../findings/operands.js";
import { refOf } from "../trace/names.js";
import { firstFew, plainText, shortName } from "./note_texts.js";

/** @typedef {import("./notes.js").Note} Note */
/** @typedef {import("./notes.js").Context} Context */
/** @typedef {import("../trace/entities.js").Value} Value */

/** Calls and returns, and names that mean something else now. @param {Context} context @returns {Note[]} */
export function bindingNotes(context) {
  const { step, entities, fresh } = context;
  if (step.kind === "call") {
    const [inner] = [...fresh].flatMap((uid) => find(entities, uid, "frame") ?? []);
    return inner ? [{ key: "call", args: { name: inner.name } }] : [];
  }
  /** @type {Note[]} */
  const out = [];
  if (["return", "yield", "resume"].includes(step.kind))
    out.push({ key: step.kind, args: { name: find(entities, step.frame, "frame")?.name ?? "" } });
  const frame = step.set[step.frame ?? ""];
  for (const [name, value] of Object.entries(frame?.vars ?? {})) out.push(...notesOfBinding(context, name, value));
  for (const name of frame?.unset ?? []) out.push({ key: "unbound", args: { name } });
  return out;
}

/** @param {Context} context @param {string} name @param {Value} value @returns {Note[]} */
function notesOfBinding(context, name, value) {
  const uid = refOf(value);
  if (!uid) {
    const opaque = value && typeof value === "object" && "py" in value ? value.py : "";
    if (["module", "type", "function"].includes(opaque)) return [{ key: `bound_${opaque}`, args: { name } }];
    return [{ key: "bound", args: { name, value: plainText(value) } }];
  }
  const entity = context.entities.get(uid);
  if (isHandle(entity)) return notesOfNamedHandle(context, name, uid, entity);
  if (entity?.kind === "object")
    return [
      { key: hasOtherName(context, uid, name) ? "same_object" : "new_object", args: { name, type: entity.type } },
    ];
  if (entity?.kind === "node") return [{ key: "bound_node", args: { name, node: shortName(entity.name ?? "") } }];
  return [];
}

/** Whether anything else leads to an object after a step: what a call made was known inside of the call only.
 * @param {Context} context @param {string} uid @param {string} name */
function hasOtherName({ opened, index, fresh }, uid, name) {
  return !fresh.has(uid) && (opened.names(index).tags.get(uid) ?? []).some(({ text }) => text !== name);
}

/** A name for a tensor or an array: a new one, one that shares memory, or one that was there before.
 * @param {Context} context @param {string} name @param {string} uid @param {import("../trace/entities.js").Handle} entity @returns {Note[]} */
function notesOfNamedHandle({ opened, index, entities, before, fresh, nameOf }, name, uid, entity) {
  if (!fresh.has(uid)) {
    if (!before.has(uid)) return [];
    const tags = opened.names(index - 1).tags.get(uid) ?? [];
    const other = tags.find((tag) => tag.text !== name)?.text;
    return [{ key: "same", args: { name, other: other || uid } }];
  }
  const { storage } = entity;
  if (!storage) return [{ key: "new_bare", args: { name } }];
  const other = opened.index.handlesOf(storage, index).find((handleUid) => handleUid !== uid && before.has(handleUid));
  if (other) {
    const key = entity.kind === "array" ? "array_shares" : "shares";
    return [{ key, args: { name, other: nameOf(other), storage } }];
  }
  const nodeText = shortName(find(entities, entity.grad_fn, "node")?.name ?? "");
  return [{ key: entity.grad_fn ? "new_node" : "new", args: { name, storage, node: nodeText } }];
}

/** What a statement turned on or off: a tensor's requires_grad, its gradient, a mode; and the shapes that it changed. @param {Context} context @returns {Note[]} */
export function modeNotes({ step, entities, before, nameOf, hasName }) {
  /** @type {Note[]} */
  const out = [];
  const cleared = [];
  for (const uid of Object.keys(step.set)) {
    const [old, now] = [before.get(uid), entities.get(uid)];
    if (now?.kind === "mode" && old?.kind === "mode") {
      for (const mode of /** @type {const} */ (["grad", "inference"]))
        if (old[mode] !== now[mode]) out.push({ key: `mode_${mode}_${now[mode] ? "on" : "off"}`, args: {} });
    } else if (now?.kind === "tensor" && old?.kind === "tensor") {
      if (old.requires_grad !== now.requires_grad)
        out.push({ key: now.requires_grad ? "requires_grad" : "requires_no_grad", args: { tensor: nameOf(uid) } });
      if (old.grad && !now.grad) cleared.push(nameOf(uid));
      if (isReshaped(old, now) && hasName(uid))
        out.push({
          key: "reshaped",
          args: { tensor: nameOf(uid), shape: shapeText(now.shape ?? []), stride: shapeText(now.stride ?? []) },
        });
    }
  }
  if (cleared.length) out.push({ key: "grad_cleared", args: { tensors: firstFew(cleared) } });
  return out;
}

/** Whether a handle reads its memory in another shape or with other strides than before: `t_()`, `resize_`, `.data =`.
 * @param {import("../trace/wire.js").Tensor} old @param {import("../trace/wire.js").Tensor} now */
function isReshaped(old, now) {
  return (
    Boolean(old.stride && now.stride) && (`${old.shape}` !== `${now.shape}` || `${old.stride}` !== `${now.stride}`)
  );
}

/** Containers that were there before and hold something else now. @param {Context} context @returns {Note[]} */
export function containerNotes(context) {
  const { step, entities, before, nameOf } = context;
  const sameNotes = sameTensorNotes(context);
  if (sameNotes.length) return sameNotes;
  const refilled = Object.keys(step.set).filter((uid) => find(before, uid, "object") && entities.has(uid));
  return refilled.length ? [{ key: "refilled", args: { objects: firstFew(refilled.map(nameOf)) } }] : [];
}

/** Attributes that came to be a tensor that was there before, under another name. @param {Context} context @returns {Note[]} */
function sameTensorNotes({ step, before, entities, opened, index, nameOf }) {
  return Object.keys(step.set).flatMap((uid) => {
    const [attrsBefore, attrsNow] = [
      find(before, uid, "object")?.attrs ?? {},
      find(entities, uid, "object")?.attrs ?? {},
    ];
    if (!before.has(uid)) return [];
    return Object.entries(attrsNow).flatMap(([name, value]) => {
      const ref = refOf(value);
      if (!ref || ref === refOf(attrsBefore[name]) || !isHandle(before.get(ref))) return [];
      const other = opened.names(index - 1).paths.get(ref);
      return other && opened.names(index).tags.has(ref)
        ? [{ key: "same", args: { name: `${nameOf(uid)}.${name}`, other } }]
        : [];
    });
  });
}
