/** Notes on a step's events, each by its row of the registry. */

import { findEntity, findHandle, type Handle } from "../trace/entities.ts";
import { mentionsAt } from "../findings/program_text.ts";
import { RunFacts } from "../findings/run_facts.ts";
import { unqualifiedDtype, cellReads } from "../layout/reads.ts";
import { listFirstFew, firstLine } from "./note_texts.ts";
import { EVENTS } from "../trace/registry.ts";
import type { Event, Saved, Written } from "../trace/wire.ts";
import type { NoteContext, CaptionNote } from "./note.ts";

/** Handles with more elements than this are not asked which of them they read. */
const MAX_ELEMENTS_SEARCHED_FOR_WRITES = 4096;

const TONE_BY_SEVERITY: Record<string, CaptionNote["tone"]> = { error: "bad", warning: "cut" };

/**
 * The note of an event: the event's fields are the sentence's arguments.
 * @returns none where its row has no sentence
 */
export function eventNotes(context: NoteContext, event: Event): CaptionNote[] {
  const row = EVENTS[event.event];
  if (!row?.sentence || (context.step.visit && !row.in_visits) || isTrivialEvent(context, event)) return [];
  const args: Record<string, unknown> = { ...event };
  for (const field of row.refs) {
    const uid = args[field];
    if (typeof uid === "string") args[field] = uid[0] === "n" ? context.nodeName(uid) : context.nameOf(uid);
  }
  if (typeof args.text === "string") args.text = firstLine(args.text);
  const fields = { ...event } as Record<string, unknown>;
  const key = row.sentence.replace(/\{(\w+)\}/g, (_, field) => String(fields[field]));
  const note: CaptionNote = { key, args, tone: TONE_BY_SEVERITY[row.severity], minor: row.severity === "info" };
  if (event.event === "written") return [noteOfWrite(note, event, context)];
  if (event.event === "saved") return notesOfSavedSlot(note, event, context);
  return [note];
}

/** A number that is read for itself cuts nothing; a version matters where a saved value expects another. */
function isTrivialEvent({ opened, step, index }: NoteContext, event: Event) {
  if (event.event === "path_cut" && event.reason === "item")
    return opened.trace.program.statements?.[step.stmt ?? -1]?.kind !== "Assign";
  if (event.event !== "version_bumped") return false;
  return ![...opened.index.slots.values()].some(
    ({ counter, birth, released }) => counter === event.counter && birth < index && (released ?? Infinity) > index,
  );
}

/** Who else reads what was written. */
function noteOfWrite(
  note: CaptionNote,
  event: Written,
  { opened, index, step, entities, written, nameOf, hasName }: NoteContext,
): CaptionNote {
  const cells = written.get(event.storage);
  const { targets } = mentionsAt(new RunFacts(opened), index);
  const tags = opened.names(index).tags.get(event.by ?? "") ?? [];
  const target = tags.find(({ kind, frame, name }) => kind === "var" && frame === step.frame && targets.has(name));
  const writer = target?.text ?? nameOf(event.by); // `t.add_(1)` writes through t, though a loop before has left p there
  const readers = opened.index
    .handlesOfStorage(event.storage, index)
    .filter((uid) => uid !== event.by && hasName(uid) && cells && readsAnyOf(findHandle(entities, uid), cells))
    .map(nameOf);
  const isNamed = target !== undefined || hasName(event.by);
  readers.sort((a, b) => Number(targets.has(b)) - Number(targets.has(a))); // `c[0] = 1` writes c, whoever else reads there
  const memoryName = isNamed ? event.storage : (readers.shift() ?? event.storage); // by a reader, where nobody wrote it by name
  const args = { tensor: writer, storage: memoryName, n: event.changed ?? "?", others: listFirstFew(readers) };
  const key = isNamed ? note.key : `${note.key}_memory`;
  return { ...note, key: readers.length ? `${key}_shared` : key, args };
}

/** Whether a handle reads one of the cells, `dtype:index`. */
function readsAnyOf(handle: Handle | undefined, cells: Set<string>) {
  if (!handle) return false;
  const dtype = unqualifiedDtype(handle.dtype);
  const changed = new Set(
    [...cells]
      .filter((cell) => unqualifiedDtype(cell.slice(0, cell.lastIndexOf(":"))) === dtype)
      .map((cell) => Number(cell.slice(cell.lastIndexOf(":") + 1))),
  );
  return changed.size > 0 && cellReads(handle, MAX_ELEMENTS_SEARCHED_FOR_WRITES).some(({ cell }) => changed.has(cell));
}

/** What was saved, and at which version. */
function notesOfSavedSlot(note: CaptionNote, event: Saved, { step, entities, nameOf }: NoteContext): CaptionNote[] {
  const slot = findEntity(entities, event.node, "node")?.saved?.[event.slot];
  if (!slot || step.kind !== "statement") return [];
  const tensorText = slot.tensor ? nameOf(slot.tensor) : (slot.storage ?? "");
  return [{ ...note, args: { ...note.args, tensor: tensorText, expected: slot.expected ?? "" } }];
}
