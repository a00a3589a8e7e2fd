/** Memory that lives longer than it has to: a large storage under a small view; cycles are in `memory_cycles.js`. */

import { code, fix, link, namesOf } from "./finding.js";
import { bytesOf, unnamedMemory } from "./memory_cycles.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** A storage counts from so many bytes on, and a view that reads no more than one of so many of them. */
const MIN_BYTES = 2048;
const MIN_RATIO = 8;
const MAX_FINDINGS = 3;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function memoryHeld(facts) {
  const last = facts.steps.length - 1;
  const end = facts.steps[last]?.kind === "end" ? last - 1 : last;
  /** @type {Map<string, Diagnosis>} by line */
  const out = new Map();
  for (const { storage, nbytes } of largeStorages(facts, end)) {
    const handles = facts.index.handlesOf(storage, end);
    if (!handles.some((uid) => bytesOf(facts, uid, end) * MIN_RATIO <= nbytes)) continue;
    const { tags } = facts.names(end);
    const named = handles.filter((uid) => tags.has(uid));
    const bytesRead = Math.max(0, ...named.map((uid) => bytesOf(facts, uid, end)));
    if (!named.length || bytesRead * MIN_RATIO > nbytes || facts.index.slotsOf(storage, end).length) continue;
    const diagnosis = diagnosisOf(facts, storage, named, nbytes, bytesRead, end);
    const earlier = diagnosis ? out.get(`${diagnosis.cause.line}`) : undefined;
    if (earlier) earlier.facts.count = Number(earlier.facts.count) + 1;
    else if (diagnosis) out.set(`${diagnosis.cause.line}`, diagnosis);
  }
  return [...[...out.values()].slice(0, MAX_FINDINGS), ...unnamedMemory(facts, end)];
}

/** The storages of some size that are there after a step, in the order in which they came. @param {RunFacts} facts
 * @param {number} step */
function largeStorages(facts, step) {
  const history = tensorHistory(facts);
  /** @type {{storage: string, nbytes: number}[]} */
  const out = [];
  for (const { uid, kind, birth, death } of facts.index.lives.values()) {
    if (kind !== "storage" || birth > step || step > death) continue;
    const nbytes = Number(history.valueAt(uid, "nbytes", step));
    if (nbytes >= MIN_BYTES && !history.valueAt(uid, "within", step)) out.push({ storage: uid, nbytes });
  }
  return out;
}

/** @param {RunFacts} facts @param {string} storageUid @param {string[]} handles @param {number} nbytes @param {number} bytesRead in bytes
 * @param {number} end the last step @returns {Diagnosis | null} null where no name leads to it */
function diagnosisOf(facts, storageUid, handles, nbytes, bytesRead, end) {
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

/** The step at which a name stopped meaning what it did. @param {RunFacts} facts @param {import("./scan.js").Binding} binding */
function endOfName(facts, { name, frame, step }) {
  const nextMeaning = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).find((meaning) => meaning.step > step);
  const unsetStep = facts.steps.findIndex(({ set }, i) => i > step && set[frame]?.unset?.includes(name));
  const endSteps = [
    nextMeaning?.step ?? Infinity,
    unsetStep < 0 ? Infinity : unsetStep,
    (facts.index.lives.get(frame)?.death ?? Infinity) + 1,
  ];
  return Math.min(...endSteps);
}
