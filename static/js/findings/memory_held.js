/** Memory that lives longer than it has to: a large storage under a small view; cycles are in `memory_cycles.js`. */

import { code, fix, link, namesOf } from "./finding.js";
import { bytesOf, memoryCycles } from "./memory_cycles.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** A storage counts from so many bytes on, and a view that reads no more than one of so many of them. */
const FEWEST_BYTES = 2048;
const SMALL_PART = 8;
const MAX_FINDINGS = 3;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function memoryHeld(facts) {
  const last = facts.steps.length - 1;
  const end = facts.steps[last]?.kind === "end" ? last - 1 : last;
  /** @type {Map<string, Diagnosis>} by line */
  const out = new Map();
  for (const { storage, nbytes } of largeStorages(facts, end)) {
    const handles = facts.index.handlesOf(storage, end);
    if (!handles.some((uid) => bytesOf(facts, uid, end) * SMALL_PART <= nbytes)) continue;
    const { tags } = facts.names(end);
    const named = handles.filter((uid) => tags.has(uid));
    const read = Math.max(0, ...named.map((uid) => bytesOf(facts, uid, end)));
    if (!named.length || read * SMALL_PART > nbytes || facts.index.slotsOf(storage, end).length) continue;
    const diagnosis = diagnosisOf(facts, storage, named, nbytes, read, end);
    const known = diagnosis ? out.get(`${diagnosis.cause.line}`) : undefined;
    if (known) known.facts.count = Number(known.facts.count) + 1;
    else if (diagnosis) out.set(`${diagnosis.cause.line}`, diagnosis);
  }
  return [...[...out.values()].slice(0, MAX_FINDINGS), ...memoryCycles(facts, end)];
}

/** The storages of some size that are there after a step, in the order in which they came. @param {RunFacts} facts
 * @param {number} step */
function largeStorages(facts, step) {
  const history = tensorHistory(facts);
  /** @type {{storage: string, nbytes: number}[]} */
  const out = [];
  for (const { uid, kind, birth, death } of facts.index.lives.values()) {
    if (kind !== "storage" || birth > step || step > death) continue;
    const nbytes = Number(history.value(uid, "nbytes", step));
    if (nbytes >= FEWEST_BYTES && !history.value(uid, "within", step)) out.push({ storage: uid, nbytes });
  }
  return out;
}

/** @param {RunFacts} facts @param {string} storageUid @param {string[]} handles @param {number} nbytes @param {number} read in bytes
 * @param {number} end the last step @returns {Diagnosis | null} null where no name leads to it */
function diagnosisOf(facts, storageUid, handles, nbytes, read, end) {
  const [holder] = handles;
  const bound = [...facts.index.placements.values()].flatMap(({ uid, storage: of }) =>
    of === storageUid && !handles.includes(uid) ? (facts.scan.bindings.get(uid) ?? []) : [],
  );
  const whole = bound.sort((a, b) => b.step - a.step)[0];
  if (!whole) return null;
  const freed = endOfName(facts, whole);
  if (freed > end) return null;
  const x = facts.nameFact(holder, end);
  const y = code(whole.name);
  const holderBirthPlace = facts.place(facts.birth(holder));
  return {
    variant: "view",
    severity: "note",
    cause: holderBirthPlace,
    chain: [
      link(facts.place(facts.birth(storageUid)), "made", { x: y }, [storageUid]),
      link(holderBirthPlace, "shares", { y: x, x: y }, [holder, storageUid]),
      link(facts.place(freed), "kept", { x, code: facts.codeFact(freed) }, [holder, storageUid]),
    ],
    names: namesOf(x, y),
    facts: { x, y, bytes: nbytes, read, count: 1, freed: facts.steps[freed].line },
    fixes: [fix("clone_shared", holderBirthPlace)],
  };
}

/** The step at which a name stopped meaning what it did. @param {RunFacts} facts @param {import("./scan.js").Binding} binding */
function endOfName(facts, { name, frame, step }) {
  const next = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).find((meaning) => meaning.step > step);
  const unset = facts.steps.findIndex(({ set }, i) => i > step && set[frame]?.unset?.includes(name));
  const ends = [
    next?.step ?? Infinity,
    unset < 0 ? Infinity : unset,
    (facts.index.lives.get(frame)?.death ?? Infinity) + 1,
  ];
  return Math.min(...ends);
}
