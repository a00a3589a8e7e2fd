/** Notes on a step's events, each by its row of the registry. */

import { find, findHandle } from "../trace/entities.js";
import { mentionsAt } from "../findings/program_text.js";
import { RunFacts } from "../findings/run_facts.js";
import { plainDtype, cellReads } from "../layout/reads.js";
import { firstFew, firstLine } from "./note_texts.js";
import { EVENTS } from "../trace/registry.js";

/** @typedef {import("./notes.js").Note} Note */
/** @typedef {import("./notes.js").Context} Context */
/** @typedef {import("../trace/wire.js").Event} Event */

/** Handles with more elements than this are not asked which of them they read. */
const MAX_COMPARED_ELEMENTS = 4096;

/** @type {Record<string, Note["tone"]>} */
const TONES = { error: "bad", warning: "cut" };

/**
 * The note of an event: the event's fields are the sentence's arguments.
 * @param {Context} context @param {Event} event @returns {Note[]} none where its row has no sentence
 */
export function eventNotes(context, event) {
  const row = EVENTS[event.event];
  if (!row?.sentence || (context.step.visit && !row.in_visits) || isTrivial(context, event)) return [];
  /** @type {Record<string, unknown>} */
  const args = { ...event };
  for (const field of row.refs) {
    const uid = args[field];
    if (typeof uid === "string") args[field] = uid[0] === "n" ? context.nodeName(uid) : context.nameOf(uid);
  }
  if (typeof args.text === "string") args.text = firstLine(args.text);
  const fields = /** @type {Record<string, unknown>} */ ({ ...event });
  const key = row.sentence.replace(/\{(\w+)\}/g, (_, field) => String(fields[field]));
  /** @type {Note} */
  const note = { key, args, tone: TONES[row.severity], minor: row.severity === "info" };
  if (event.event === "written") return [writtenNote(note, event, context)];
  if (event.event === "saved") return savedSlotNotes(note, event, context);
  return [note];
}

/** A number that is read for itself cuts nothing; a version matters where a saved value expects another.
 * @param {Context} context @param {Event} event */
function isTrivial({ opened, step, index }, event) {
  if (event.event === "path_cut" && event.reason === "item")
    return opened.trace.program.statements?.[step.stmt ?? -1]?.kind !== "Assign";
  if (event.event !== "version_bumped") return false;
  return ![...opened.index.slots.values()].some(
    ({ counter, birth, released }) => counter === event.counter && birth < index && (released ?? Infinity) > index,
  );
}

/** Who else reads what was written. @param {Note} note @param {import("../trace/wire.js").Written} event @param {Context} context @returns {Note} */
function writtenNote(note, event, { opened, index, step, entities, written, nameOf, hasName }) {
  const cells = written.get(event.storage);
  const { targets } = mentionsAt(new RunFacts(opened), index);
  const tags = opened.names(index).tags.get(event.by ?? "") ?? [];
  const target = tags.find(({ kind, frame, name }) => kind === "var" && frame === step.frame && targets.has(name));
  const writer = target?.text ?? nameOf(event.by); // `t.add_(1)` writes through t, though a loop before has left p there
  const readers = opened.index
    .handlesOf(event.storage, index)
    .filter((uid) => uid !== event.by && hasName(uid) && cells && readsAnyOf(findHandle(entities, uid), cells))
    .map(nameOf);
  const isNamed = target !== undefined || hasName(event.by);
  readers.sort((a, b) => Number(targets.has(b)) - Number(targets.has(a))); // `c[0] = 1` writes c, whoever else reads there
  const memoryName = isNamed ? event.storage : (readers.shift() ?? event.storage); // by a reader, where nobody wrote it by name
  const args = { tensor: writer, storage: memoryName, n: event.changed ?? "?", others: firstFew(readers) };
  const key = isNamed ? note.key : `${note.key}_memory`;
  return { ...note, key: readers.length ? `${key}_shared` : key, args };
}

/** Whether a handle reads one of the cells, `dtype:index`. @param {import("../trace/entities.js").Handle | undefined} handle
 * @param {Set<string>} cells */
function readsAnyOf(handle, cells) {
  if (!handle) return false;
  const dtype = plainDtype(handle.dtype);
  const changed = new Set(
    [...cells]
      .filter((cell) => plainDtype(cell.slice(0, cell.lastIndexOf(":"))) === dtype)
      .map((cell) => Number(cell.slice(cell.lastIndexOf(":") + 1))),
  );
  return changed.size > 0 && cellReads(handle, MAX_COMPARED_ELEMENTS).some(({ cell }) => changed.has(cell));
}

/** What was saved, and at which version. @param {Note} note @param {import("../trace/wire.js").Saved} event @param {Context} context
 * @returns {Note[]} */
function savedSlotNotes(note, event, { step, entities, nameOf }) {
  const slot = find(entities, event.node, "node")?.saved?.[event.slot];
  if (!slot || step.kind !== "statement") return [];
  const tensorText = slot.tensor ? nameOf(slot.tensor) : (slot.storage ?? "");
  return [{ ...note, args: { ...note.args, tensor: tensorText, expected: slot.expected ?? "" } }];
}
