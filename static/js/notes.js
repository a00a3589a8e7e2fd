/** What a step did, as facts: keys with arguments, in the order that a teacher would tell them. No text here. */

import { names, refOf } from "./layout/names.js";
import { plainDtype, reads } from "./layout/reads.js";
import { EVENTS } from "./registry.js";

/** @typedef {{key: string, args: Record<string, any>, tone?: "bad" | "cut" | "plain", minor?: boolean}} Note   minor: told last */

const LISTED = 3;
const MOST_READS = 4096;

/** @param {import("./state.js").OpenTrace} opened @param {number} i @returns {Note[]} */
export function notes(opened, i) {
  const { step, entities, fresh, written } = opened.at(i);
  if (!step) return [];
  const before = opened.state(i - 1);
  const now = names(entities).paths;
  const then = names(before).paths;
  /** @param {string | undefined | null} uid */
  const nameOf = (uid) => (uid ? (now.get(uid) ?? then.get(uid) ?? uid) : "");
  /** @param {string} node */
  const nodeName = (node) => shortName(entities.get(node)?.name ?? before.get(node)?.name ?? node);
  /** @type {Note[]} */
  const out = [];
  if (step.visit) visitNotes(out, step.visit, entities, before, nameOf, nodeName);
  if (step.visit) hookNotes(out, opened, i, before, nameOf);
  if (step.kind === "raise") raiseNotes(out, opened, i);
  for (const entry of step.log) {
    if (entry.kind === "event") eventNotes(out, entry, step, entities, nameOf, nodeName, written);
  }
  bindingNotes(out, step, entities, before, fresh, nameOf);
  if (!step.visit) switchNotes(out, step, entities, before, nameOf);
  const uid = refOf(step.value);
  if (step.value !== undefined && step.value !== null && !uid)
    out.push({ key: "value", args: { value: plainText(step.value) } });
  if (!out.length) containerNotes(out, step, entities, before, nameOf);
  if (!out.length && step.log.some((/** @type {any} */ entry) => entry.kind === "out"))
    out.push({ key: "prints", args: {} });
  if (!out.length && step.kind === "end") out.push({ key: "ended", args: {} });
  const freed = step.log.filter((/** @type {any} */ entry) => entry.event === "storage_freed").length;
  if (!out.length && freed) out.push({ key: "freed", args: { n: freed } });
  if (!out.length) out.push({ key: changesNothing(step) ? "quiet" : "other", args: {} });
  return out;
}

/** Whether a step left everything but its frame's line as it was. @param {any} step */
function changesNothing(step) {
  const sets = Object.entries(step.set);
  return (
    !step.gone.length &&
    sets.every(
      ([uid, fields]) => uid[0] === "f" && Object.keys(fields).every((field) => field === "kind" || field === "line"),
    )
  );
}

/** Whether the program has a name for it, not only we. @param {string} name */
function isProgramName(name) {
  return name !== "" && !/^[a-z]\d+$/.test(name);
}

/** Whether a handle reads one of the cells, `dtype:index`. @param {any} handle @param {Set<string>} cells */
function readsAny(handle, cells) {
  const dtype = plainDtype(handle.dtype);
  const changed = new Set(
    [...cells]
      .filter((cell) => plainDtype(cell.slice(0, cell.lastIndexOf(":"))) === dtype)
      .map((cell) => Number(cell.slice(cell.lastIndexOf(":") + 1))),
  );
  return changed.size > 0 && reads(handle, MOST_READS).some(({ cell }) => changed.has(cell));
}

/** @param {string} name */
function shortName(name) {
  return name.split("::").at(-1) ?? name;
}

/** @param {Note[]} out @param {any} visit @param {Map<string, any>} entities @param {Map<string, any>} before
 * @param {(uid: string) => string} nameOf @param {(uid: string) => string} nodeName */
function visitNotes(out, visit, entities, before, nameOf, nodeName) {
  const name = nodeName(visit.node);
  if (visit.failed) out.push({ key: "visit_failed", args: { node: name }, tone: "bad" });
  else if (visit.accumulates) {
    const isFirst = !before.get(visit.accumulates)?.grad;
    const grad = entities.get(visit.accumulates)?.grad;
    const value = gradText(entities, grad);
    out.push({ key: isFirst ? "grad_first" : "grad_added", args: { tensor: nameOf(visit.accumulates), value } });
  } else out.push({ key: "visit", args: { node: name } });
}

/**
 * A gradient that arrives as another one than was sent, at a node whose tensor has hooks. Only where one edge leads there
 * and what went along it is in the trace: a sum that is not whole would look like a change.
 * @param {Note[]} out @param {import("./state.js").OpenTrace} opened @param {number} i @param {Map<string, any>} before
 * @param {(uid: string) => string} nameOf
 */
