/**
 * Backward stopped because numbers that it had kept were overwritten: which, where they were kept, and by which line.
 */

import { skippedIterationsBefore } from "../../trace/steps/skipped_iterations.ts";
import { codeFact, declareErrorDiagnosis, nameTextOfFact, operationName, phrase } from "../diagnosis.ts";
import type { Diagnosis, Facts, Fix, LineAndStep, RunFacts } from "../diagnosis.ts";
import { cellExtentOfHandle, unqualifiedDtype, cellReads } from "../../trace/reads.ts";
import { reachableNodes, shortestNodePath } from "../facts/graph_walk.ts";
import { inplaceFlags, isInPlaceOperation } from "./refused_write.ts";
import { writerKindAt, type WriterKind } from "../facts/write_origins.ts";
import type { SavedSlot } from "../../trace/trace_index.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({ kind: "saved_overwritten", lookedFor: "writes", say: savedTensorOverwritten }),
];

/** How torch calls what a node saved of its own result. */
const RESULT_SLOTS = /^(?:result\d*|output|grid)$/;
/** So many elements of a kept tensor are compared with those that were written. */
const MAX_COMPARED_ELEMENTS = 4096;

function savedTensorOverwritten(facts: RunFacts): Diagnosis | null {
  const failed = facts.failedVisit;
  if (!failed) return null;
  const slot = facts.slotsOfNode(failed.node).find(({ stale }) => stale !== null && stale <= failed.step);
  if (!slot || slot.stale === null) return null;
  const staleEvent = facts
    .eventsOfKind("saved_stale")
    .find((event) => event.node === slot.node && event.slot === slot.slot);
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
  const stepWriter = writerKindAt(facts, step, op, slot.storage);
  const place = staleEvent?.place ?? null;
  const writerKind = place
    ? "elsewhere"
    : stepWriter === "program" && isBuffer(facts, saved, slot.birth)
      ? "buffer"
      : stepWriter;
  const missesSaved = doesWriteMissSavedElements(facts, slot, step);
  const isAlias = writerUid !== null && writerUid !== saved && JSON.stringify(x) !== JSON.stringify(y);
  const carried = writerKind === "optimizer" ? carriedState(facts, slot, step, failed.step) : null;
  const findingFacts = {
    x,
    y,
    ...(carried ? { carrier: codeFact(carried.name), at: facts.lineOf(carried.step) } : {}),
    op: facts.nodeOperationName(slot.node),
    write: op ? operationName(op) : "=",
    saved_line: facts.lineOf(slot.birth),
    check_line: facts.place(failed.step).line,
    expected: slot.expected ?? 0,
    version: versionAt(facts, slot.counter, failed.step),
    needs: phrase(
      `finding.saved_overwritten.needs_${isSlotOfOwnResult(slot) || isNodeOutput(facts, slot, saved) ? "result" : "input"}`,
    ),
    flags: inplaceFlagPhrase(facts),
    ...(place
      ? {
          file: place.file,
          file_line: place.line,
          file_code: codeFact(place.code),
          unstepped_module: place.module,
        }
      : {}),
  };
  const aliasBirth = writerUid ? facts.birthStep(writerUid) : -1;
  const unseen = (staleEvent?.span ?? write?.span) && !place ? skippedIterationsBefore(facts.trace, step) : null;
  if (unseen)
    return {
      variant: "unrecorded",
      cause: step,
      chain: [
        [slot.birth, "saved", [slot.node, saved], {}, slot.key],
        [step, "written", [writerUid, slot.storage]],
        [failed.step, "checked", [slot.node], {}, slot.key],
      ],
      names: [x, y],
      facts: { ...findingFacts, loop: facts.trace.program.statements?.[unseen.loop]?.line ?? facts.place(step).line },
    };
  return {
    variant: carried ? "carried" : writerKind === "program" ? overwriteVariant(isAlias, missesSaved) : writerKind,
    cause: step,
    chain: [
      [slot.birth, "saved", [slot.node, saved], {}, slot.key],
      isAlias && aliasBirth > slot.birth && aliasBirth < step && [aliasBirth, "shares", [writerUid, saved]],
      [step, "written", [writerUid, slot.storage]],
      [failed.step, "checked", [slot.node], {}, slot.key],
    ],
    names: [x, y],
    facts: findingFacts,
    fixes: carried
      ? [["detach_start", { name: carried.name }, carried.step]]
      : overwriteFixes(writerKind, facts.error?.line ?? 0, slot.birth, facts.place(step), findingFacts),
  };
}

/**
 * The state of a recurrence that was computed before an optimizer's step, taken over under a name of its own, and
 * walked into by a loss that was computed after it: the name, and the step that took it over.
 */
