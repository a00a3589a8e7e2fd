/** Memory that lives longer than it has to: a large storage under a small view; cycles are in `memory_cycles.ts`. */

import {
  asFound,
  codeFact,
  diagnosis,
  nameTextOfFact,
  type Diagnosis,
  type NameBinding,
  type RunFacts,
} from "../diagnosis.ts";
import { bytesReadByHandle, mergeDiagnosesByLine } from "./memory_cycles.ts";

export const FINDINGS = [
  diagnosis({
    kind: "memory_held",
    severity: "note",
    of: (facts) => mergeDiagnosesByLine(facts, memoryHeldByViews(facts, facts.lastStep())),
    most: 3,
    say: asFound,
  }),
];

/** A storage counts from so many bytes on, and a view that reads no more than one of so many of them. */
const MIN_STORAGE_BYTES = 2048;
const MIN_STORAGE_TO_VIEW_RATIO = 8;

/** `end` is the last step. */
function memoryHeldByViews(facts: RunFacts, end: number): Diagnosis[] {
  return largeStorages(facts, end).flatMap(({ storage, nbytes }) => {
    const isSmall = (bytes: number) => bytes * MIN_STORAGE_TO_VIEW_RATIO <= nbytes;
    const handles = facts.index.handlesOfStorage(storage, end);
    if (!handles.some((uid) => isSmall(bytesReadByHandle(facts, uid, end)))) return [];
    const { tags } = facts.namesAt(end);
    const named = handles.filter((uid) => tags.has(uid));
    const bytesRead = Math.max(0, ...named.map((uid) => bytesReadByHandle(facts, uid, end)));
    const isKept = facts.index.slotsKeepingStorage(storage, end).length > 0;
    if (!named.length || !isSmall(bytesRead) || isKept) return [];
    return diagnosisOf(facts, storage, named, nbytes, bytesRead, end) ?? [];
  });
}

/** The storages of some size that are there after a step, in the order in which they came. */
function largeStorages(facts: RunFacts, step: number) {
  const out: { storage: string; nbytes: number }[] = [];
  for (const { uid, kind, birth, death } of facts.index.lifetimes.values()) {
    if (kind !== "storage" || birth > step || step > death) continue;
    const nbytes = Number(facts.history.valueAt(uid, "nbytes", step));
    if (nbytes >= MIN_STORAGE_BYTES && !facts.history.valueAt(uid, "within", step)) out.push({ storage: uid, nbytes });
  }
  return out;
}

/**
 * Null where no name led to what the view was made from: what a loop goes over has none. `end` is the last step.
 */
function diagnosisOf(
  facts: RunFacts,
  storageUid: string,
  handles: string[],
  nbytes: number,
  bytesRead: number,
  end: number,
): Diagnosis | null {
  const [holder] = handles;
  const otherBindings = [...facts.index.placements.values()].flatMap(({ uid, storage: otherStorage }) =>
    otherStorage === storageUid && !handles.includes(uid) ? facts.bindingsOf(uid) : [],
  );
  otherBindings.sort((a, b) => b.step - a.step);
  const wholeBinding = otherBindings.find(({ uid }) => isMadeFrom(facts, holder, uid, storageUid, end));
  if (!wholeBinding) return null;
  const nameEndStep = Math.max(
    stepNameStopsMeaning(facts, wholeBinding),
    stepNameStopsMeaning(facts, otherBindings[0]),
  );
  if (nameEndStep > end) return null;
  const x = facts.nameFact(holder, end);
  const isSameName = nameTextOfFact(x) === wholeBinding.name;
  const y = isSameName ? { ...codeFact(wholeBinding.name), isEarlier: true } : codeFact(wholeBinding.name);
  const holderBirthPlace = facts.place(facts.birthStep(holder));
  return {
    variant: "view",
    severity: "note",
    cause: holderBirthPlace,
    chain: [
      [facts.birthStep(storageUid), "made", [storageUid], { x: y }],
      [holderBirthPlace, "shares", [holder, storageUid], { y: x, x: y }],
      [nameEndStep, "kept", [holder, storageUid]],
    ],
    facts: { x, y, bytes: nbytes, read: bytesRead, freed: facts.steps[nameEndStep].line },
    fixes: [["clone_shared"]],
  };
}

/** Whether a view's memory is another tensor's: its base, or what it was computed from that came with the memory. */
function isMadeFrom(facts: RunFacts, view: string, uid: string, storageUid: string, step: number) {
  if (facts.tensor(view, step)?.base === uid) return true;
  const isFirst = facts.birthStep(uid) === facts.birthStep(storageUid);
  return isFirst && facts.dataflow.ancestors([view]).has(uid);
}

/** The step at which a name stopped meaning what it did. */
function stepNameStopsMeaning(facts: RunFacts, { name, frame, step }: NameBinding) {
  const nextMeaning = facts.meaningsOf(frame, name).find((meaning) => meaning.step > step);
  const unsetStep = facts.steps.findIndex(({ set }, i) => i > step && set[frame]?.unset?.includes(name));
  const endSteps = [nextMeaning?.step ?? Infinity, unsetStep < 0 ? Infinity : unsetStep, facts.deathStep(frame) + 1];
  return Math.min(...endSteps);
}
