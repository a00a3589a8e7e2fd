/** Notes on what a statement bound to names, and on calls and returns. */

import { findEntity, findHandle, isHandle, type Frame, type Handle } from "../trace/entities.ts";
import { firstNameOf } from "../syntax/expressions.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { cellReads, numel } from "../trace/reads.ts";
import { referencedUid } from "../trace/names.ts";
import { objectNamesAt, type ObjectNames } from "../trace/object_names.ts";
import { nameArgument, pythonValueText, nodeNameWithoutNamespace, elementCountArgument } from "./note_arguments.ts";
import type { Value } from "../trace/wire.ts";
import type { CaptionNote, CaptionArgument, CaptionContext } from "./note.ts";

/** Elements of either, above which two handles are not compared cell by cell. */
const MAX_ELEMENTS_COMPARED = 4096;
const CONTAINERS_WITH_ITEMS = new Set(["list", "tuple", "dict", "set", "ModuleList", "ParameterList"]);

/** Calls and returns, and names that mean something else now. */
export function bindingNotes(context: CaptionContext): CaptionNote[] {
  const { step } = context;
  if (step.kind === "call") return callNotes(context);
  const out: CaptionNote[] = [];
  if (["return", "yield", "resume"].includes(step.kind)) out.push(noteOfReturn(context));
  const frame = step.set[step.frame ?? ""];
  for (const [name, value] of Object.entries(frame?.vars ?? {})) {
    out.push(...notesOfBinding(context, name, value));
    out.push(...notesOfPreviousValue(context, name, value));
  }
  for (const name of frame?.unset ?? []) out.push(noteOfRemovedName(context, name));
  return out;
}

/** A function that begins, with what its arguments are outside. */
function callNotes({ entities, fresh, before, opened, index }: CaptionContext): CaptionNote[] {
  const begun = [...fresh].filter((uid) => findEntity(entities, uid, "frame"));
  // the frames of lambdas and comprehensions begin with that of the function that they call
  const callers = new Set(begun.map((uid) => findEntity(entities, uid, "frame")?.caller));
  const inner = findEntity(
    entities,
    begun.find((uid) => !callers.has(uid)),
    "frame",
  );
  if (!inner) return [];
  const outside = objectNamesAt(opened, index, inner.caller);
  const call = calleeLabel(outside, inner);
  const pairs = [...inner.vars].flatMap(([name, value]): CaptionArgument[] => {
    const uid = referencedUid(value);
    const path = outside.nameOf(uid);
    if (name === "self" || !uid || !path || path === name || !isHandle(before.get(uid))) return [];
    return [{ key: "call_argument", args: { inner: { name, of: uid }, outer: { name: path, of: uid } } }];
  });
  return [pairs.length ? { key: "call_with", args: { call, pairs } } : { key: "call", args: { call } }];
}

/** A call by the name that its object has where it was called. */
function calleeLabel(outside: ObjectNames, frame: Frame | undefined): CaptionArgument {
  const self = outside.nameOf(referencedUid(frame?.vars.get("self")));
  return { name: self ? `${self}.${frame?.name}()` : `${frame?.name ?? ""}()` };
}

function noteOfReturn({ step, entities, before, opened, index }: CaptionContext): CaptionNote {
  const frame = findEntity(entities, step.frame, "frame") ?? findEntity(before, step.frame, "frame");
  const call = calleeLabel(objectNamesAt(opened, index, frame?.caller), frame);
  const returned = findHandle(entities, step.kind === "return" ? referencedUid(step.value) : null);
  if (!returned?.shape) return { key: step.kind, args: { call } };
  return {
    key: returned.kind === "array" ? "return_array" : "return_tensor",
    args: { call, size: elementCountArgument(returned) },
  };
}

