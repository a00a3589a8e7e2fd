/** Notes on what a statement bound to names, and on calls and returns. */

import { findEntity, findHandle, isHandle, type Handle } from "../trace/entities.ts";
import { mentionsAt } from "../findings/statements/program_text.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { cellReads, numel } from "../trace/reads.ts";
import { referencedUid } from "../trace/names.ts";
import { pythonValueText, nodeNameWithoutNamespace, sizeOf } from "./note_texts.ts";
import type { Value } from "../trace/wire.ts";
import type { CaptionNote, NoteArgument, NoteContext } from "./note.ts";

/** Elements of either, above which two handles are not compared cell by cell. */
const MAX_ELEMENTS_COMPARED = 4096;
const CONTAINERS_WITH_ITEMS = new Set(["list", "tuple", "dict", "set", "ModuleList", "ParameterList"]);

/** Calls and returns, and names that mean something else now. */
export function bindingNotes(context: NoteContext): CaptionNote[] {
  const { step } = context;
  if (step.kind === "call") return callNotes(context);
  const out: CaptionNote[] = [];
  if (["return", "yield", "resume"].includes(step.kind)) out.push(noteOfReturn(context));
  const frame = step.set[step.frame ?? ""];
  for (const [name, value] of Object.entries(frame?.vars ?? {})) {
    out.push(...notesOfBinding(context, name, value));
    out.push(...notesOfOldMeaning(context, name, value));
  }
  for (const name of frame?.unset ?? []) out.push(noteOfRemovedName(context, name));
  return out;
}

/** A function that begins, with what its arguments are outside. */
function callNotes({ entities, fresh, before, opened, index }: NoteContext): CaptionNote[] {
  const [inner] = [...fresh].flatMap((uid) => findEntity(entities, uid, "frame") ?? []);
  if (!inner) return [];
  const outside = opened.names(index - 1).paths;
  const self = outside.get(referencedUid(inner.vars.get("self")) ?? "");
  const call = { name: self ? `${self}.${inner.name}()` : `${inner.name}()` };
  const pairs = [...inner.vars].flatMap(([name, value]): NoteArgument[] => {
    const uid = referencedUid(value);
    const path = outside.get(uid ?? "");
    if (name === "self" || !uid || !path || path === name || !isHandle(before.get(uid))) return [];
    return [{ key: "call_argument", args: { inner: { name }, outer: { name: path } } }];
  });
  return [pairs.length ? { key: "call_with", args: { call, pairs } } : { key: "call", args: { call } }];
}

function noteOfReturn({ step, entities, before, opened, index }: NoteContext): CaptionNote {
  const frame = findEntity(entities, step.frame, "frame") ?? findEntity(before, step.frame, "frame");
  const self = opened.names(index - 1).paths.get(referencedUid(frame?.vars.get("self")) ?? "");
  const call = { name: self && self !== "self" ? `${self}.${frame?.name}()` : `${frame?.name ?? ""}()` };
  const returned = findHandle(entities, step.kind === "return" ? referencedUid(step.value) : null);
  if (!returned?.shape) return { key: step.kind, args: { call } };
  return { key: returned.kind === "array" ? "return_array" : "return_tensor", args: { call, size: sizeOf(returned) } };
}

function notesOfBinding(context: NoteContext, name: string, value: Value): CaptionNote[] {
  const nameArgument = { name };
  const uid = referencedUid(value);
  if (!uid) {
    const opaque = value && typeof value === "object" && "py" in value ? value.py : "";
    if (["module", "type", "function"].includes(opaque))
      return [{ key: `bound_${opaque}`, args: { name: nameArgument } }];
    const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
    const text = pythonValueText(value);
    const isOther = old !== undefined && !referencedUid(old) && pythonValueText(old) !== text;
    return [{ key: isOther ? "bound_again" : "bound", args: { name: nameArgument, value: text } }];
  }
  const entity = context.entities.get(uid);
  if (isHandle(entity)) return notesOfNamedHandle(context, name, uid, entity);
  if (entity?.kind === "object") {
    const other = otherNameOf(context, uid, name);
    if (other)
      return [{ key: "same_object", args: { name: nameArgument, type: entity.type ?? "", other: { name: other } } }];
    const n = entity.len;
    if (typeof n === "number" && CONTAINERS_WITH_ITEMS.has(entity.type ?? ""))
      return [{ key: "new_container", args: { name: nameArgument, type: entity.type ?? "", n } }];
    return [{ key: "new_object", args: { name: nameArgument, type: entity.type ?? "" } }];
  }
  if (entity?.kind === "node")
    return [
      {
        key: "bound_node",
        args: { name: nameArgument, node: { name: nodeNameWithoutNamespace(entity.name ?? "") } },
      },
    ];
  return [];
}

