/** Backward stopped because numbers that it had kept were overwritten: which, where they were kept, and by which line. */

import { cellExtentOfHandle, unqualifiedDtype, cellReads } from "../layout/reads.ts";
import { code, fix, link, nameOf, namesOf, phrase, type Diagnosis, type Facts, type FixHint } from "./finding.ts";
import { operationName } from "./operation_name.ts";
import { isInPlace } from "./refused_write.ts";
import { isOwnResult, savedHandle } from "./saved_values.ts";
import { writerKindAt, type Writer } from "./write_facts.ts";
import type { SavedSlot } from "../trace/trace_index.ts";
import type { RunFacts } from "./run_facts.ts";

/** So many elements of a kept tensor are compared with those that were written. */
const MAX_ELEMENTS = 4096;

export function savedOverwritten(facts: RunFacts): Diagnosis[] {
  const failed = facts.failedVisit;
  if (!failed) return [];
  const slot = facts.slotsOfNode(failed.node).find(({ stale }) => stale !== null && stale <= failed.step);
  if (!slot || slot.stale === null) return [];
  const staleEvent = facts.events("saved_stale").find((event) => event.node === slot.node && event.slot === slot.slot);
  const step = staleEvent?.step ?? slot.stale;
  const writerUid = staleEvent?.by ?? null;
  const write = facts
    .writesOf(slot.storage)
    .find((event) => event.step === step && (!writerUid || event.by === writerUid));
  const op =
    (write && facts.operationOfEvent(write)?.name) ?? inPlaceOperationOn(facts, step, slot.storage)?.name ?? "";
  const saved = savedHandle(facts, slot);
  const x = nameOrGradPath(facts, saved, slot.birth);
  const y = facts.nameFact(writerUid ?? saved, step);
  const stepWriter = writerKindAt(facts, step, op);
  const writerKind = stepWriter === "program" && isBuffer(facts, saved, slot.birth) ? "buffer" : stepWriter;
  const missesSaved = missesSavedElements(facts, slot, step);
  const isAlias = writerUid !== null && writerUid !== saved && JSON.stringify(x) !== JSON.stringify(y);
  const findingFacts = {
    x,
    y,
    op: facts.operation(slot.node),
    write: op ? operationName(op) : "=",
    code: facts.codeFact(step),
    saved_line: facts.lineOf(slot.birth),
    check_line: facts.place(failed.step).line,
    expected: slot.expected ?? 0,
    version: versionAt(facts, slot.counter, failed.step),
    needs: phrase(
      `finding.saved_overwritten.needs_${isOwnResult(slot) || isOutput(facts, slot, saved) ? "result" : "input"}`,
    ),
    flags: flagPhrase(facts),
  };
  const chain = [link(facts.place(slot.birth), "saved", findingFacts, [slot.node, saved], slot.key)];
  const aliasBirth = writerUid ? facts.birth(writerUid) : -1;
  if (isAlias && aliasBirth > slot.birth && aliasBirth < step)
    chain.push(link(facts.place(aliasBirth), "shares", findingFacts, [writerUid, saved]));
  chain.push(link(facts.place(step), "written", findingFacts, [writerUid, slot.storage]));
  chain.push(link(facts.place(failed.step), "checked", findingFacts, [slot.node], slot.key));
  return [
    {
      variant: writerKind === "program" ? variantOf(isAlias, missesSaved) : writerKind,
      cause: facts.place(step),
      chain,
      names: namesOf(x, y),
      facts: findingFacts,
      fixes: fixesFor(writerKind, facts, slot, step, findingFacts),
      explainsError: true,
    },
  ];
}

function variantOf(isAlias: boolean, missesSaved: boolean) {
  if (missesSaved) return "beside";
  return isAlias ? "alias" : undefined;
}

/** Whether all that a step wrote in the memory of a saved tensor lies beside the elements that were saved: the
 * counter moved and those numbers did not. */