function hookNotes(out, opened, i, before, nameOf) {
  const { steps } = opened.trace;
  const { visit } = steps[i];
  const variable = before.get(visit.node)?.variable;
  const [tensor] =
    [...before].find(
      ([uid, one]) => one.kind === "tensor" && one.hooks && (uid === variable || one.grad_fn === visit.node),
    ) ?? [];
  if (!tensor) return;
  const edges = [...before].flatMap(([uid, one]) =>
    one.kind === "node"
      ? (one.next ?? []).flatMap((/** @type {any} */ edge, /** @type {number} */ k) =>
          edge?.[0] === visit.node ? [{ uid, k, to: edge[1] }] : [],
        )
      : [],
  );
  if (edges.length !== 1) return;
  const [{ uid, k, to }] = edges;
  const from = steps
    .slice(0, i)
    .findLast((/** @type {any} */ one) => one.visit?.backward === visit.backward && one.visit.node === uid);
  const sent = valuesText(from?.visit.grad_inputs[k]);
  const received = valuesText(visit.grad_outputs[to]);
  if (sent && received && sent !== received)
    out.push({ key: "hooked", args: { tensor: nameOf(tensor), from: sent, to: received } });
}

/** A gradient's values as a text, where there are few. @param {any} grad */
function valuesText(grad) {
  return grad?.cells && grad.cells.length <= 6 ? `[${grad.cells.map(plainText).join(", ")}]` : null;
}

/** @param {Note[]} out @param {import("./state.js").OpenTrace} opened @param {number} i */
function raiseNotes(out, opened, i) {
  const error = opened.trace.outcome?.error;
  if (error && error.step === i)
    out.push({ key: "raised", args: { type: error.type, message: firstLine(error.message) }, tone: "bad" });
  else out.push({ key: "caught", args: {}, tone: "bad" });
}

/** @type {Record<string, Note["tone"]>} */
const TONES = { error: "bad", warning: "cut" };

/**
 * The note of an event, by its row: the event's fields are the sentence's arguments.
 * @param {Note[]} out @param {any} event @param {any} step @param {Map<string, any>} entities
 * @param {(uid: string) => string} nameOf @param {(uid: string) => string} nodeName
 * @param {Map<string, Set<string>>} written
 */
function eventNotes(out, event, step, entities, nameOf, nodeName, written) {
  const row = EVENTS[event.event];
  if (!row?.sentence || (step.visit && !row.in_visits)) return;
  /** @type {Record<string, any>} */
  const args = { ...event };
  for (const field of row.refs)
    if (event[field]) args[field] = event[field][0] === "n" ? nodeName(event[field]) : nameOf(event[field]);
  if (typeof event.text === "string") args.text = firstLine(event.text);
  const key = row.sentence.replace(/\{(\w+)\}/g, (_, field) => event[field]);
  /** @type {Note | null} */
  let note = { key, args, tone: TONES[row.severity], minor: row.severity === "info" };
  if (event.event === "written") note = writeNote(note, event, entities, nameOf, written);
  if (event.event === "saved") note = step.kind === "statement" ? savedNote(note, event, entities, nameOf) : null;
  if (note) out.push(note);
}

/** Who else reads what was written. @param {Note} note @param {any} event @param {Map<string, any>} entities
 * @param {(uid: string) => string} nameOf @param {Map<string, Set<string>>} written @returns {Note} */
function writeNote(note, event, entities, nameOf, written) {
  const cells = written.get(event.storage);
  const writer = event.by ? nameOf(event.by) : "";
  const readers = otherHandles(entities, event.storage, event.by)
    .filter((uid) => cells && readsAny(entities.get(uid), cells))
    .map(nameOf)
    .filter(isProgramName);
  const args = { tensor: writer, storage: event.storage, n: event.changed ?? "?", others: firstFew(readers) };
  const key = isProgramName(writer) ? note.key : `${note.key}_memory`;
  return { ...note, key: readers.length ? `${key}_shared` : key, args };
}

/** What was saved, and at which version. @param {Note} note @param {any} event @param {Map<string, any>} entities
 * @param {(uid: string) => string} nameOf @returns {Note | null} */
function savedNote(note, event, entities, nameOf) {
  const slot = entities.get(event.node)?.saved?.[event.slot];
  if (!slot) return null;
  const tensor = slot.tensor ? nameOf(slot.tensor) : (slot.storage ?? "");
  return { ...note, args: { ...note.args, tensor, expected: slot.expected ?? "" } };
}

/** @param {Note[]} out @param {any} step @param {Map<string, any>} entities @param {Map<string, any>} before
 * @param {Set<string>} fresh @param {(uid: string) => string} nameOf */