/** What else leads to an object after a step: what a call made was known inside of the call only. */
function otherNameOf({ opened, index, fresh }: NoteContext, uid: string, name: string) {
  if (fresh.has(uid)) return null;
  return (opened.names(index).tags.get(uid) ?? []).find(({ text }) => text !== name)?.text ?? null;
}

/** A name for a tensor or an array: a new one, one that shares memory, or one that was there before. */
function notesOfNamedHandle(context: NoteContext, name: string, uid: string, entity: Handle): CaptionNote[] {
  const { opened, index, before, fresh, pathOf } = context;
  const nameArgument = { name };
  if (!fresh.has(uid)) {
    if (!before.has(uid)) return [];
    const tags = opened.names(index - 1).tags.get(uid) ?? [];
    if (tags.some(({ text }) => text === name)) return [];
    const other = tags.find((tag) => tag.text !== name)?.text;
    if (other) return [{ key: "same", args: { name: nameArgument, other: { name: other } } }];
    return [{ key: "named", args: { name: nameArgument, size: sizeOf(entity) } }];
  }
  const { storage } = entity;
  if (!storage) return [{ key: "new_bare", args: { name: nameArgument } }];
  const sharing = opened.index.handlesOfStorage(storage, index).filter((other) => other !== uid && before.has(other));
  const { names: mentioned } = mentionsAt(new RunFacts(opened), index);
  const isMentioned = (handle: string) => mentioned.has(pathOf(handle)?.match(/^\w+/)?.[0] ?? "");
  const other = sharing.find(isMentioned) ?? sharing.find((handle) => pathOf(handle)) ?? sharing[0];
  if (other) return [noteOfSharing(context, name, entity, other)];
  const args = { name: nameArgument, size: sizeOf(entity), memory: ownMemory(entity) };
  if (entity.kind === "array") return [{ key: "new_array", args }];
  return entity.grad_fn
    ? [{ key: "new_node", args: { ...args, node: context.node(entity.grad_fn) } }]
    : [{ key: "new", args }];
}

/** Where the memory of its own is, if not on the CPU. */
function ownMemory({ device }: Handle): NoteArgument {
  return device && device !== "cpu"
    ? { key: "own_memory_on", args: { device: { name: device } } }
    : { key: "own_memory", args: {} };
}

/** A new handle on memory that was there: as much of it as the other reads, or in another shape, or a part. */
function noteOfSharing(context: NoteContext, name: string, entity: Handle, otherUid: string): CaptionNote {
  const prefix = entity.kind === "array" ? "array_shares" : "shares";
  const args: Record<string, NoteArgument> = { name: { name }, other: context.named(otherUid) };
  const other = findHandle(context.entities, otherUid);
  const own = other ? cellReads(entity, MAX_ELEMENTS_COMPARED) : [];
  const theirs = other ? cellReads(other, MAX_ELEMENTS_COMPARED) : [];
  if (entity.kind === "array" || !other || !own.length || !theirs.length || other.dtype !== entity.dtype)
    return { key: prefix, args };
  const otherCells = new Set(theirs.map(({ cell }) => cell));
  const ownCells = new Set(own.map(({ cell }) => cell));
  const isWithin = [...ownCells].every((cell) => otherCells.has(cell));
  if (isWithin && ownCells.size < otherCells.size && context.pathOf(otherUid))
    return { key: "shares_part", args: { ...args, n: ownCells.size, of: otherCells.size } };
  const isOtherShape = `${entity.shape}` !== `${other.shape}` && numel(entity.shape) === numel(other.shape);
  return isWithin && isOtherShape && (entity.shape ?? []).length > 1
    ? { key: "shares_shape", args: { ...args, shape: (entity.shape ?? []).join(" × ") } }
    : { key: prefix, args };
}

/** What became of the tensor that a name meant before. */
function notesOfOldMeaning(context: NoteContext, name: string, value: Value): CaptionNote[] {
  const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
  const uid = referencedUid(old);
  if (!uid || uid === referencedUid(value) || !findHandle(context.before, uid)) return [];
  return [{ ...noteOfNameless(context, uid, "rebound", name), minor: true }];
}

function noteOfRemovedName(context: NoteContext, name: string): CaptionNote {
  const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
  const uid = referencedUid(old);
  if (!uid || !findHandle(context.before, uid)) return { key: "unbound", args: { name: { name } } };
  return noteOfNameless(context, uid, "unbound", name);
}

/** `prefix` begins the sentence's key; the key ends in what became of the tensor. */
function noteOfNameless(
  { entities, opened, index }: NoteContext,
  uid: string,
  prefix: string,
  name: string,
): CaptionNote {
  const args = { name: { name } };
  if (!entities.has(uid)) return { key: `${prefix}_gone`, args };
  const other = opened.names(index).paths.get(uid);
  if (other) return { key: `${prefix}_named`, args: { ...args, other: { name: other } } };
  return { key: `${prefix}_unnamed`, args };
}