function notesOfBinding(context: CaptionContext, name: string, value: Value): CaptionNote[] {
  const uid = referencedUid(value);
  const bound = uid ? { name, of: uid } : { name };
  if (!uid) {
    const opaque = value && typeof value === "object" && "py" in value ? value.py : "";
    if (["module", "type", "function"].includes(opaque)) return [{ key: `bound_${opaque}`, args: { name: bound } }];
    const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
    const text = pythonValueText(value);
    const isOther = old !== undefined && !referencedUid(old) && pythonValueText(old) !== text;
    return [{ key: isOther ? "bound_again" : "bound", args: { name: bound, value: text } }];
  }
  const entity = context.entities.get(uid);
  if (isHandle(entity)) return notesOfNamedHandle(context, name, uid, entity);
  if (entity?.kind === "object") {
    const other = context.fresh.has(uid) ? null : otherNameOf(context, uid, name);
    if (other) return [{ key: "same_object", args: { name: bound, type: entity.type ?? "", other } }];
    const n = entity.len;
    if (typeof n === "number" && CONTAINERS_WITH_ITEMS.has(entity.type ?? ""))
      return [{ key: "new_container", args: { name: bound, type: entity.type ?? "", n } }];
    return [{ key: "new_object", args: { name: bound, type: entity.type ?? "" } }];
  }
  if (entity?.kind === "node")
    return [
      {
        key: "bound_node",
        args: { name: bound, node: { name: nodeNameWithoutNamespace(entity.name ?? "") } },
      },
    ];
  return [];
}

/** What else leads to a thing after a step: what a call made was known inside of the call only. */
function otherNameOf({ opened, index, step }: CaptionContext, uid: string, name: string): CaptionArgument | null {
  const names = objectNamesAt(opened, index).namesOf(uid);
  const other = names.find(({ text, frame }) => text !== name || frame !== step.frame);
  return other ? nameArgument(other, uid) : null;
}

/** A name for a tensor or an array: a new one, one that shares memory, or one that was there before. */
function notesOfNamedHandle(context: CaptionContext, name: string, uid: string, entity: Handle): CaptionNote[] {
  const { opened, index, step, before, fresh, pathOf } = context;
  const bound = { name, of: uid };
  const suffix = entity.kind === "array" ? "_array" : "";
  const noteOfName = () => {
    const other = otherNameOf(context, uid, name);
    return other
      ? [{ key: `same${suffix}`, args: { name: bound, other } }]
      : [{ key: `named${suffix}`, args: { name: bound, size: elementCountArgument(entity) } }];
  };
  if (!fresh.has(uid)) {
    if (!before.has(uid)) return [];
    const had = objectNamesAt(opened, index - 1, step.frame).namesOf(uid);
    return had.some(({ text, frame }) => text === name && frame === step.frame) ? [] : noteOfName();
  }
  const facts = new RunFacts(opened);
  // an iterator may have held it since the loop began
  if (step.kind === "head" && facts.producingOperation(uid)?.step !== index) return noteOfName();
  const { storage } = entity;
  if (!storage) return [{ key: "new_bare", args: { name: bound } }];
  const storages = storagesOfOneMemory(context, storage);
  const sharingAt = (step: number) =>
    storages
      .flatMap((each) => opened.index.handlesOfStorage(each, step))
      .filter((other) => other !== uid && before.has(other));
  const now = sharingAt(index);
  // `loss = loss.detach()`: only what `loss` meant before has read that memory
  const sharing = now.length ? now : sharingAt(index - 1).filter((handle) => context.hasName(handle));
  const { names: mentioned } = facts.mentionsAt(index);
  const isMentioned = (handle: string) => mentioned.has(firstNameOf(pathOf(handle) ?? ""));
  const other = sharing.find(isMentioned) ?? sharing.find((handle) => context.hasName(handle)) ?? sharing[0];
  if (other) return [noteOfSharedMemory(context, bound, entity, other)];
  const args = { name: bound, size: elementCountArgument(entity), memory: nonCpuDeviceArgument(entity) };
  if (entity.kind === "array") return [{ key: "new_array", args }];
  return entity.grad_fn
    ? [{ key: "new_node", args: { ...args, node: context.node(entity.grad_fn) } }]
    : [{ key: "new", args }];
}