function bindingNotes(out, step, entities, before, fresh, nameOf) {
  const frame = entities.get(step.frame);
  if (step.kind === "call") {
    const inner = [...fresh].map((uid) => entities.get(uid)).find((entity) => entity?.kind === "frame");
    if (inner) out.push({ key: "call", args: { name: inner.name } });
    return;
  }
  if (["return", "yield", "resume"].includes(step.kind))
    out.push({ key: step.kind, args: { name: frame?.name ?? "" } });
  for (const [name, value] of Object.entries(step.set[step.frame]?.vars ?? {})) {
    const uid = refOf(value);
    const entity = uid ? entities.get(uid) : null;
    if (entity?.kind === "tensor" || entity?.kind === "array") {
      if (!fresh.has(uid ?? "")) {
        if (before.has(uid ?? ""))
          out.push({ key: "same", args: { name, other: otherName(before, uid, name) || uid } });
        continue;
      }
      const shared = otherHandles(entities, entity.storage, uid).filter((other) => before.has(other));
      if (shared.length)
        out.push({
          key: entity.kind === "array" ? "array_shares" : "shares",
          args: { name, other: nameOf(shared[0]), storage: entity.storage },
        });
      else if (entity.storage)
        out.push({
          key: entity.grad_fn ? "new_node" : "new",
          args: { name, storage: entity.storage, node: shortName(entities.get(entity.grad_fn)?.name ?? "") },
        });
      else out.push({ key: "new_bare", args: { name } });
    } else if (entity?.kind === "object") {
      out.push({ key: fresh.has(uid ?? "") ? "new_object" : "same_object", args: { name, type: entity.type } });
    } else if (entity?.kind === "node") {
      out.push({ key: "bound_node", args: { name, node: shortName(entity.name) } });
    } else if (value?.py === "module" || value?.py === "type" || value?.py === "function")
      out.push({ key: `bound_${value.py}`, args: { name } });
    else if (!uid) out.push({ key: "bound", args: { name, value: plainText(value) } });
  }
  for (const name of step.set[step.frame]?.unset ?? []) out.push({ key: "unbound", args: { name } });
}

/** What a statement turned on or off: a tensor's requires_grad, its gradient, a mode. @param {Note[]} out @param {any} step
 * @param {Map<string, any>} entities @param {Map<string, any>} before @param {(uid: string) => string} nameOf */
function switchNotes(out, step, entities, before, nameOf) {
  const cleared = [];
  for (const uid of Object.keys(step.set)) {
    const [old, now] = [before.get(uid), entities.get(uid)];
    if (!old || !now) continue;
    if (now.kind === "mode") {
      for (const mode of ["grad", "inference"])
        if (old[mode] !== now[mode]) out.push({ key: `mode_${mode}_${now[mode] ? "on" : "off"}`, args: {} });
    } else if (now.kind === "tensor") {
      if (old.requires_grad !== now.requires_grad)
        out.push({ key: now.requires_grad ? "requires_grad" : "requires_no_grad", args: { tensor: nameOf(uid) } });
      if (old.grad && !now.grad) cleared.push(nameOf(uid));
    }
  }
  if (cleared.length) out.push({ key: "grad_cleared", args: { tensors: firstFew(cleared) } });
}

/** Containers that were there before and hold something else now. @param {Note[]} out @param {any} step
 * @param {Map<string, any>} entities @param {Map<string, any>} before @param {(uid: string) => string} nameOf */
function containerNotes(out, step, entities, before, nameOf) {
  const containers = Object.keys(step.set)
    .filter((uid) => before.get(uid)?.kind === "object" && entities.has(uid))
    .map(nameOf);
  if (containers.length) out.push({ key: "refilled", args: { objects: firstFew(containers) } });
}

/** The first of a list, by comma. @param {string[]} list */
function firstFew(list) {
  return list.slice(0, LISTED).join(", ") + (list.length > LISTED ? ", …" : "");
}

/** Another name for a thing before this step. @param {Map<string, any>} entities @param {string | null} uid @param {string} name */
function otherName(entities, uid, name) {
  const tags = names(entities).tags.get(uid ?? "") ?? [];
  return tags.find((tag) => tag.text !== name)?.text;
}

/** Handles that read a storage, but for one. @param {Map<string, any>} entities @param {string} storage @param {string | null | undefined} except */
function otherHandles(entities, storage, except) {
  const out = [];
  for (const [uid, entity] of entities) {
    if ((entity.kind === "tensor" || entity.kind === "array") && entity.storage === storage && uid !== except)
      out.push(uid);
  }
  return out;
}

/** A gradient's elements in a few characters. @param {Map<string, any>} entities @param {string | undefined} uid */
function gradText(entities, uid) {
  const tensor = uid ? entities.get(uid) : null;
  const row = tensor ? entities.get(tensor.storage)?.cells?.[tensor.dtype] : null;
  if (!row || row.length > 6) return "…";
  return `[${row.map(plainText).join(", ")}]`;
}

/** @param {any} value @returns {string} */
export function plainText(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return value.length > 60 ? `'${value.slice(0, 59)}…'` : `'${value}'`;
  if (typeof value === "number") return String(value);
  if (value.$f !== undefined) return value.$f;
  if (value.$i !== undefined) return value.$i;
  if (value.$c !== undefined) return `${plainText(value.$c[0])}+${plainText(value.$c[1])}j`;
  return value.text ?? value.py ?? value.ref ?? "";
}

/** @param {string} text */
function firstLine(text) {
  const line = text.split("\n")[0];
  return line.length > 240 ? `${line.slice(0, 239)}…` : line;
}
