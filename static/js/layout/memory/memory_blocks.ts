/** The storages of a step as rows to draw: with the handles that read them, their names, gradients and pins. */

import { isHandle } from "../../trace/entities.ts";
import { createUnnamedStoragePurposeFinder } from "./nameless.ts";
import { namesOfHandle, uidNumber } from "./pane_names.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { ShownName, RowBlock } from "./memory_parts.ts";

/** those with names, those that an optimizer keeps, and those without */
export interface RowBlocks {
  named: RowBlock[];
  states: RowBlock[];
  nameless: RowBlock[];
}

export function memoryRowBlocks(memoryStep: MemoryStep): RowBlocks {
  const purposeOf = createUnnamedStoragePurposeFinder(memoryStep);
  const named = [] as RowBlock[];
  const optimizerStates = [] as RowBlock[];
  const nameless = [] as RowBlock[];
  const gradients = new Map<string, RowBlock>();
  const byHandle = new Map<string, RowBlock>();
  for (const [key, uids] of memoryStep.readers) {
    const block = makeRowBlock(memoryStep, key, uids);
    const gradientUid = block.handles.length ? undefined : uids.find((uid) => memoryStep.owners.has(uid));
    if (block.handles.length) {
      named.push(block);
      for (const uid of block.handles) byHandle.set(uid, block);
    } else if (gradientUid) gradients.set(gradientUid, block);
    else if (block.state) optimizerStates.push(block);
    else nameless.push(block);
  }
  for (const [uid, entity] of memoryStep.entities)
    if (entity.kind === "storage" && !memoryStep.readers.has(uid)) nameless.push(makeRowBlock(memoryStep, uid, []));
  for (const block of nameless)
    for (const uid of block.uids) if (addFormerName(memoryStep, block, uid)) byHandle.set(uid, block);
  for (const [uid, block] of gradients) {
    const ownerUid = memoryStep.owners.get(uid) ?? "";
    const row = byHandle.get(ownerUid);
    showHandleFirst(block, uid);
    if (row) attachGradientBlock(row, ownerUid, block);
    else nameless.push(block);
  }
  for (const block of named) addRemovedGradients(memoryStep, block);
  const numberOf = (block: RowBlock) => uidNumber(block.key);
  for (const list of [optimizerStates, nameless]) list.sort((a, b) => numberOf(a) - numberOf(b));
  for (const block of nameless) {
    block.purpose ??= purposeOf(block);
  }
  for (const block of [...optimizerStates, ...nameless])
    if (block.others.length && !block.handles.length)
      showHandleFirst(block, block.purpose?.gradient ?? block.others[0]);
  return { named, states: optimizerStates, nameless };
}

/** A leaf that lost its name and still gets gradients is called by the name that it had. Returns whether it is one. */
function addFormerName(memoryStep: MemoryStep, block: RowBlock, uid: string): boolean {
  const handle = memoryStep.entities.get(uid);
  const firstName = memoryStep.firstNames.byUid.get(uid);
  if (handle?.kind !== "tensor" || !handle.leaf || !handle.requires_grad || !firstName?.main) return false;
  if (memoryStep.names.tags.has(uid) || !memoryStep.firstNames.formerNames.has(firstName.key)) return false;
  block.former = { rank: firstName.rank, section: firstName.section };
  block.purpose = { foldKind: "unnamed", labelKey: "oldName", name: firstName.path };
  showHandleFirst(block, uid);
  return true;
}

/** Puts a handle without a name in front. */
function showHandleFirst(block: RowBlock, uid: string) {
  block.handles = [uid];
  block.others = block.others.filter((other) => other !== uid);
}

function attachGradientBlock(row: RowBlock, ownerUid: string, block: RowBlock) {
  row.grads.set(ownerUid, block);
  row.hot ||= block.hot;
  row.heat = Math.max(row.heat, block.heat);
}

function makeRowBlock(memoryStep: MemoryStep, key: string, uids: string[]): RowBlock {
  const storageUid = key.startsWith("none ") ? null : key;
  const names = new Map<string, ShownName[]>();
  let state = null;
  const section = memoryStep.firstNames.ofStorage(key)?.section ?? "";
  for (const uid of uids) {
    const wornNames = memoryStep.namesShownOn(uid);
    state ??= wornNames.state;
    if (wornNames.list.length) names.set(uid, namesOfHandle(memoryStep, uid, wornNames.list, section));
  }
  const allUids = [...(storageUid ? [storageUid] : []), ...uids];
  for (const uid of uids) {
    const handle = memoryStep.entities.get(uid);
    if (isHandle(handle) && handle.counter && !allUids.includes(handle.counter)) allUids.push(handle.counter);
  }
  const { fresh, written } = memoryStep.snapshot;
  const hasNewName = [...names.values()].some((list) => list.some((name) => name.moved));
  const isTouched = hasNewName || allUids.some((uid) => memoryStep.touched.uids.has(uid));
  const isChanged = hasNewName || written.has(key) || fresh.has(key) || uids.some((uid) => fresh.has(uid));
  const pins = memoryStep.pins.get(key) ?? [];
  return {
    storage: storageUid,
    key,
    handles: sortHandlesByCounter(
      memoryStep,
      uids.filter((uid) => names.has(uid)),
    ),
    others: uids.filter((uid) => !names.has(uid)),
    uids: allUids,
    names,
    grads: new Map(),
    lost: new Map(),
    pins,
    hot: isTouched,
    heat: isTouched ? (isChanged ? 2 : 1) : 0,
    broken: pins.some((pin) => pin.broken),
    kept: memoryStep.model.kept.has(key),
    label: "",
    purpose: null,
    former: null,
    state,
  };
}

/** Handles of one counter stand together, then by their names. */
function sortHandlesByCounter(memoryStep: MemoryStep, uids: string[]) {
  if (uids.length < 2) return uids;
  const counterOf = (uid: string) => {
    const handle = memoryStep.entities.get(uid);
    return (isHandle(handle) && handle.counter) || uid;
  };
  const firstRank = new Map<string, number>();
  for (const uid of uids)
    firstRank.set(counterOf(uid), Math.min(firstRank.get(counterOf(uid)) ?? Infinity, memoryStep.firstNameRank(uid)));
  const groupRank = (uid: string) => firstRank.get(counterOf(uid)) ?? 0;
  return uids.sort(
    (a, b) =>
      groupRank(a) - groupRank(b) ||
      memoryStep.firstNameRank(a) - memoryStep.firstNameRank(b) ||
      uidNumber(a) - uidNumber(b),
  );
}

/** A gradient that the step took away leaves its place for this step. */
function addRemovedGradients(memoryStep: MemoryStep, block: RowBlock) {
  for (const uid of block.handles) {
    const before = memoryStep.previous.get(uid);
    const now = memoryStep.entities.get(uid);
    if (before?.kind !== "tensor" || !before.grad || now?.kind !== "tensor" || now.grad) continue;
    const grad = memoryStep.previous.get(before.grad);
    const storageUid = isHandle(grad) ? grad.storage : undefined;
    if (!storageUid || memoryStep.entities.has(storageUid)) continue;
    block.lost.set(uid, storageUid);
    [block.hot, block.heat] = [true, 2];
  }
}
