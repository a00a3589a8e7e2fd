/** Notes on a step's events, each by its row of the registry. */

import { findEntity } from "../trace/entities.ts";
import { firstLine } from "./note_arguments.ts";
import { savedValueArgument } from "./note_saved.ts";
import { memoryWriteNote } from "./note_writes.ts";
import { EVENTS } from "../trace/registry.ts";
import { doesBackwardFailIn } from "../trace/saved_slots.ts";
import type { Event, PathCut, SavedStale } from "../trace/wire.ts";
import type { CaptionNote, CaptionArguments, CaptionContext } from "./note.ts";

const TONE_BY_SEVERITY: Record<string, CaptionNote["tone"]> = { error: "bad", warning: "cut" };

/**
 * The notes of an event: the event's fields are the sentence's arguments. None where its row has no sentence; for what
 * nodes save, see `savedNotes`.
 */
export function eventNotes(context: CaptionContext, event: Event): CaptionNote[] {
  const row = EVENTS[event.event];
  if (!row?.sentence || (context.step.visit && !row.in_visits) || isTrivialEvent(context, event)) return [];
  if (event.event === "saved") return [];
  const fields = { ...event } as Record<string, unknown>;
  const args = { ...fields } as CaptionArguments;
  for (const field of row.refs) {
    const uid = fields[field];
    if (typeof uid === "string") args[field] = uid[0] === "n" ? context.node(uid) : context.named(uid);
  }
  if (typeof args.text === "string") args.text = firstLine(args.text);
  if (typeof args.message === "string") args.message = firstLine(args.message);
  const key = row.sentence.replace(/\{(\w+)\}/g, (_, field) => String(fields[field]));
  const note: CaptionNote = { key, args, tone: TONE_BY_SEVERITY[row.severity], minor: row.severity === "info" };
  switch (event.event) {
    case "written":
      return [memoryWriteNote(note, event, context)];
    case "path_cut":
      return [{ ...note, args: { ...args, way: cutPathArgument(event, context) } }];
    case "version_bumped":
      return [{ ...note, args: { ...args, tensor: ownerOfCounter(context, event.counter) } }];
    case "saved_stale":
      return [staleNote(note, event, context)];
    case "saved_changed_silently":
    case "saved_detached":
      return [{ ...note, args: { ...args, ...factsOfSlot(context, event.node, event.slot) } }];
    default:
      return [note];
  }
}

/** A saved value of another version. It is an error once a backward of the run fails for it; else it would be one. */
function staleNote(note: CaptionNote, { node, slot }: SavedStale, context: CaptionContext): CaptionNote {
  const args = { ...note.args, ...factsOfSlot(context, node, slot) };
  if (doesBackwardFailIn(context.opened.trace.steps, node)) return { ...note, args };
  return { key: "stale_unneeded", args };
}

/** A number that is read for itself cuts nothing; a version matters where a saved value expects another. */
function isTrivialEvent({ opened, step, index }: CaptionContext, event: Event) {
  if (event.event === "path_cut" && event.reason === "item")
    return opened.trace.program.statements?.[step.stmt ?? -1]?.kind !== "Assign";
  if (event.event !== "version_bumped") return false;
  return ![...opened.index.slots.values()].some(
    ({ counter, birth, released }) => counter === event.counter && birth < index && (released ?? Infinity) > index,
  );
}

/** Along what no gradient comes back: through the result, if it has a name. */
function cutPathArgument({ result }: PathCut, { pathOf }: CaptionContext) {
  const path = pathOf(result);
  return path
    ? { key: "cut_way", args: { result: { name: path, of: result ?? undefined } } }
    : { key: "cut_way_unnamed", args: {} };
}

/** The first name of those whose version a counter is. */
function ownerOfCounter({ opened, index, pathOf, named }: CaptionContext, counter: string) {
  const handles = opened.index.handlesSharingCounter(counter, index);
  return named(handles.find((uid) => pathOf(uid)) ?? null);
}

/** What a slot keeps, the version that it expects, and that of now. */
function factsOfSlot(context: CaptionContext, node: string, slotName: string): CaptionArguments {
  const { entities, before } = context;
  const slot = (findEntity(entities, node, "node") ?? findEntity(before, node, "node"))?.saved?.[slotName];
  const counter = findEntity(entities, slot?.counter, "counter");
  return {
    kept: slot ? savedValueArgument(context, node, slotName, slot) : { key: "kept_unnamed", args: {} },
    expected: slot?.expected ?? "?",
    now: counter?.value ?? "?",
  };
}