function carriedState(facts: RunFacts, slot: SavedSlot, write: number, failed: number) {
  const root = facts.backwardAt(failed)?.roots.find((uid) => uid && facts.tensor(uid, failed)?.grad_fn);
  const start = facts.tensor(root, failed)?.grad_fn;
  if (!start || facts.birthStep(start) <= write) return null;
  const path = shortestNodePath(facts, start, (node) => node === slot.node);
  const entry = path?.find((node) => facts.birthStep(node) <= write);
  if (!entry) return null;
  const made = facts.birthStep(entry);
  const { stmt } = facts.steps[made];
  const isOfEarlierRound = (node: string) =>
    facts.birthStep(node) < made && facts.steps[facts.birthStep(node)]?.stmt === stmt;
  if (![...reachableNodes(facts, entry)].some(isOfEarlierRound)) return null;
  const names = facts.index
    .outputsOfNode(entry, made)
    .flatMap((uid) => facts.naming.namesAsRead(failed).namesOf(uid))
    .map(({ text }) => text.replace(/\[.*$/, ""));
  for (const name of new Set(names)) {
    const meanings = facts.meaningsOf(facts.steps[failed].frame, name);
    const taken = meanings.findLast(({ step }) => step < failed);
    if (taken && taken.step > made && facts.steps[taken.step].stmt !== stmt) return { name, step: taken.step };
  }
  return null;
}

function overwriteVariant(isAlias: boolean, missesSaved: boolean) {
  if (missesSaved) return "beside";
  return isAlias ? "alias" : undefined;
}

/** Whether all that a step wrote in the memory of a saved tensor lies beside the elements that were saved: the
 * counter moved and those numbers did not. */
function doesWriteMissSavedElements(facts: RunFacts, slot: SavedSlot, step: number) {
  const saved = facts.node(slot.node, slot.birth)?.saved?.[slot.slot];
  const regions = facts.writesOf(slot.storage).flatMap((event) => (event.step === step ? [event.region] : []));
  if (!saved?.shape?.every(Boolean) || !saved.stride || !regions.length) return false;
  return regions.every((region) => {
    if (!region || unqualifiedDtype(region.dtype) !== unqualifiedDtype(saved.dtype)) return false;
    const savedExtent = cellExtentOfHandle({ ...saved, storage: slot.storage });
    const writtenExtent = cellExtentOfHandle({ ...region, storage: slot.storage });
    if (!savedExtent || !writtenExtent) return false;
    if (writtenExtent[1] < savedExtent[0] || savedExtent[1] < writtenExtent[0]) return true;
    const savedCells = new Set(cellReads(saved, MAX_COMPARED_ELEMENTS).map(({ cell }) => cell));
    const written = cellReads({ ...region, storage: slot.storage }, MAX_COMPARED_ELEMENTS);
    return savedCells.size > 0 && written.length > 0 && written.every(({ cell }) => !savedCells.has(cell));
  });
}

/** The in-place operation of a step on memory that the step itself allocated: there is no event of that. */
function inPlaceOperationOn(facts: RunFacts, step: number, storageUid: string) {
  return facts
    .opsAt(step)
    .findLast(({ name, inputs }) => isInPlaceOperation(name) && facts.handle(inputs[0], step)?.storage === storageUid);
}

/** Whether a handle is what the node itself gave. */
function isNodeOutput(facts: RunFacts, slot: SavedSlot, uid: string | null) {
  return uid !== null && facts.index.outputsOfNode(slot.node, slot.birth).includes(uid);
}

/** A gradient by its path, `x.grad`; anything else by its name. */
function nameOrGradPath(facts: RunFacts, uid: string | null, step: number) {
  const gradient = uid ? facts.naming.gradPathAt(uid, step) : null;
  return gradient ? codeFact(gradient) : facts.nameFact(uid, step);
}

/** Whether a tensor is a module's and no parameter. */
function isBuffer(facts: RunFacts, uid: string | null, step: number) {
  return uid !== null && facts.index.moduleOfTensor.has(uid) && facts.tensor(uid, step)?.requires_grad === false;
}

/** The lines that ask modules to work in place, where there are any. */
function inplaceFlagPhrase(facts: RunFacts) {
  const lines = [...new Set(inplaceFlags(facts).map(({ line }) => line))];
  return lines.length ? phrase("finding.saved_overwritten.flag_lines", { lines }) : "";
}

function versionAt(facts: RunFacts, counterUid: string | null, step: number) {
  const entity = facts.stateAt(step).get(counterUid ?? "");
  return (entity?.kind === "counter" ? entity.value : null) ?? "?";
}

function overwriteFixes(
  writerKind: WriterKind | "elsewhere",
  raised: number,
  saved: number,
  write: LineAndStep,
  { x, y }: Facts,
): Fix[] {
  const cloneSaved: Fix = ["clone_saved", { name: nameTextOfFact(x) }, saved];
  const cloneBefore: Fix = ["clone_before", { name: nameTextOfFact(y) }];
  if (writerKind === "elsewhere") return [];
  if (writerKind === "optimizer")
    return [
      ["forward_again", { to: write.line }, saved],
      ["step_after_backward", { to: raised }],
      ["detach_carried", {}, saved],
    ];
  if (writerKind === "module") return [["not_inplace"], cloneSaved, cloneBefore];
  if (writerKind === "accumulated") return [cloneSaved];
  return [cloneBefore, ["out_of_place", { name: nameTextOfFact(y) }], cloneSaved];
}

/** The handle that a slot keeps: the tensor that was saved, else the node's own output, else whatever reads that
 * memory under a name, else what lived only in that step. */
function savedHandle(facts: RunFacts, slot: SavedSlot): string | null {
  const { node, birth, storage, tensor } = slot;
  if (tensor && facts.nameText(tensor, birth)) return tensor;
  const readers = facts.index.handlesOfStorage(storage, birth);
  const outputs = facts.index.outputsOfNode(node, birth);
  const candidates = [...outputs.filter((uid) => readers.includes(uid)), ...readers];
  const results = facts.opsAt(birth).flatMap(({ outputs }) => outputs);
  const temporary = results.find((uid) => facts.scan.initialFields(uid)?.storage === storage);
  return candidates.find((uid) => facts.nameText(uid, birth)) ?? tensor ?? candidates[0] ?? temporary ?? null;
}

/** Whether a node saved its own result. */
function isSlotOfOwnResult({ slot }: SavedSlot) {
  return RESULT_SLOTS.test(slot);
}
