/** Notes on writes into memory that was there: which numbers are other ones, and who else reads them. */

import { findEntity, findHandle, type Handle } from "../trace/entities.ts";
import { mentionsAt } from "../findings/facts/statement_mentions.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { cellReads, numel, unqualifiedDtype } from "../trace/reads.ts";
import { numberText, valueText } from "./note_arguments.ts";
import type { Written } from "../trace/wire.ts";
import type { CaptionNote, CaptionArgument, CaptionContext } from "./note.ts";

/** Handles with more elements than this are not asked which of them they read. */
const MAX_ELEMENTS_SEARCHED = 4096;

/** The note of a write, with its readers. */
export function memoryWriteNote(note: CaptionNote, event: Written, context: CaptionContext): CaptionNote {
  const { opened, index, step, pathOf, written } = context;
  const { targets } = mentionsAt(new RunFacts(opened), index);
  const tags = opened.names(index).tags.get(event.by ?? "") ?? [];
  // `t.add_(1)` writes through t, though a loop before has left p there
  const target = tags.find(({ kind, frame, name }) => kind === "var" && frame === step.frame && targets.has(name));
  const cells = written.get(event.storage);
  const readers = opened.index
    .handlesOfStorage(event.storage, index)
    .filter((uid) => uid !== event.by && pathOf(uid) && cells && elementsReadingCells(context, uid, cells).length);
  // `c[0] = 1` writes c, whoever else reads there
  readers.sort((a, b) => Number(targets.has(pathOf(b) ?? "")) - Number(targets.has(pathOf(a) ?? "")));
  const isNamed = target !== undefined || pathOf(event.by) !== null;
  const isTargetReader = readers.length > 0 && targets.has(pathOf(readers[0]) ?? "");
  const subject = isNamed && !(target === undefined && isTargetReader) ? (event.by ?? null) : (readers.shift() ?? null);
  const others = readers.filter((uid) => uid !== subject);
  if (!subject) return { ...note, key: `${note.key}_memory`, args: { n: event.changed ?? "?" } };
  const path = (subject === event.by ? target?.text : null) ?? pathOf(subject) ?? "";
  if (isNamed && subject !== event.by && event.by) others.push(event.by);
  return { ...note, ...noteOfChangedNumbers(context, event, subject, path, others) };
}

/** What of a tensor's numbers is other now: the one that is, all of a few, or how many. */
function noteOfChangedNumbers(
  context: CaptionContext,
  event: Written,
  uid: string,
  path: string,
  others: string[],
): Pick<CaptionNote, "key" | "args"> {
  const { entities, written, pathOf } = context;
  const handle = findHandle(entities, uid);
  const total = numel(handle?.shape);
  const cells = written.get(event.storage) ?? new Set<string>();
  const reads = elementsReadingCells(context, uid, cells);
  const names = others.flatMap((other) => {
    const name = pathOf(other);
    return name ? [{ name, of: other }] : [];
  });
  const isShared = names.length > 0;
  if (event.changed === 0) return { key: "written_same", args: { name: { name: path, of: uid } } };
  // the storage may list its memory once for each type that reads it
  const type = event.region?.dtype;
  const listed = [...cells].filter((cell) => !type || cell.startsWith(`${type}:`)).length;
  const isKnown = event.changed === listed && reads.length > 0;
  if (isKnown && reads.length === 1) {
    const place = elementName(path, reads[0].index, handle);
    const value = cellText(context, event.storage, handle, reads[0].cell);
    const element = { name: place };
    if (value !== null && !isShared) return { key: "written_one", args: { element, value } };
    if (value !== null && names.length === 1) {
      const theirs = elementsReadingCells(context, others[0], cells);
      const otherHandle = findHandle(entities, others[0]);
      if (theirs.length === 1 && otherHandle?.dtype === handle?.dtype && !hasBits(otherHandle) && !hasBits(handle))
        return {
          key: "written_one_shared",
          args: {
            element,
            value,
            other: names[0],
            others: { name: elementName(names[0].name, theirs[0].index, otherHandle) },
          },
        };
    }
    if (value !== null) return { key: "written_one_many", args: { element, value, n: names.length, others: names } };
  }
  const value = isKnown && reads.length === total ? valueText(entities, uid) : null;
  const args: Record<string, CaptionArgument> = {
    name: { name: path, of: uid },
    n: isKnown ? reads.length : (event.changed ?? ""),
    total,
    others: names,
    count: names.length,
    value,
  };
  const how =
    value !== null
      ? "written_value"
      : event.changed === null || !event.changed
        ? "written_some"
        : isKnown && reads.length === total
          ? "written_all"
          : "written_count";
  return { key: isShared ? `${how}_shared` : how, args };
}

function hasBits(handle: Handle | undefined) {
  return Boolean(handle?.bits?.length);
}

function cellText({ entities }: CaptionContext, storage: string, handle: Handle | undefined, cell: number) {
  if (!handle || hasBits(handle)) return null;
  const { cells, windows } = findEntity(entities, storage, "storage") ?? {};
  const dtype = handle.dtype ?? "";
  const inWindow = (windows?.[dtype] ?? []).find(([from, values]) => from <= cell && cell < from + values.length);
  const value = cells?.[dtype]?.[cell] ?? inWindow?.[1][cell - inWindow[0]];
  return value === undefined ? null : numberText(value);
}

/** `c[0]`, or `loss` of a single number without a dimension. */
function elementName(path: string, index: number[], handle: Handle | undefined) {
  return handle?.shape?.length ? `${path}[${index.join(", ")}]` : path;
}

/** The elements of a handle that read one of the cells, `dtype:index`. */
export function elementsReadingCells({ entities }: CaptionContext, uid: string, cells: Set<string>) {
  const handle = findHandle(entities, uid);
  if (!handle) return [];
  const dtype = unqualifiedDtype(handle.dtype);
  const changed = new Set(
    [...cells]
      .filter((cell) => unqualifiedDtype(cell.slice(0, cell.lastIndexOf(":"))) === dtype)
      .map((cell) => Number(cell.slice(cell.lastIndexOf(":") + 1))),
  );
  return changed.size ? cellReads(handle, MAX_ELEMENTS_SEARCHED).filter(({ cell }) => changed.has(cell)) : [];
}

/** Where autograd follows what was written in place and other tensors are kept for backward: that this one is not. */
export function writeToUnsavedMemoryNotes({ opened, step, index, entities }: CaptionContext): CaptionNote[] {
  const storages = new Set(
    step.log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" && entry.changed !== 0 ? [entry.storage] : [],
    ),
  );
  const [storage] = storages;
  if (storages.size !== 1 || step.kind !== "statement") return [];
  const isFollowed = opened.index
    .handlesOfStorage(storage, index)
    .some((uid) => findEntity(entities, uid, "tensor")?.requires_grad);
  const living = [...opened.index.slots.values()].filter(
    ({ birth, released }) => birth < index && (released ?? Number.POSITIVE_INFINITY) > index,
  );
  if (!isFollowed || !living.length || living.some((slot) => slot.storage === storage)) return [];
  return [{ key: "written_unkept", args: {}, minor: true }];
}
