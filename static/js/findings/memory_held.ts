/** Memory that lives longer than it has to: a large storage under a small view; cycles are in `memory_cycles.ts`. */

import { code, fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { bytesOf, unnamedMemory } from "./memory_cycles.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Binding } from "./scan.ts";

/** A storage counts from so many bytes on, and a view that reads no more than one of so many of them. */
const MIN_BYTES = 2048;
const MIN_RATIO = 8;
const MAX_FINDINGS = 3;

export function memoryHeld(facts: RunFacts): Diagnosis[] {
  const last = facts.steps.length - 1;
  const end = facts.steps[last]?.kind === "end" ? last - 1 : last;
  /** by line */
  const out = new Map<string, Diagnosis>();
  for (const { storage, nbytes } of largeStorages(facts, end)) {
    const handles = facts.index.handlesOfStorage(storage, end);
    if (!handles.some((uid) => bytesOf(facts, uid, end) * MIN_RATIO <= nbytes)) continue;
    const { tags } = facts.names(end);
    const named = handles.filter((uid) => tags.has(uid));
    const bytesRead = Math.max(0, ...named.map((uid) => bytesOf(facts, uid, end)));
    if (!named.length || bytesRead * MIN_RATIO > nbytes || facts.index.slotsKeepingStorage(storage, end).length)
      continue;
    const diagnosis = diagnosisOf(facts, storage, named, nbytes, bytesRead, end);
    const earlier = diagnosis ? out.get(`${diagnosis.cause.line}`) : undefined;
    if (earlier) earlier.facts.count = Number(earlier.facts.count) + 1;
    else if (diagnosis) out.set(`${diagnosis.cause.line}`, diagnosis);
  }
  return [...[...out.values()].slice(0, MAX_FINDINGS), ...unnamedMemory(facts, end)];
}

/** The storages of some size that are there after a step, in the order in which they came. */
function largeStorages(facts: RunFacts, step: number) {
  const history = tensorHistory(facts);
  const out: { storage: string; nbytes: number }[] = [];
  for (const { uid, kind, birth, death } of facts.index.lifetimes.values()) {
    if (kind !== "storage" || birth > step || step > death) continue;
    const nbytes = Number(history.valueAt(uid, "nbytes", step));
    if (nbytes >= MIN_BYTES && !history.valueAt(uid, "within", step)) out.push({ storage: uid, nbytes });
  }
  return out;
}

/** @param bytesRead in bytes @param end the last step @returns null where no name leads to it */
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
    otherStorage === storageUid && !handles.includes(uid) ? (facts.scan.bindings.get(uid) ?? []) : [],
  );
  const wholeBinding = otherBindings.sort((a, b) => b.step - a.step)[0];
  if (!wholeBinding) return null;
  const nameEndStep = endOfName(facts, wholeBinding);
  if (nameEndStep > end) return null;
  const x = facts.nameFact(holder, end);
  const y = code(wholeBinding.name);
  const holderBirthPlace = facts.place(facts.birth(holder));
  return {
    variant: "view",
    severity: "note",
    cause: holderBirthPlace,
    chain: [
      link(facts.place(facts.birth(storageUid)), "made", { x: y }, [storageUid]),
      link(holderBirthPlace, "shares", { y: x, x: y }, [holder, storageUid]),
      link(facts.place(nameEndStep), "kept", { x, code: facts.codeFact(nameEndStep) }, [holder, storageUid]),
    ],
    names: namesOf(x, y),
    facts: { x, y, bytes: nbytes, read: bytesRead, count: 1, freed: facts.steps[nameEndStep].line },
    fixes: [fix("clone_shared", holderBirthPlace)],
  };
}

/** The step at which a name stopped meaning what it did. */
function endOfName(facts: RunFacts, { name, frame, step }: Binding) {
  const nextMeaning = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).find((meaning) => meaning.step > step);
  const unsetStep = facts.steps.findIndex(({ set }, i) => i > step && set[frame]?.unset?.includes(name));
  const endSteps = [
    nextMeaning?.step ?? Infinity,
    unsetStep < 0 ? Infinity : unsetStep,
    (facts.index.lifetimes.get(frame)?.death ?? Infinity) + 1,
  ];
  return Math.min(...endSteps);
}