function missesSavedElements(facts: RunFacts, slot: SavedSlot, step: number) {
  const saved = facts.node(slot.node, slot.birth)?.saved?.[slot.slot];
  const regions = facts.writesOf(slot.storage).flatMap((event) => (event.step === step ? [event.region] : []));
  if (!saved?.shape?.every(Boolean) || !saved.stride || !regions.length) return false;
  return regions.every((region) => {
    if (!region || unqualifiedDtype(region.dtype) !== unqualifiedDtype(saved.dtype)) return false;
    const savedExtent = cellExtentOfHandle({ ...saved, storage: slot.storage });
    const writtenExtent = cellExtentOfHandle({ ...region, storage: slot.storage });
    if (!savedExtent || !writtenExtent) return false;
    if (writtenExtent[1] < savedExtent[0] || savedExtent[1] < writtenExtent[0]) return true;
    const savedCells = new Set(cellReads(saved, MAX_ELEMENTS).map(({ cell }) => cell));
    const written = cellReads({ ...region, storage: slot.storage }, MAX_ELEMENTS);
    return savedCells.size > 0 && written.length > 0 && written.every(({ cell }) => !savedCells.has(cell));
  });
}

/** The in-place operation of a step on memory that the step itself allocated: there is no event of that. */
function inPlaceOperationOn(facts: RunFacts, step: number, storageUid: string) {
  return facts
    .opsAt(step)
    .findLast(({ name, inputs }) => isInPlace(name) && facts.handle(inputs[0], step)?.storage === storageUid);
}

/** Whether a handle is what the node itself gave. */
function isOutput(facts: RunFacts, slot: SavedSlot, uid: string | null) {
  return uid !== null && facts.index.outputsOfNode(slot.node, slot.birth).includes(uid);
}

/** A gradient by its path, `x.grad`; anything else by its name. */
function nameOrGradPath(facts: RunFacts, uid: string | null, step: number) {
  const gradient = uid ? facts.naming.gradPathAt(uid, step) : null;
  return gradient ? code(gradient) : facts.nameFact(uid, step);
}

/** Whether a tensor is a module's and no parameter. */
function isBuffer(facts: RunFacts, uid: string | null, step: number) {
  return uid !== null && facts.index.moduleOfTensor.has(uid) && facts.tensor(uid, step)?.requires_grad === false;
}

/** The lines that ask modules to work in place, where there are any. */
function flagPhrase(facts: RunFacts) {
  const lines = facts.source.flatMap((text, k) => (/inplace\s*=\s*True/.test(text) ? [k + 1] : []));
  return lines.length ? phrase("finding.saved_overwritten.flag_lines", { lines }) : "";
}

function versionAt(facts: RunFacts, counterUid: string | null, step: number) {
  const entity = facts.state(step).get(counterUid ?? "");
  return (entity?.kind === "counter" ? entity.value : null) ?? "?";
}

function fixesFor(writerKind: Writer, facts: RunFacts, slot: SavedSlot, step: number, findingFacts: Facts): FixHint[] {
  const writePlace = facts.place(step);
  const savedPlace = facts.place(slot.birth);
  if (writerKind === "optimizer")
    return [
      fix("forward_again", savedPlace, { to: writePlace.line }),
      fix("step_after_backward", writePlace, { to: facts.error?.line ?? 0 }),
      fix("detach_carried", savedPlace),
    ];
  if (writerKind === "module")
    return [
      fix("not_inplace", writePlace),
      fix("clone_saved", savedPlace, { name: nameOf(findingFacts.x) }),
      fix("clone_before", writePlace, { name: nameOf(findingFacts.y) }),
    ];
  if (writerKind === "accumulated") return [fix("clone_saved", savedPlace, { name: nameOf(findingFacts.x) })];
  return [
    fix("clone_before", writePlace, { name: nameOf(findingFacts.y) }),
    fix("out_of_place", writePlace, { name: nameOf(findingFacts.y) }),
    fix("clone_saved", savedPlace, { name: nameOf(findingFacts.x) }),
  ];
}