/** A storage, and those that are the same memory under another owner: NumPy's, which a tensor reads. */
function storagesOfOneMemory({ entities }: CaptionContext, storage: string): string[] {
  const outerOf = (uid: string) => findEntity(entities, uid, "storage")?.within?.storage ?? uid;
  const outer = outerOf(storage);
  const others = [...entities.keys()].filter((uid) => uid[0] === "s" && uid !== storage && outerOf(uid) === outer);
  return [storage, ...others];
}

/** Where the memory of its own is, if not on the CPU. */
function nonCpuDeviceArgument({ device }: Handle): CaptionArgument {
  return device && device !== "cpu"
    ? { key: "own_memory_on", args: { device: { name: device } } }
    : { key: "own_memory", args: {} };
}

/** A new handle on memory that was there: as much of it as the other reads, or in another shape, or a part. */
function noteOfSharedMemory(
  context: CaptionContext,
  name: CaptionArgument,
  entity: Handle,
  otherUid: string,
): CaptionNote {
  const prefix = entity.kind === "array" ? "array_shares" : "shares";
  const args: Record<string, CaptionArgument> = { name, other: context.named(otherUid) };
  const other = findHandle(context.entities, otherUid);
  const own = other ? cellReads(entity, MAX_ELEMENTS_COMPARED) : [];
  const theirs = other ? cellReads(other, MAX_ELEMENTS_COMPARED) : [];
  if (
    entity.kind === "array" ||
    !other ||
    other.storage !== entity.storage ||
    !own.length ||
    !theirs.length ||
    other.dtype !== entity.dtype
  )
    return { key: prefix, args };
  const otherCells = new Set(theirs.map(({ cell }) => cell));
  const ownCells = new Set(own.map(({ cell }) => cell));
  const isWithin = [...ownCells].every((cell) => otherCells.has(cell));
  if (isWithin && ownCells.size < otherCells.size && context.hasName(otherUid))
    return { key: "shares_part", args: { ...args, n: ownCells.size, of: otherCells.size } };
  const isOtherShape = `${entity.shape}` !== `${other.shape}` && numel(entity.shape) === numel(other.shape);
  return isWithin && isOtherShape && (entity.shape ?? []).length > 1
    ? { key: "shares_shape", args: { ...args, shape: (entity.shape ?? []).join(" × ") } }
    : { key: prefix, args };
}

/** What became of the tensor that a name meant before. */
function notesOfPreviousValue(context: CaptionContext, name: string, value: Value): CaptionNote[] {
  const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
  const uid = referencedUid(old);
  if (!uid || uid === referencedUid(value) || !findHandle(context.before, uid)) return [];
  return [{ ...noteOfUnnamedHandle(context, uid, "rebound", name), minor: true }];
}

function noteOfRemovedName(context: CaptionContext, name: string): CaptionNote {
  const old = findEntity(context.before, context.step.frame, "frame")?.vars.get(name);
  const uid = referencedUid(old);
  if (!uid || !findHandle(context.before, uid)) return { key: "unbound", args: { name: { name } } };
  return noteOfUnnamedHandle(context, uid, "unbound", name);
}

/** `prefix` begins the sentence's key; the key ends in what became of the tensor or array. */
function noteOfUnnamedHandle(context: CaptionContext, uid: string, prefix: string, name: string): CaptionNote {
  const { entities, before, opened, index } = context;
  const thing = { key: findHandle(before, uid)?.kind === "array" ? "array" : "tensor", args: {} };
  const args = { name: { name, wasOf: uid }, thing };
  if (!entities.has(uid)) return { key: `${prefix}_gone`, args };
  const [other] = objectNamesAt(opened, index).namesOf(uid);
  if (other) return { key: `${prefix}_named`, args: { ...args, other: nameArgument(other, uid) } };
  return { key: `${prefix}_unnamed`, args };
}
